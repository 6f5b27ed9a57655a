// Package bench measures brine and, on the same machine and in one run, real Salt: command lines, jobs,
// sign-ins, returns, starts, stops and memory. It starts real processes in a separate directory, talks to them
// over loopback, and removes all traces. cmd/fleet provides the load of many minions.
//
// It only compares numbers with the targets in rows.go. Tests check whether answers are correct.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Options tells what to measure.
type Options struct {
	Self     string    // the brine binary
	Cache    string    // directory of the Salt releases, see .ci/salt-peers
	NoSalt   bool      // measure brine alone
	Rows     []string  // keys of rows; none: all
	Rounds   int       // number of turns of each contender; 0: 3, or 1 if Quick
	Quick    bool      // fewer repetitions
	Dir      string    // parent of the scratch directory, a short path; "": /tmp
	Minions  int       // size of the emulated fleet, 0: 1000
	Version  int       // protocol version of the emulated fleet, 0: the newest
	Profile  string    // directory for CPU profiles of brine's daemons under load; "": none
	Progress io.Writer // receives a line for each step; nil: no output
}

// bench is a run in progress.
type bench struct {
	opt  Options
	root string // scratch directory, short because paths of Unix sockets are limited
	rec  *recorder

	before []int // existing processes below this one
}

// Run measures and returns the report. If the run was cut short, it returns the report so far with the error.
func Run(ctx context.Context, opt Options) (report *Report, err error) {
	fillDefaults(&opt)
	if err := checkRows(opt.Rows); err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp(opt.Dir, "bb")
	if err != nil {
		return nil, fmt.Errorf("make scratch directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	if err := adopt(); err != nil {
		return nil, err
	}
	b := &bench{opt: opt, root: root, rec: newRecorder(opt.Rows), before: children()}
	contenders, absent, err := b.contenders()
	if err != nil {
		return nil, err
	}
	raiseOpenFiles()
	err = b.rounds(ctx, contenders)
	return b.rec.report(contenders, absent), err
}

func fillDefaults(opt *Options) {
	if opt.Rounds == 0 {
		opt.Rounds = 3
		if opt.Quick {
			opt.Rounds = 1
		}
	}
	if opt.Dir == "" {
		opt.Dir = "/tmp"
	}
	if opt.Minions == 0 {
		opt.Minions = 1000
	}
	if opt.Progress == nil {
		opt.Progress = io.Discard
	}
}

// rounds lets the contenders take turns in each group, so that a change of the machine's speed affects them
// all.
func (b *bench) rounds(ctx context.Context, contenders []contender) error {
	for round := range b.opt.Rounds {
		for _, g := range groups() {
			if !b.rec.wantsAny(g.rows) {
				continue
			}
			for _, c := range contenders {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				b.turn(ctx, round, g, c)
			}
		}
	}
	return nil
}

// turn runs one group for one contender. An error is noted in the rows without a sample.
func (b *bench) turn(ctx context.Context, round int, g group, c contender) {
	start := time.Now()
	b.say("round %d of %d: %s, %s", round+1, b.opt.Rounds, g.name, c.name)
	t := &turn{bench: b, c: c, dir: filepath.Join(b.root, fmt.Sprintf("%d%s%s", round, g.name[:1], c.short))}
	err := errors.Join(g.run(t, ctx), t.close())
	if err != nil {
		b.say("  %v", err)
		b.rec.fail(g.rows, c.name, err)
	}
	b.say("  took %v", time.Since(start).Round(100*time.Millisecond))
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.opt.Progress, format+"\n", args...) }

// contender is one implementation.
type contender struct {
	name  string // name in the table
	short string // part of a path
	bin   string // directory of its tools
	ours  bool
}

func (c contender) tool(name string) string { return filepath.Join(c.bin, name) }

// contenders finds the implementations to measure. absent names the others, with the reason.
func (b *bench) contenders() (list []contender, absent []string, err error) {
	for _, release := range []string{"3008", "3006"} {
		dir := filepath.Join(b.opt.Cache, release)
		if b.opt.NoSalt {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, ".complete")); err != nil {
			absent = append(absent, fmt.Sprintf("Salt %s is not installed in %s (.ci/salt-peers %s)", release, dir,
				release))
			continue
		}
		list = append(list, contender{name: "Salt " + release, short: release[3:], bin: filepath.Join(dir, "bin")})
	}
	links, err := b.ownTools()
	if err != nil {
		return nil, nil, err
	}
	return append(list, contender{name: "brine", short: "b", bin: links, ours: true}), absent, nil
}

// ownTools makes a directory with a copy of the brine binary and the names of its tools. It copies the binary
// because a build may replace it meanwhile.
func (b *bench) ownTools() (dir string, err error) {
	dir = filepath.Join(b.root, "bin")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", fmt.Errorf("make tools: %w", err)
	}
	if err := copyProgram(filepath.Join(dir, "brine"), b.opt.Self); err != nil {
		return "", fmt.Errorf("make tools: %w", err)
	}
	for _, tool := range []string{"salt", "salt-call", "salt-key", "salt-master", "salt-minion", "salt-api"} {
		if err := os.Symlink("brine", filepath.Join(dir, tool)); err != nil {
			return "", fmt.Errorf("make tools: %w", err)
		}
	}
	return dir, nil
}

// copyProgram copies a file in small pieces, as a package manager does. If a file is written at once, the page
// cache may hold it in pieces of megabytes. Each piece then counts as resident if one of its bytes is needed.
func copyProgram(to, from string) error {
	src, err := os.Open(from)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, make([]byte, 64<<10))
	return errors.Join(err, dst.Close())
}

// group is a set of rows that share a running site.
type group struct {
	name string
	rows []string
	run  func(*turn, context.Context) error
}

func checkRows(keys []string) error {
	var known []string
	for _, r := range rows() {
		known = append(known, r.Key)
	}
	for _, k := range keys {
		if !slices.Contains(known, k) {
			return fmt.Errorf("no row %q; there are %s", k, strings.Join(known, ", "))
		}
	}
	return nil
}
