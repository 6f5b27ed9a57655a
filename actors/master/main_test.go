package master

import (
	"fmt"
	"os"
	"testing"

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
