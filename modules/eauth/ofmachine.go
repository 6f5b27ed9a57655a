package eauth

import (
	"slices"
	"strings"
)

// OfMachine tells whether a job under a name belongs to those who may do everything on the master's machine: root, the
// users that the master has and runs as, either of them under sudo (sudo_ANN), and nobody. Somebody who has logged in
// under such a name is somebody else: rules may show him such a job, the name does not.
func OfMachine(name string, masters ...string) bool {
	return name == "" || name == "root" || strings.HasPrefix(name, "sudo_") || slices.Contains(masters, name)
}
