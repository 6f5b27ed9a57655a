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
		loader.Fn("mod_run_check_cmd", modRunCheckCmd, "Run a command on a file before it is put in its place.").
			Named("mod_run_check_cmd"),
	}
}
