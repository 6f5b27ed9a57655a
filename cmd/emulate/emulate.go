// Package emulate is the tool brine emulate. It uses the fleet in cmd/fleet.
package emulate

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"brine/cmd/fleet"
	"brine/cmd/options"
	"brine/cmd/optparse"
	"brine/cmd/tool"
	"brine/wire/crypt"
	"brine/wire/payload"
)

// emulateParser declares the options of emulate.
func emulateParser(c *tool.Call) *optparse.Parser {
	p := options.NewOwnParser(c, "A fleet of emulated minions in one process, to put load on a master. Each has an "+
		"id and a session of its own and "+
		"signs and seals what it returns; the connections are shared: to the master they are not as many clients as "+
		"there are minions.")
	number := func(flag, dest string, def int, help string) optparse.Option {
		return optparse.Option{Flags: []string{flag}, Dest: dest, Kind: optparse.Int, Default: def, Help: help}
	}
	p.Add(
		number("--minions", "minions", 100, "Number of minions. Default: %default."),
		optparse.Option{Flags: []string{"--prefix"}, Default: "emu", Help: "Beginning of their ids. Default: " +
			"%default."},
		optparse.Option{Flags: []string{"--master"}, Default: "127.0.0.1",
			Help: "Address of the master. Default: %default."},
		number("--ret-port", "ret_port", 4506, "Its request port. Default: %default."),
		number("--publish-port", "publish_port", 0, "Its publish port. Default: the master's answer."),
		number("--version", "version", 0, "Their protocol version: 2 or 3. Default: the newest."),
		number("--per-subscription", "per_sub", 50, "Minions that share one connection to the publish port. "+
			"Default: %default."),
		number("--requests", "requests", 64,
			"Connections to the request port that all minions share: the most concurrent requests. "+
				"Default: %default."),
		optparse.Option{Flags: []string{"--key-dir"}, Dest: "key_dir", Default: ".",
			Help: "Directory of the key that all of them use, emulate.pem; made when it is missing."},
	)
	return p
}

// Run runs a fleet of emulated minions against a master until a signal stops it, or until it cannot go on.
func Run(c *tool.Call) error {
	v, err := emulateParser(c).Parse(c.Args)
	if err != nil {
		return err
	}
	opt := fleet.Options{Minions: v.Int("minions"), Prefix: v.Str("prefix"), Host: v.Str("master"),
		RetPort: v.Int("ret_port"), PublishPort: v.Int("publish_port"), Version: v.Int("version"),
		PerSub: v.Int("per_sub"), Requests: v.Int("requests")}
	if opt.Minions < 1 || opt.PerSub < 1 || opt.Requests < 1 {
		return tool.Exit(tool.ExitUsage, "brine emulate: --minions, --per-subscription and --requests are 1 at least")
	}
	if !payload.ValidID(opt.Prefix + "0") {
		return tool.Exit(tool.ExitUsage, "brine emulate: no minion may be called %s", payload.Show(opt.Prefix+"0000"))
	}
	if opt.Key, err = keyIn(v.Str("key_dir")); err != nil {
		return tool.Exit(tool.ExitGeneric, "brine emulate: %v", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	f, err := fleet.Start(ctx, opt)
	if err != nil {
		return tool.Exit(tool.ExitGeneric, "brine emulate: %v", err)
	}
	report(c.Stdout, c.Stderr, f, fmt.Sprintf("%s:%d", opt.Host, opt.RetPort))
	if err := f.Wait(); err != nil {
		return tool.Exit(tool.ExitGeneric, "brine emulate: %v", err)
	}
	return nil
}

// keyIn reads the key of the fleet in a directory. If there is none, it makes the key and the directory.
func keyIn(dir string) (*crypt.PrivateKey, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make directory of the key: %w", err)
	}
	return crypt.LoadOrGenerate(dir, "emulate", 2048, "")
}

// The tool shows only the first few problems, when they change, and not more often than troubleEvery.
const (
	troubleLines = 5
	troubleEvery = 5 // seconds
)

// report prints the state of a fleet each second, and its problems, until it ends.
func report(out, errs io.Writer, f *fleet.Fleet, master string) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var last fleet.Counts
	var said []fleet.Trouble
	for second := 1; ; second++ {
		select {
		case <-tick.C:
		case <-f.Done():
			return
		}
		now := f.Counts()
		if now != last {
			fmt.Fprintf(out, "signed in %d, connected %d, jobs %d, returns %d, failures %d\n", now.SignedIn, now.Up,
				now.Jobs, now.Returns, now.Failures)
		}
		last = now
		if second%troubleEvery != 0 {
			continue
		}
		wrong := f.Troubles()
		switch {
		case len(wrong) == 0 && now.SignedIn == 0:
			fmt.Fprintf(errs, "nobody has signed in: %s does not answer\n", master)
		case !slices.Equal(wrong, said):
			sayTroubles(errs, wrong)
		}
		said = wrong
	}
}

func sayTroubles(w io.Writer, wrong []fleet.Trouble) {
	for _, t := range wrong[:min(len(wrong), troubleLines)] {
		if t.Minions > 0 {
			fmt.Fprintf(w, "%d minions are not signed in: %s\n", t.Minions, t.What)
		}
		if t.Jobs > 0 {
			fmt.Fprintf(w, "%d jobs were not answered: %s\n", t.Jobs, t.What)
		}
	}
	if more := len(wrong) - troubleLines; more > 0 {
		fmt.Fprintf(w, "%d more kinds of trouble\n", more)
	}
}
