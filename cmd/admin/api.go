package admin

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/wire/control"
)

// placeOfAPI returns the socket folder of a salt-api of this master. A number names the salt-api. Without a
// number it is the first that runs, and the tool names the others.
func placeOfAPI(s *session.Session, number string) (string, error) {
	at := func(n int) string { return filepath.Join(s.Common.SockDir, control.APIFolder(n)) }
	if number != "" {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > control.APIMost {
			return "", tool.Exit(tool.ExitUsage, "--api-number: %q is no number from 1 to %d", number, control.APIMost)
		}
		return at(n), nil
	}
	var run []int
	for n := 1; n <= control.APIMost; n++ {
		if control.At(at(n)).Listens() {
			run = append(run, n)
		}
	}
	switch len(run) {
	case 0:
		return at(1), nil // the question then fails with "no daemon answers"
	case 1:
		return at(run[0]), nil
	}
	others := make([]string, len(run)-1)
	for i, n := range run[1:] {
		others[i] = strconv.Itoa(n)
	}
	fmt.Fprintf(s.Stderr,
		"Several salt-apis run beside this master. This is number %d; --api-number asks another: %s\n", run[0],
		strings.Join(others, ", "))
	return at(run[0]), nil
}
