package main

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"brine/cmd/fleet"
	"brine/cmd/optparse"
	"brine/wire/crypt"
)

// ownParser begins the command line of a tool that Salt does not have: --version is the tool's to give a meaning.
func (c *call) ownParser(description string) *optparse.Parser {
	p := &optparse.Parser{Prog: "brine " + c.prog, Description: description}
	p.Add(optparse.Option{Flags: []string{"-h", "--help"}, Kind: optparse.Help, Help: "Print this help and end."})
	return p
}

// emulate runs a fleet of emulated minions against a master until a signal ends it.
func emulate(c *call) error {
	p := c.ownParser("A fleet of emulated minions in one process, to put load on a master.")
	p.Add(
		optparse.Option{Flags: []string{"--minions"}, Kind: optparse.Int, Default: 100, Help: "How many. Default: %default."},
		optparse.Option{Flags: []string{"--prefix"}, Default: "emu", Help: "What their ids begin with. Default: %default."},
		optparse.Option{Flags: []string{"--master"}, Default: "127.0.0.1", Help: "Address of the master. Default: %default."},
		optparse.Option{Flags: []string{"--ret-port"}, Dest: "ret_port", Kind: optparse.Int, Default: 4506, Help: "Its request port. Default: %default."},
		optparse.Option{Flags: []string{"--publish-port"}, Dest: "publish_port", Kind: optparse.Int, Default: 0,
			Help: "Its publish port. Default: what it says."},
		optparse.Option{Flags: []string{"--version"}, Kind: optparse.Int, Default: 0,
			Help: "Protocol version they speak: 2, or 3. Default: the newest."},
		optparse.Option{Flags: []string{"--key-dir"}, Dest: "key_dir", Default: ".", Help: "Directory of the key that all of them use, emulate.pem; made when it is missing."},
	)
	v, err := p.Parse(c.args)
	if err != nil {
		return err
	}
	key, err := crypt.LoadOrGenerate(v.Str("key_dir"), "emulate", 2048, "")
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	f, err := fleet.Start(ctx, fleet.Options{Minions: v.Int("minions"), Prefix: v.Str("prefix"), Host: v.Str("master"),
		RetPort: v.Int("ret_port"), PublishPort: v.Int("publish_port"), Version: v.Int("version"), Key: key})
	if err != nil {
		return err
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for last := (fleet.Counts{}); ; {
		select {
		case <-tick.C:
			if now := f.Counts(); now != last {
				last = now
				fmt.Fprintf(c.stdout, "signed in %d, connected %d, jobs %d, returns %d, failures %d\n", now.SignedIn, now.Up, now.Jobs, now.Returns, now.Failures)
			}
		case <-ctx.Done():
			return f.Wait()
		}
	}
}
