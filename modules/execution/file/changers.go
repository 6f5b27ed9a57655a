package file

import (
	"errors"
	"math"
	"os"
	"strconv"
	"syscall"
	"time"

	"brine/modules/host/safefile"
	"brine/modules/loader"
)

// remove removes an empty directory, if it is old enough.
func (p *Pruning) remove(dir string) (tried, removed bool) {
	const day = 24 * time.Hour
	if p.Days > 0 {
		info, err := os.Stat(dir)
		if err != nil || time.Since(info.ModTime()) <= time.Duration(p.Days)*day {
			return false, false
		}
	}
	if err := safefile.RemoveDir(dir); err != nil {
		p.Errors = append(p.Errors, []any{dir, loader.Message(err)})
		return true, false
	}
	p.Deleted = append(p.Deleted, dir)
	return true, true
}

// changers are the functions that change what is in one file, without reading it.
func changers() []loader.Func {
	return []loader.Func{
		loader.Fn("touch", runTouch, "Make an empty file, or set the times of one.", "file.touch /var/log/emptyfile"),
	}
}

type touched struct {
	Name  any `arg:"name"`
	ATime any `arg:"atime=None"`
	MTime any `arg:"mtime=None"`
}

func runTouch(c *loader.Call, a touched) (any, error) {
	name, err := path(c, a.Name)
	if err != nil {
		return nil, err
	}
	return Touch(name, a.ATime, a.MTime)
}

// Touch makes an empty file, or sets the times of what is there; nil is now.
func Touch(name string, access, change any) (bool, error) {
	now := time.Now().UnixNano()
	a, err1 := nanoseconds(access, now)
	m, err2 := nanoseconds(change, now)
	if err := errors.Join(err1, err2); err != nil {
		return false, loader.InvocErr("atime and mtime must be integers")
	}
	if !exists(name) {
		if err := safefile.Write(name, nil, safefile.Attrs{}, true); err != nil {
			return false, noMore(err)
		}
	}
	if err := safefile.SetTimes(name, a, m); err != nil {
		return false, noMore(err)
	}
	return exists(name), nil
}

// noMore is an error of the system in its bare words, as Salt tells it.
func noMore(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return loader.ExecErr("%s", loader.Strerror(number))
	}
	return loader.ExecErr("%s", loader.Message(err))
}

// nanoseconds reads a time in seconds: a number, or digits.
func nanoseconds(v any, now int64) (int64, error) {
	switch x := v.(type) {
	case nil:
		return now, nil
	case int64:
		return x * int64(time.Second), nil
	case float64:
		return int64(math.Round(x * float64(time.Second))), nil
	case string:
		n, err := strconv.ParseInt(x, 10, 64)
		return n * int64(time.Second), err
	}
	return 0, errors.New("no time")
}
