package iptables

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/conffile"
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/re"
	"brine/wire/python/shlex"
)

// Filter is iptables or ip6tables, for one call of a function.
type Filter struct {
	c      *loader.Call
	family string
	path   string
	help   *string // what the program says of its options; nil: not asked yet
}

// New finds the program of a family: ipv6, or any other word for ipv4.
func New(c *loader.Call, family string) (*Filter, error) {
	name := "iptables"
	if family == "ipv6" {
		name = "ip6tables"
	}
	paths, _ := environ.Of(c.Ctx).Get("PATH")
	f := &Filter{c: c, family: family, path: program.WhichOn(paths, name)}
	if f.path == "" {
		return nil, loader.ExecErr("%s is not installed", name)
	}
	return f, nil
}

// run runs a line of words. Unlike Salt: tables and chains that would be taken for options are refused; what a rule is
// made of is not looked at.
func (f *Filter) run(line string) (cmdmod.Output, error) {
	argv, err := shlex.Split(line)
	if err != nil {
		return cmdmod.Output{}, loader.ExecErr("%s is no line of words: %v", python.Repr(line), err)
	}
	return cmdmod.RunAll(f.c, argv, nil)
}

// has tells whether the program has an option.
func (f *Filter) has(option string) (bool, error) {
	if f.help == nil {
		out, err := f.run(f.path + " --help")
		if err != nil {
			return false, err
		}
		f.help = &out.Stdout
	}
	return strings.Contains(*f.help, option), nil
}

// line is a command on a table, as the reference writes it.
func (f *Filter) line(table string, words ...string) (string, error) {
	wait := ""
	ok, err := f.has("--wait")
	if ok {
		wait = "--wait"
	}
	return f.path + " " + wait + " -t " + table + " " + strings.Join(words, " "), err
}

// do runs a command on a table and gives what it complains of.
func (f *Filter) do(table string, words ...string) (string, error) {
	line, err := f.line(table, words...)
	if err != nil {
		return "", err
	}
	out, err := f.run(line)
	return out.Stderr, err
}

// names refuses tables and chains that the program would take for options, or for more than one word.
func names(words ...string) error {
	for _, word := range words {
		if strings.ContainsAny(word, " \t\n\r\"'\\") {
			return loader.InvocErr("%s is no name of a table or a chain", python.Repr(word))
		}
	}
	return cmdmod.Operand(words...)
}

// saved is what iptables-save says, of one table or all.
func (f *Filter) saved(table string) (string, error) {
	line := f.path + "-save"
	if table != "" {
		line += " -t " + table
	}
	out, err := f.run(line)
	return out.Stdout, err
}

// Rules are the rules that hold.
func (f *Filter) Rules() (*payload.Map, error) {
	text, err := f.saved("")
	if err != nil {
		return nil, err
	}
	return parse(text)
}

// Kept are the rules in a file; "" is that of the host.
func (f *Filter) Kept(file string) (*payload.Map, error) {
	if file == "" {
		var err error
		if file, err = f.file(); err != nil {
			return nil, err
		}
	}
	text, err := conffile.Read(file)
	if err != nil {
		return nil, err
	}
	return parse(string(text))
}

// file is where the distribution keeps rules.
func (f *Filter) file() (string, error) {
	v6 := f.family == "ipv6"
	of := func(v4, ipv6 string) (string, error) {
		if v6 {
			return ipv6, nil
		}
		return v4, nil
	}
	name := func(grain string) string { v, _ := f.c.Grain(grain); return python.Str(v) }
	switch family, system := name("os_family"), name("os"); {
	case family == "RedHat":
		return of("/etc/sysconfig/iptables", "/etc/sysconfig/ip6tables")
	case family == "Arch" || family == "Void":
		return of("/etc/iptables/iptables.rules", "/etc/iptables/ip6tables.rules")
	case family == "Debian":
		return of("/etc/iptables/rules.v4", "/etc/iptables/rules.v6")
	case system == "Gentoo":
		return of("/var/lib/iptables/rules-save", "/var/lib/ip6tables/rules-save")
	case family == "Suse":
		return "/etc/sysconfig/scripts/SuSEfirewall2-custom", nil
	case system == "Alpine":
		return of("/etc/iptables/rules-save", "/etc/iptables/rules6-save")
	case family == "NILinuxRT":
		return of("/etc/natinst/share/iptables.conf", "/etc/natinst/share/ip6tables.conf")
	default:
		return "", loader.ExecErr("Saving iptables to file is not supported on %s. Please file an issue with SaltStack",
			system)
	}
}

// Save writes the rules that hold into a file, whole; "" is that of the host. It tells so.
func (f *Filter) Save(file string) (string, error) {
	if file == "" {
		var err error
		if file, err = f.file(); err != nil {
			return "", err
		}
	}
	text, err := f.saved("")
	if err != nil {
		return "", err
	}
	if text, err = f.filtered(text); err != nil {
		return "", err
	}
	if err = os.MkdirAll(filepath.Dir(file), 0o755); err == nil {
		err = conffile.Write(file, []byte(text+"\n"))
	}
	if err != nil {
		return "", loader.ExecErr("the rules cannot be saved: %s", loader.Message(err))
	}
	return `Wrote 1 lines to "` + file + `"`, nil
}

// filtered leaves out lines that the option iptables.save_filters names.
func (f *Filter) filtered(text string) (string, error) {
	v, err := f.c.Call("config.option", []any{"iptables.save_filters", []any{}}, nil)
	if err != nil || !python.Truth(v) {
		return text, err
	}
	var filters []*re.Text
	for _, expr := range loader.StringList(v) {
		if filter, err := re.CompileText(expr, ""); err == nil {
			filters = append(filters, filter)
		}
	}
	lines := strings.SplitAfter(text, "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool {
		return slices.ContainsFunc(filters, func(filter *re.Text) bool {
			found, err := filter.Search(line)
			return found && err == nil
		})
	})
	return strings.Join(lines, ""), nil
}
