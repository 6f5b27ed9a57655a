package keepalive

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain makes the test binary act as a minion that has a parent. This package is linked into it, too.
func TestMain(m *testing.M) {
	if os.Getenv("KEEPALIVE_TEST") == "" {
		os.Exit(m.Run())
	}
	p := Find()
	code := play(p)
	os.Exit(code)
}

// play is a process that follows commands on standard input, one word a line, and prints what it observes.
func play(p *Parent) int {
	own := make(chan os.Signal, 4)
	if len(os.Args) > 1 && os.Args[1] == "catch" {
		signal.Notify(own, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGUSR1)
	}
	e, again := p.Before()
	fmt.Println("begin", os.Getpid(), p != nil, again, e.PID, e.How(), e.Code(), e.Deaths)
	words := make(chan string)
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			words <- in.Text()
		}
	}()
	var handed <-chan os.Signal
	var gone <-chan struct{}
	for {
		select {
		case sig := <-own:
			fmt.Println("own", sig)
		case sig := <-handed:
			fmt.Println("handed", sig)
		case <-gone:
			fmt.Println("gone")
			return 1
		case w := <-words:
			switch w {
			case "listen":
				handed, gone = p.Signals(), p.Gone()
			case "ready":
				p.Ready()
			case "stopping":
				p.Stopping()
			case "over":
				p.Over()
			case "again":
				p.Again()
			case "slack":
				n, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
				if err != nil {
					fmt.Println(err)
				}
				fmt.Println("slack", n)
			case "file":
				file, path := p.File()
				fmt.Println("file", file, path, os.Getenv("BRINE_KEEPALIVE_CHILD"))
			case "deaf":
				signal.Ignore(syscall.SIGABRT)
			case "watchdog":
				p.Watchdog()
			case "exit0", "exit2", "exit4", "exit99":
				var code int
				_, _ = fmt.Sscanf(w, "exit%d", &code)
				return code
			case "orphan": // its child becomes a child of process 1
				if err := exec.Command("sh", "-c", "sh -c 'sleep 0.1' & exit 0").Run(); err != nil {
					fmt.Println(err)
				}
			}
			fmt.Println("did", w)
		}
	}
}
