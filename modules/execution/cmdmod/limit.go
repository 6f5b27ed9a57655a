package cmdmod

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"sync/atomic"

	"brine/modules"
	"brine/modules/text/pytext"
)

// OutputMax is how much output of one command is kept where command_output_max_bytes is 0: 100 MiB, or about a 32nd of
// the memory limit of the control group where that is less. A daemon gives Go two fifths of that limit, and this goes by
// what Go has.
func OutputMax() int64 {
	const most, share = 100 << 20, 13
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return min(most, limit/share)
	}
	return most
}

// budget is what the outputs of one command may still take. A nil budget is none.
type budget struct {
	most int64
	used atomic.Int64 // of all that came
}

func newBudget(c *modules.Call) *budget {
	b := &budget{}
	if b.most, _ = c.Opts().Int("command_output_max_bytes"); b.most <= 0 {
		b.most = OutputMax()
	}
	return b
}

// take says how much of n bytes is kept.
func (b *budget) take(n int) int {
	if b == nil {
		return n
	}
	before := b.used.Add(int64(n)) - int64(n)
	return int(min(max(b.most-before, 0), int64(n)))
}

// capped is a writer into memory that drops what is beyond a budget, and counts it.
type capped struct {
	buf  bytes.Buffer
	of   *budget
	lost int64
}

func (w *capped) Write(p []byte) (int, error) {
	keep := w.of.take(len(p))
	w.buf.Write(p[:keep])
	w.lost += int64(len(p) - keep)
	return len(p), nil
}

// textCut ends an output of which not all is there. Unlike Salt: it would fill the memory of the minion.
const textCut = "\nThe output was cut here: %d bytes more (command_output_max_bytes is %d)"

// note says at the end of an output that it was cut.
func (cmd *command) note(text, name string, lost int64) string {
	if lost == 0 {
		return text
	}
	cmd.call.Log(slog.LevelWarn, fmt.Sprintf("The %s of command '%s' was cut: %d bytes more (command_output_max_bytes is %d)", name, pytext.Str(cmd.shown), lost, cmd.budget.most))
	return text + fmt.Sprintf(textCut, lost, cmd.budget.most)
}

// checkArguments refuses arguments that promise what does not exist here. Salt passes over what it does not know.
func (cmd *command) checkArguments() error {
	for _, name := range []string{"tty", "pty", "log_callback", "encoded_cmd"} {
		if v := cmd.opt.get(name); modules.Truthy(v) {
			return modules.ExecErr("The argument '%s' of cmd functions is not supported on this minion", name)
		}
	}
	return nil
}
