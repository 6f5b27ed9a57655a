package file

import (
	"os"
	"strings"

	execfile "brine/modules/execution/file"
	"brine/modules/execution/file/edit"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// edits are the states of what is in a file.
func edits() []loader.Func {
	return []loader.Func{
		states.Fn("line", line, "Have a line in a file, or not."),
		states.Fn("replace", replace, "Replace what a regular expression fits in a file.",
			"/etc/nginx/nginx.conf:", "  file.replace:", "    - pattern: worker_processes .*;",
			"    - repl: worker_processes 4;"),
		states.Fn("keyvalue", keyValue, "Have keys with their values in a file."),
		states.Fn("blockreplace", blockReplace, "Have a text between two markers in a file."),
		states.Fn("comment", comment, "Have lines of a file commented."),
		states.Fn("uncomment", uncomment, "Have lines of a file without their comment character."),
		states.Fn("append", appendText, "Have texts in a file, at the end where they are not there yet."),
		states.Fn("prepend", prependText, "Have texts in a file, at the beginning where they are not there yet."),
		states.Fn("accumulated", accumulated, "Collect texts for other states of the run."),
		states.Fn("tidied", tidied, "Have no files in a directory that are too old or too large."),
		states.Fn("retention_schedule", retain, "Keep the newest files of a directory, and some of each hour, day or year."),
		states.Fn("serialize", serialize, "Have a file with data in a format: json, yaml, configparser."),
		states.Fn("patch", patch, "Have a patch applied to a file or a directory."),
		states.Fn("decode", decode, "Have a file with what a text in base64 stands for."),
	}
}

// pathFor is the path that a state is for, with the home directory in the place of ~. A plan is that of a state without
// one.
func pathFor(c *states.Call, v any, fun string) (string, *states.Plan, error) {
	name, err := execfile.Expand(c.Call, v)
	if err == nil && name == "" {
		p := called(name, states.Wrong("Must provide name to file."+fun))
		return "", &p, nil
	}
	return name, nil, err
}

// present is what is wrong with a path that must be there; "" for nothing.
func present(name string) string {
	if !strings.HasPrefix(name, "/") {
		return "Specified file " + name + " is not an absolute path"
	}
	if _, err := os.Stat(name); err != nil {
		return name + ": file not found"
	}
	return ""
}

// existing is pathFor for a file that must be there.
func existing(c *states.Call, v any, fun string) (string, *states.Plan, error) {
	name, p, err := pathFor(c, v, fun)
	if p != nil || err != nil {
		return name, p, err
	}
	if wrong := present(name); wrong != "" {
		p := called(name, states.Wrong(wrong))
		return name, &p, nil
	}
	return name, nil, nil
}

// called is a plan with the name of its return.
func called(name string, p states.Plan) states.Plan {
	p.Name = name
	return p
}

// changing is the plan of a change that shows itself as a diff, or as true.
func changing(name string, change *edit.Change, show bool, would string) states.Plan {
	shown := change.Shown(show)
	if !python.Truth(shown) {
		return called(name, states.Correct("No changes needed to be made"))
	}
	changes := payload.M("diff", shown)
	return called(name, states.Would(would, changes, func() (states.Done, error) {
		if err := change.Apply(); err != nil {
			return states.Done{}, err
		}
		return states.Changed("Changes were made", changes)
	}))
}
