// Package systemd tells whether systemd has started the host, and which release of it. Answers to
// salt/utils/systemd.py.
package systemd

import (
	"context"
	"os"
	"strconv"
	"strings"

	"brine/modules/host/program"
	"brine/modules/text/pattern"
)

// Booted tells whether systemd has started the host.
func Booted() bool {
	_, err := os.Stat("/run/systemd/system")
	return err == nil
}

var release = pattern.New(`\w+ ([0-9]+)`)

// Version is the number of the release; known is false where systemctl does not tell.
func Version(ctx context.Context) (number int, known bool) {
	out, err := program.Run(ctx, program.Spec{Argv: []string{"systemctl", "--version"}, Merge: true})
	if err != nil {
		return 0, false
	}
	line, _, _ := strings.Cut(string(out.Stdout), "\n")
	m := release.FindStringSubmatch(line)
	if m == nil {
		return 0, false
	}
	number, err = strconv.Atoi(m[1])
	return number, err == nil
}
