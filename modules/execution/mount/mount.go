// Package mount is the execution module mount: what is mounted, what the tables of file systems say, and the programs
// mount, umount, swapon and swapoff. Those of its functions that are for macOS and AIX do nothing here, or are not there.
// It answers to salt/modules/mount.py.
package mount

import (
	"brine/modules/loader"
	"brine/wire/payload"
)

// Module is the module mount.
func Module() loader.Module {
	return loader.Module{File: "mount", Virtual: loader.Always, Funcs: func() []loader.Func {
		return append(append(readers(), tables()...), changers()...)
	}}
}

func readers() []loader.Func {
	return []loader.Func{
		loader.Fn("active", active, "List what is mounted, by its place.", "mount.active"),
		loader.Fn("is_mounted", isMounted, "Tell whether something is mounted at a place.", "mount.is_mounted /mnt/share"),
		loader.Fn("is_fuse_exec", isFuseExec, "Tell whether a program is linked with libfuse.",
			"mount.is_fuse_exec sshfs"),
		loader.Fn("get_mount_from_path", mountFromPath, "Tell where the file system is mounted that has a path.",
			"mount.get_mount_from_path /opt/some/nested/path"),
		loader.Fn("get_device_from_path", deviceFromPath, "Tell from which device the file system is that has a path.",
			"mount.get_device_from_path /"),
		loader.Fn("swaps", swaps, "List the swap areas in use.", "mount.swaps"),
	}
}

func tables() []loader.Func {
	return []loader.Func{
		loader.Fn("fstab", listTable, "List the entries of the table of file systems.", "mount.fstab"),
		loader.Fn("vfstab", listVTable, "List the entries of a table of file systems of Solaris.", "mount.vfstab"),
		loader.Fn("set_fstab", setTable, "Put an entry into the table of file systems.",
			"mount.set_fstab /mnt/foo /dev/sdz1 ext4"),
		loader.Fn("set_vfstab", setVTable, "Put an entry into a table of file systems of Solaris.",
			"mount.set_vfstab /mnt/foo /device/c0t0d0 ufs"),
		loader.Fn("rm_fstab", removeEntry, "Take an entry out of the table of file systems.",
			"mount.rm_fstab /mnt/foo /dev/sdg"),
		loader.Fn("rm_vfstab", removeVEntry, "Take an entry out of a table of file systems of Solaris.",
			"mount.rm_vfstab /mnt/foo /device/c0t0d0"),
		loader.Fn("automaster", automaster, "List the entries of a table of the automounter.", "mount.automaster"),
		loader.Fn("filesystems", filesystems, "List a table of file systems of AIX: nothing elsewhere.",
			"mount.filesystems"),
		loader.Fn("set_filesystems", setFilesystems, "Put an entry into a table of AIX: nothing elsewhere.",
			"mount.set_filesystems /mnt/foo /dev/sdz1 jfs2"),
		loader.Fn("rm_filesystems", removeFilesystems, "Take an entry out of a table of AIX: nothing elsewhere.",
			"mount.rm_filesystems /mnt/foo /dev/sdg"),
		loader.Fn("read_mount_cache", readCache, "Show the options with which a state mounted something.",
			"mount.read_mount_cache /mnt/share"),
		loader.Fn("write_mount_cache", writeCache, "Keep the options with which something is mounted.",
			`mount.write_mount_cache /mnt/share /dev/sda1 False ext4 defaults`),
		loader.Fn("delete_mount_cache", deleteCache, "Forget the options with which something was mounted.",
			"mount.delete_mount_cache /mnt/share"),
	}
}

func changers() []loader.Func {
	return []loader.Func{
		loader.Fn("mount", mount, "Mount a device.", "mount.mount /mnt/foo /dev/sdz1 True"),
		loader.Fn("remount", remount, "Mount a device with other options, or anew.",
			"mount.remount /mnt/foo /dev/sdz1 True"),
		loader.Fn("umount", umount, "Unmount a device or a place.", "mount.umount /mnt/foo"),
		loader.Fn("swapon", swapon, "Use a swap area.", "mount.swapon /root/swapfile"),
		loader.Fn("swapoff", swapoff, "Use a swap area no longer.", "mount.swapoff /root/swapfile"),
	}
}

type ofAIX struct {
	Config any `arg:"config=/etc/filesystems"`
}

func filesystems(*loader.Call, ofAIX) (*payload.Map, error) { return payload.NewMap(0), nil }

type setOnAIX struct {
	Name      any          `arg:"name"`
	Device    any          `arg:"device"`
	VFSType   any          `arg:"vfstype"`
	Opts      any          `arg:"opts=-"`
	Mount     any          `arg:"mount='true'"`
	Config    any          `arg:"config=/etc/filesystems"`
	Test      any          `arg:"test=False"`
	MatchOn   any          `arg:"match_on=auto"`
	NotChange any          `arg:"not_change=False"`
	KW        *payload.Map `arg:"**kwargs"`
}

func setFilesystems(*loader.Call, setOnAIX) (any, error) { return nil, nil }

type removedOnAIX struct {
	Name   any `arg:"name"`
	Device any `arg:"device"`
	Config any `arg:"config=/etc/filesystems"`
}

func removeFilesystems(*loader.Call, removedOnAIX) (bool, error) { return false, nil }
