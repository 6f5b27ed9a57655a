package saltminion

import (
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"brine/cmd/saltrun"
	"brine/cmd/tool"
	"brine/modules/execution"
	"brine/modules/host/jobprocess"
	"brine/modules/loader"
)

// RunJob runs one job that a minion hands over (multiprocessing: True). Only the minion starts it.
func RunJob(*tool.Call) error {
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGXCPU) // job_cpu_limit
	go func() {
		<-over
		os.Exit(jobprocess.ExitCPU)
	}()
	return jobprocess.Main(functions(), saltrun.OfferMaster(slog.New(slog.DiscardHandler)))
}

// functions are what a minion's jobs may call.
func functions() *loader.Registry {
	return execution.Machine{Version: tool.SaltVersion}.Functions()
}
