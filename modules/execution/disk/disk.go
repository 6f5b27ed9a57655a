// Package disk is the execution module disk: how full file systems are, what stands on block devices, and the programs
// that prepare them. It answers to salt/modules/disk.py.
package disk

import (
	"strings"

	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module disk.
func Module() loader.Module {
	return loader.Module{File: "disk", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("usage", usage, "Tell how full file systems are, by their places.", "disk.usage"),
			loader.Fn("inodeusage", inodeUsage, "Tell how many inodes file systems have left.", "disk.inodeusage"),
			loader.Fn("percent", percent, "Tell in percent how full file systems are, or one.", "disk.percent /var"),
			loader.Fn("blkid", blkid, "Tell what stands on block devices.", "disk.blkid", "disk.blkid /dev/sda",
				"disk.blkid token='UUID=6a38ee5-7235-44e7-8b22-816a403bad5d'"),
			loader.Fn("dump", dump, "Show what the kernel knows of a block device.", "disk.dump /dev/sda1"),
			loader.Fn("tune", tune, "Set properties of a block device.",
				"disk.tune /dev/sda1 read-ahead=1024 read-write=True"),
			loader.Fn("wipe", wipe, "Take the marks of file systems off a block device.", "disk.wipe /dev/sda1"),
			loader.Fn("resize2fs", resize, "Resize a file system of the kind ext to its device.",
				"disk.resize2fs /dev/sda1"),
			loader.Fn("format", format, "Make a file system.", "disk.format /dev/sdX1").Named("format_"),
			loader.Fn("fstype", fstype, "Tell which file system a device has.", "disk.fstype /dev/sdX1"),
		}
	}}
}

type flagged struct {
	Args any `arg:"args=None"`
}

// flags are those of df that are let through.
func flags(args any, caller string) ([]any, error) {
	var out strings.Builder
	var letters []string
	switch v := args.(type) {
	case nil:
	case []any:
		letters = loader.StringList(v)
	default:
		letters = strings.Split(python.Str(v), "")
	}
	for _, flag := range letters {
		if len(flag) != 1 || !strings.Contains("aBhHiklPtTxv", flag) {
			return nil, loader.ExecErr("Invalid flag passed to %s", caller)
		}
		out.WriteString(flag)
	}
	if out.Len() == 0 {
		return nil, nil
	}
	return []any{"-" + out.String()}, nil
}

// rows are the lines of df behind the first one, in words. A device whose name has blanks is one word, and a row that
// goes on in the next line is one row.
func rows(c *loader.Call, words []any, blanks bool) ([][]string, error) {
	v, err := c.Call("cmd.run", []any{append([]any{"df"}, words...)}, payload.M("python_shell", false))
	if err != nil {
		return nil, err
	}
	var out [][]string
	before := ""
	for line := range strings.Lines(loader.Text(v)) {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "Filesystem") {
			continue
		}
		row := strings.Fields(before + " " + line)
		if before = ""; len(row) == 1 && blanks {
			before = row[0]
			continue
		}
		for blanks && len(row) >= 2 && !digits(row[1]) {
			row = append([]string{row[0] + " " + row[1]}, row[2:]...)
		}
		if len(row) >= 6 {
			out = append(out, row)
		}
	}
	return out, nil
}

func digits(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }) < 0
}

func usage(c *loader.Call, a flagged) (*payload.Map, error) {
	more, err := flags(a.Args, "disk.usage")
	if err != nil {
		return nil, err
	}
	all, err := rows(c, append([]any{"-P"}, more...), true)
	out := payload.NewMap(len(all))
	for _, row := range all {
		out.Set(row[5], payload.M("filesystem", row[0], "1K-blocks", row[1], "used", row[2], "available", row[3],
			"capacity", row[4]))
	}
	return out, err
}

func inodeUsage(c *loader.Call, a flagged) (*payload.Map, error) {
	more, err := flags(a.Args, "disk.inodeusage")
	if err != nil {
		return nil, err
	}
	all, err := rows(c, append([]any{"-iP"}, more...), false)
	out := payload.NewMap(len(all))
	for _, row := range all {
		out.Set(row[5], payload.M("inodes", row[1], "used", row[2], "free", row[3], "use", row[4],
			"filesystem", row[0]))
	}
	return out, err
}

func percent(c *loader.Call, a flagged) (any, error) {
	all, err := rows(c, []any{"-P"}, true)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(len(all))
	for _, row := range all {
		out.Set(row[5], row[4])
	}
	if !python.Truth(a.Args) {
		return out, nil
	}
	if v, ok := out.Get(a.Args); ok {
		return v, nil
	}
	return payload.NewMap(0), nil
}

type device struct {
	Device string `arg:"device"`
}

// run runs a program: its result as cmd.run_all has it.
func run(c *loader.Call, words ...any) (*payload.Map, error) {
	v, err := c.Call("cmd.run_all", []any{words}, payload.M("python_shell", false))
	ran, _ := v.(*payload.Map)
	return ran, err
}

func wipe(c *loader.Call, a device) (bool, error) {
	ran, err := run(c, "wipefs", "-a", "--", a.Device)
	return err == nil && !python.Truth(ran.Value("retcode")), err
}

// resize returns None where it failed, as in Salt.
func resize(c *loader.Call, a device) (any, error) {
	ran, err := run(c, "resize2fs", "--", a.Device)
	if err != nil || python.Truth(ran.Value("retcode")) {
		return nil, err
	}
	return true, nil
}

// needs is the error of a function whose program is not there.
func needs(fun string, programs ...string) error {
	for _, name := range programs {
		if program.Which(name) == "" {
			return &loader.CommandNotFoundError{Message: "'" + name + "' is not installed, which disk." + fun + " needs"}
		}
	}
	return nil
}
