package control

import "fmt"

// Version is the version of the protocol that this program speaks. Programs without a version count as 0.
const Version = 1

// VersionError means that a tool and a daemon speak different versions. Nothing was done.
type VersionError struct{ Tool, Daemon int64 }

func (e *VersionError) Error() string {
	if e.Daemon < e.Tool {
		return fmt.Sprintf("the daemon is older than this tool (version %d of the control protocol, not %d): start "+
			"the daemon again, "+
			"once it is upgraded", e.Daemon, e.Tool)
	}
	return fmt.Sprintf("the daemon is newer than this tool (version %d of the control protocol, not %d): use the "+
		"tool of the daemon's release",
		e.Daemon, e.Tool)
}
