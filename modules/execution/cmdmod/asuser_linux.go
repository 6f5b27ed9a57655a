package cmdmod

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asUser runs do with the rights that a user has on files, whoever this process runs as. Only the thread of do is
// changed, and it ends with do.
func asUser(who *syscall.Credential, do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: nothing else runs on this thread
		err := become(who)
		if err == nil {
			err = do()
		}
		done <- err
	}()
	return <-done
}

// become changes the thread. The calls of package syscall would change the whole process.
func become(who *syscall.Credential) error {
	groups := append([]uint32{who.Gid}, who.Groups...)
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(&groups[0])),
		0); errno != 0 {
		return fmt.Errorf("set the groups of user %d: %w", who.Uid, errno)
	}
	for _, set := range [...]struct {
		call uintptr
		id   uint32
	}{{unix.SYS_SETFSGID, who.Gid}, {unix.SYS_SETFSUID, who.Uid}} {
		_, _, _ = unix.RawSyscall(set.call, uintptr(set.id), 0, 0) // tells nothing but who it was before
		if now, _, _ := unix.RawSyscall(set.call, uintptr(^uint32(0)), 0, 0); uint32(now) != set.id {
			return fmt.Errorf("act as user %d: %w", who.Uid, unix.EPERM)
		}
	}
	return nil
}
