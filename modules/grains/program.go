package grains

import (
	"context"
	"os"
	"strings"

	"brine/modules/host/program"
)

// programOutput is how much of the output of a program is looked at, in bytes.
const programOutput = 8 << 20

// runProgram runs a program with an English locale. ok is exit code 0.
func runProgram(ctx context.Context, name string, args ...string) (text string, ok bool) {
	r, err := program.Run(ctx, program.Spec{Argv: append([]string{name}, args...), Env: append(os.Environ(), "LC_ALL=C",
		"LANGUAGE=C"), Merge: true, Output: program.NewBudget(programOutput)})
	return strings.TrimRight(string(r.Stdout), " \t\r\n"), err == nil && r.Code == 0
}
