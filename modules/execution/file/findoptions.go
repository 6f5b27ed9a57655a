package file

import (
	"os/user"
	"strconv"
	"strings"
	"time"

	"brine/modules/host/plainfile"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/python"
	"brine/wire/python/re"

	"golang.org/x/sys/unix"
)

// What a criterion needs, from cheap to dear.
const (
	ofName = iota
	ofSystem
	ofContent
)

// findOptions are the options of file.find but for depths, each with what reads it.
func findOptions() map[string]func(*finder, any) error {
	return map[string]func(*finder, any) error{
		"name": nameOption(false), "iname": nameOption(true), "regex": regexOption(false), "iregex": regexOption(true),
		"type": typeOption, "owner": ownerOption, "group": groupOption, "size": sizeOption, "mtime": mtimeOption,
		"grep":  grepOption,
		"print": printOption, "delete": deleteOption, "exec": execOption,
	}
}

// textFor is a value that Python uses as a text by one of its methods.
func textFor(v any, method string) (string, error) {
	text, ok := v.(string)
	if !ok {
		return "", loader.Raise("AttributeError", "'%s' object has no attribute '%s'", python.Type(v), method)
	}
	return text, nil
}

func (f *finder) want(cost int, c criterion) { f.criteria[cost] = append(f.criteria[cost], c) }

// atStart is re.match with the name of a path.
func atStart(re *re.Groups) criterion {
	return func(p *found) (bool, error) {
		spans, err := re.Find([]rune(p.name), 0)
		return len(spans) > 0 && spans[0].Start == 0, err
	}
}

// nameOption reads a glob the way the reference does, which is not quite a glob.
func nameOption(fold bool) func(*finder, any) error {
	return func(f *finder, v any) error {
		glob, err := textFor(v, "replace")
		if err != nil {
			return err
		}
		re, err := re.CompileGroups(strings.NewReplacer(".", `\.`, "?", ".?", "*", ".*").Replace(glob)+"$",
			fold, false)
		if err != nil {
			return badPattern(err)
		}
		f.want(ofName, atStart(re))
		return nil
	}
}

func regexOption(fold bool) func(*finder, any) error {
	return func(f *finder, v any) error {
		text, ok := v.(string)
		if !ok {
			return &loader.ArgumentError{Message: "first argument must be string or compiled pattern"}
		}
		re, err := re.CompileGroups(text, fold, false)
		if err != nil {
			return loader.Raise("ValueError", `invalid regular expression: "%s"`, text)
		}
		f.want(ofName, atStart(re))
		return nil
	}
}

// kindLetters are the kinds of files by their letters.
const kindLetters = "bcdflps"

func kindOf(letter byte) uint32 {
	return [...]uint32{unix.S_IFBLK, unix.S_IFCHR, unix.S_IFDIR, unix.S_IFREG, unix.S_IFLNK, unix.S_IFIFO,
		unix.S_IFSOCK}[strings.IndexByte(kindLetters, letter)]
}

func typeOption(f *finder, v any) error {
	text, err := textFor(v, "strip")
	if err != nil {
		return err
	}
	var kinds []uint32
	for _, c := range strings.Join(strings.Fields(strings.ReplaceAll(text, ",", "")), "") {
		if !strings.ContainsRune(kindLetters, c) {
			return loader.Raise("ValueError", `invalid file type "%c"`, c)
		}
		kinds = append(kinds, kindOf(byte(c)))
	}
	f.want(ofSystem, func(p *found) (bool, error) {
		st, err := p.stat()
		for _, k := range kinds {
			if err == nil && st.Mode&unix.S_IFMT == k {
				return true, nil
			}
		}
		return false, err
	})
	return nil
}

func ownerOption(f *finder, v any) error {
	return f.idOption(v, "user", func(st *unix.Stat_t) uint32 { return st.Uid }, func(name string) (string, bool) {
		u, err := user.Lookup(name)
		if err != nil {
			return "", false
		}
		return u.Uid, true
	})
}

func groupOption(f *finder, v any) error {
	return f.idOption(v, "group", func(st *unix.Stat_t) uint32 { return st.Gid }, func(name string) (string, bool) {
		g, err := user.LookupGroup(name)
		if err != nil {
			return "", false
		}
		return g.Gid, true
	})
}

// idOption reads names and numbers of users or groups.
func (f *finder) idOption(v any, what string, of func(*unix.Stat_t) uint32, lookup func(string) (string, bool)) error {
	text, err := textFor(v, "replace")
	if err != nil {
		return err
	}
	ids := map[uint32]bool{}
	for _, word := range strings.Fields(strings.ReplaceAll(text, ",", " ")) {
		id, known := word, true
		if strings.Trim(word, "0123456789") != "" {
			id, known = lookup(word)
		}
		n, err := strconv.ParseUint(id, 10, 32)
		if !known || err != nil && id != word {
			return loader.Raise("ValueError", `no such %s "%s"`, what, word)
		}
		if err == nil {
			ids[uint32(n)] = true
		}
	}
	f.want(ofSystem, func(p *found) (bool, error) {
		st, err := p.stat()
		return err == nil && ids[of(st)], err
	})
	return nil
}

func sizeOption(f *finder, v any) error {
	text, err := textFor(v, "strip")
	if err != nil {
		return err
	}
	least, most, ok := sizes(text)
	if !ok {
		return loader.Raise("ValueError", `invalid size: "%s"`, text)
	}
	f.want(ofSystem, func(p *found) (bool, error) {
		st, err := p.stat()
		return err == nil && float64(st.Size) >= least && float64(st.Size) <= most, err
	})
	return nil
}

// sizes are the least and the most bytes that a text stands for: +10m, -1k, 5.
func sizes(text string) (least, most float64, ok bool) {
	scalar, style := strings.TrimSpace(text), byte('=')
	if scalar != "" && (scalar[0] == '-' || scalar[0] == '+') {
		style, scalar = scalar[0], scalar[1:]
	}
	unit := 1.0
	if scalar != "" {
		if i := strings.IndexByte("bkmgt", scalar[len(scalar)-1]|0x20); i >= 0 {
			unit = float64(int64(1) << (10 * i))
			scalar = strings.TrimSpace(scalar[:len(scalar)-1])
		}
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(scalar), "_", ""), 64)
	if err != nil {
		return 0, 0, false
	}
	n = float64(int64(n * unit))
	switch style {
	case '-':
		return 0, n, true
	case '+':
		return n, float64(1 << 62), true
	}
	return n, n + unit - 1, true
}

// interval is a time such as +1w2d or 3h; its parts stand in this order.
var interval = pattern.New(`^\s*([+-]?)(?:(\d+(?:\.\d*)?)\s*[wW])?\s*(?:(\d+(?:\.\d*)?)\s*[dD])?\s*` +
	`(?:(\d+(?:\.\d*)?)\s*[hH])?\s*` +
	`(?:(\d+(?:\.\d*)?)\s*[mM])?\s*(?:(\d+(?:\.\d*)?)\s*[sS])?\s*$`)

// mtimeOption counts in whole steps of the smallest unit that is told.
func mtimeOption(f *finder, v any) error {
	text := python.Str(v)
	m := interval.FindStringSubmatch(text)
	if m == nil {
		return loader.Raise("ValueError", "invalid time interval: '%s'", text)
	}
	total, unit := 0.0, 0.0
	for i, size := range [...]float64{1, 60, 3600, 86400, 604800} {
		if n, err := strconv.ParseFloat(m[6-i], 64); err == nil {
			total += n * size
			if unit == 0 {
				unit = size
			}
		}
	}
	if unit == 0 {
		return &loader.ArgumentError{Message: "unsupported operand type(s) for /: 'int' and 'NoneType'"}
	}
	border := float64(time.Now().UnixNano())/1e9 - float64(int64(total/unit))*unit
	f.want(ofSystem, func(p *found) (bool, error) {
		st, err := p.stat()
		if err != nil {
			return false, err
		}
		if m[1] == "-" {
			return float64(st.Mtim.Sec) >= border, nil
		}
		return float64(st.Mtim.Sec) <= border, nil
	})
	return nil
}

// grepOption looks into plain files. Unlike Salt: one that cannot be read, or is no UTF-8, does not end the search.
func grepOption(f *finder, v any) error {
	text, ok := v.(string)
	if !ok {
		return &loader.ArgumentError{Message: "first argument must be string or compiled pattern"}
	}
	re, err := re.CompileText(text, "")
	if err != nil {
		return loader.Raise("ValueError", `invalid regular expression: "%s"`, text)
	}
	f.want(ofContent, func(p *found) (bool, error) {
		st, err := p.stat()
		if err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			return false, err
		}
		data, err := plainfile.Read(p.path, program.MaxOutput())
		if err != nil {
			return false, nil
		}
		return re.Search(python.DecodeUTF8(data))
	})
	return nil
}
