package jobprocess

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/wire/payload"

	"go.uber.org/goleak"
)

// TestMain makes the test binary play the process of a job.
func TestMain(m *testing.M) {
	if os.Args[0] != Name {
		goleak.VerifyTestMain(m)
		return
	}
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGXCPU)
	go func() { <-over; os.Exit(ExitCPU) }()
	reg := loader.NewRegistry()
	reg.Offer(loader.Listed{choosy("here", "web1"), choosy("there", "web2"), cmdmod.Module()})
	reg.Offer(modtest.Source(functions()...))
	if err := Main(reg, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// choosy is a module that loads on the minion of one id only. Its function counts its calls in one process.
func choosy(file, id string) loader.Module {
	count := func(c *loader.Call, _ struct{}) (any, error) {
		n, _ := c.Context().Get("calls")
		calls, _ := n.(int64)
		c.Context().Put("calls", calls+1, 8)
		return payload.M("file", file, "before", calls), nil
	}
	return loader.Module{File: file, Name: "choosy", Funcs: func() []loader.Func {
		return []loader.Func{loader.Fn("count", count, "")}
	},
		Virtual: func(p loader.Place) (bool, string) {
			v, _ := p.Grain("id")
			return v == id, file + " is for " + id
		}}
}

// functions are what the jobs of these tests call.
func functions() []loader.Func {
	fun := func(name string, run func(c *loader.Call) (any, error)) loader.Func {
		return loader.Fn("w."+name, func(c *loader.Call, _ struct{}) (any, error) { return run(c) }, "")
	}
	type anything struct {
		Rest []any        `arg:"*args"`
		KW   *payload.Map `arg:"**kwargs"`
	}
	return []loader.Func{
		loader.Fn("w.echo", func(_ *loader.Call, a anything) (any, error) { return a.Rest, nil }, ""),
		fun("facts", func(c *loader.Call) (any, error) {
			return payload.M("id", c.ID, "jid", c.JID, "opts", c.Opts(), "grains", c.Grains(), "pillar", c.Pillar(),
				"pid", os.Getpid()), nil
		}),
		fun("host", useHost),
		fun("ask", func(c *loader.Call) (any, error) {
			_, err := c.Host().Master.Request(c.Ctx, payload.M("cmd", "_x"))
			return errors.Is(err, loader.ErrRequestTimeout), nil
		}),
		fun("giveup", func(c *loader.Call) (any, error) {
			ctx, stop := context.WithCancel(c.Ctx)
			go func() { // the minion has heard of it before it is given up
				for !c.Host().Events.FireLocal(ctx, "is it asked for?", nil) {
					<-time.After(time.Millisecond)
				}
				stop()
			}()
			_, ok := c.Host().Events.AwaitLocal(ctx, "slow", nil, "never")
			return ok, nil
		}),
		fun("wait", func(c *loader.Call) (any, error) {
			c.Host().Events.FireLocal(c.Ctx, "begun", payload.M("pid", os.Getpid()))
			<-c.Ctx.Done()
			return nil, context.Cause(c.Ctx)
		}),
		fun("panic", func(*loader.Call) (any, error) { panic("boom") }),
		fun("crash", func(*loader.Call) (any, error) { go panic("boom far away"); select {} }),
		fun("exit", func(*loader.Call) (any, error) { os.Exit(7); return nil, nil }),
		fun("odd", func(*loader.Call) (any, error) { return make(chan int), nil }),
		fun("grow", func(*loader.Call) (any, error) {
			var held [][]byte
			for range 4096 {
				b := make([]byte, 1<<20)
				for i := 0; i < len(b); i += 4096 {
					b[i] = 1
				}
				held = append(held, b)
			}
			return len(held), nil
		}),
		fun("burn", func(*loader.Call) (any, error) {
			for n := 0; ; n++ {
				if n < 0 {
					return n, nil
				}
			}
		}),
		fun("daemon", func(*loader.Call) (any, error) { // a command that forks twice and leaves the session
			out, err := exec.Command("sh", "-c", "setsid sh -c 'sleep 600 >/dev/null 2>&1 & echo $!'").Output()
			return string(out), err
		}),
	}
}

// useHost asks everything that a minion offers.
func useHost(c *loader.Call) (any, error) {
	h := c.Host()
	v, err := h.Master.Request(c.Ctx, payload.M("cmd", "_x", "raw", []byte{0xff}))
	if err != nil {
		return nil, err
	}
	named, ok := h.Master.(loader.MasterByHost).MasterByHost("other")
	if !ok {
		return nil, errors.New("no other master")
	}
	other, err := named.Request(c.Ctx, payload.M("cmd", "_y"))
	if err != nil {
		return nil, err
	}
	_, none := h.Master.(loader.MasterByHost).MasterByHost("nobody")
	event, got := h.Events.AwaitLocal(c.Ctx, "ask", payload.M("a", 1), "answer")
	text, ok := h.Jobs.Signal("20260102030405000001", 15)
	_, ghost := h.Jobs.Signal("nosuch", 15)
	pillar, err := h.Secrets.Compile(c.Ctx, loader.PillarQuery{Saltenv: "base", Override: payload.M("o", 1)})
	if err != nil {
		return nil, err
	}
	actors, actorsErr := h.Daemon.Actors(c.Ctx, "nosuch")
	list, err := h.Daemon.JobList(c.Ctx)
	if err != nil {
		return nil, err
	}
	c.Log(slog.LevelWarn, "a line")
	c.LogAs("a.logger", slog.LevelDebug, "another line")
	return payload.M("request", v, "other", other, "none", none, "event", event, "got", got, "text", text, "ok", ok,
			"ghost", ghost, "master", h.Events.FireMaster(c.Ctx, "t", "text", payload.M("p", 1)), "local",
			h.Events.FireLocal(c.Ctx, "t", nil), "running", h.Jobs.Running(), "pillar", pillar, "actors", actors,
			"list", list, "actors_err", fmt.Sprint(actorsErr), "reload", fmt.Sprint(h.Minion.Reload()), "runner",
			h.Runner != nil),
		nil
}
