package file

import (
	"brine/modules/loader"
	"brine/modules/states"
)

// filesystem are the states of whole files, directories and links.
func filesystem() []loader.Func {
	return []loader.Func{
		states.Fn("managed", managed, "A file has a content, an owner and a mode.",
			"/etc/motd:", "  file.managed:", "    - source: salt://motd", "    - mode: '0644'"),
		states.Fn("directory", directory, "A directory is there, with an owner and a mode.",
			"/srv/stuff:", "  file.directory:", "    - user: fred", "    - mode: 755", "    - makedirs: True"),
		states.Fn("recurse", recurse, "A directory of the file server is there with all that is in it.",
			"/opt/code/flask:", "  file.recurse:", "    - source: salt://code/flask", "    - include_empty: True"),
		states.Fn("symlink", symlink, "A symbolic link leads to a target.",
			"/etc/grub.conf:", "  file.symlink:", "    - target: /boot/grub/grub.conf"),
		states.Fn("hardlink", hardlink, "A file is another name of a target.",
			"/etc/grub.conf:", "  file.hardlink:", "    - target: /boot/grub/grub.conf"),
		states.Fn("absent", on(absent), "A file, a link or a directory is not there.", "/etc/motd:", "  file.absent"),
		states.Fn("exists", on(isThere), "A file or a directory is there, or the state fails."),
		states.Fn("missing", on(isMissing), "A file or a directory is not there, or the state fails."),
		states.Fn("touch", touch, "A file is there, and has times.", "/var/log/httpd/logrotate.empty:", "  file.touch"),
		states.Fn("copy", copyFile, "A file or a directory is a copy of another one of this minion.",
			"/etc/example.conf:", "  file.copy:", "    - source: /tmp/example.conf").Named("copy_"),
		states.Fn("rename", rename, "A file or a directory of this minion has another name.",
			"/etc/sudoers:", "  file.rename:", "    - source: /etc/sudoers.new"),
		states.Fn("mknod", mknod, "A device or a pipe is there.",
			"/dev/chr:", "  file.mknod:", "    - ntype: c", "    - major: 180", "    - minor: 31"),
		states.Fn("pruned", pruned, "A directory is not there if it is empty, nor are empty ones below it."),
		states.Fn("cached", cached, "A file is in the cache of this minion.",
			"salt://foo.conf:", "  file.cached"),
		states.Fn("not_cached", notCached, "A file is not in the cache of this minion."),
		states.Fn("mod_beacon", modBeacon, "Watch what is managed (beacon: True)."),
		loader.Fn("mod_run_check_cmd", modRunCheckCmd, "Run a command on a file before it is put in its place."),
	}
}
