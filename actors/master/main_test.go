package master

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"brine/actors/actortest"
	"brine/config"

	"go.uber.org/goleak"
)

// envChild makes the test binary play a master that other tests kill.
const envChild = "BRINE_MASTER_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(envChild) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := childMaster(os.Args[1]); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// childMaster is what this test binary does as a process of its own: it runs a master until it is killed.
func childMaster(path string) error {
	cfg, err := config.LoadMaster(path, nil)
	if err != nil {
		return err
	}
	own, err := LoadKeys(cfg, actortest.NewLog().Logger())
	if err != nil {
		return err
	}
	m, err := Start(Options{Config: cfg, Logger: discard(), Keys: own, RunningUser: userName()})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	<-end
	_, err = m.Stop(patience)
	return err
}
