package x509_v2

import (
	"io/fs"
	"syscall"

	"brine/modules/host/safefile"
)

// ownerOf is who owns a file.
func ownerOf(info fs.FileInfo) *safefile.Owner {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return &safefile.Owner{UID: int(st.Uid), GID: int(st.Gid)}
}
