package minion

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"brine/modules/execution"
	"brine/modules/host/jobprocess"
	"brine/modules/loader"
	"brine/wire/payload"
)

// TestMain makes the test binary play the process of a job.
func TestMain(m *testing.M) {
	if os.Args[0] != jobprocess.Name {
		os.Exit(m.Run())
	}
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGXCPU)
	go func() { <-over; os.Exit(jobprocess.ExitCPU) }()
	reg := execution.Machine{Version: "3008.3"}.Functions()
	if err := errors.Join(reg.Register(processFunctions()...), jobprocess.Main(reg, nil)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// processFunctions are what jobs with a process of their own call. Each leaves a line in the file it is given.
func processFunctions() []loader.Func {
	fun := func(name string, run func(c *loader.Call) (any, error)) loader.Func {
		return loader.Func{Name: "p." + name, Params: []loader.Param{loader.Req("trace")}, Run: func(c *loader.Call,
			a loader.Args) (any, error) {
			f, err := os.OpenFile(a.Str("trace"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err == nil {
				_, err = fmt.Fprintf(f, "%s %d\n", c.JID, os.Getpid())
				err = errors.Join(err, f.Close())
			}
			if err != nil {
				return nil, err
			}
			return run(c)
		}}
	}
	return []loader.Func{
		fun("pid", func(*loader.Call) (any, error) { return int64(os.Getpid()), nil }),
		fun("see", func(c *loader.Call) (any, error) {
			return payload.M("pillar", c.Pillar(), "role", c.Grains().Value("role"), "id", c.Opts().Value("id")), nil
		}),
		fun("wait", func(*loader.Call) (any, error) { select {} }),
		fun("exception", func(*loader.Call) (any, error) { panic("boom") }),
		fun("crash", func(*loader.Call) (any, error) { go panic("boom far away"); select {} }),
		fun("grow", func(*loader.Call) (any, error) {
			var all [][]byte
			for range 4096 {
				all = append(all, []byte(strings.Repeat("x", 1<<20)))
			}
			return len(all), nil
		}),
		fun("burn", func(*loader.Call) (any, error) {
			for n := 0; ; n++ {
				if n < 0 {
					return n, nil
				}
			}
		}),
	}
}
