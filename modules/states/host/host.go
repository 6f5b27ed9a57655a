// Package host is the state module host: entries of the table of host names. A state works out what the table is to be
// and writes it once. Answers to salt/states/host.py.
package host

import (
	"net/netip"
	"slices"
	"strings"

	"brine/modules/execution/hosts"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module host.
func Module() loader.Module {
	return loader.Module{File: "host", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("present", present, "Addresses have a name; with clean no others have it.",
				"web1:", "  host.present:", "    - ip: 192.0.2.1"),
			states.Fn("absent", absent, "Addresses do not have a name.", "web1:", "  host.absent:", "    - ip: 192.0.2.1"),
			states.Fn("only", only, "An address has these names and no others.",
				"192.0.2.1:", "  host.only:", "    - hostnames: [web1, web1.example.com]"),
		}
	}}
}

type presence struct {
	Name    string `arg:"name"`
	IP      any    `arg:"ip"`
	Comment string `arg:"comment=''"`
	Clean   bool   `arg:"clean=False"`
}

// addresses is one address or a list of them.
func addresses(v any) (out []string) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, ip := range list {
		if text := python.Str(ip); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// work is what present will do: in test mode and after it, each change has its line.
type work struct {
	table       *hosts.Table
	would, told []string
	changes     *payload.Map
	wrong       bool
	warnings    []any
}

// say adds a line that does not depend on the mode.
func (w *work) say(line string) {
	w.would, w.told = append(w.would, line), append(w.told, line)
}

// did notes a change.
func (w *work) did(kind, ip, what, would, told string) {
	w.would, w.told = append(w.would, would), append(w.told, told)
	of := w.changes.Map(kind)
	if of == nil {
		of = payload.NewMap(0)
		w.changes.Set(kind, of)
	}
	of.Set(ip, append(slices.Clone(of.List(ip)), what))
}

// present looks at the table. Unlike Salt: each address that is to be added must be one, test mode says when only a
// comment would change, and what fits in the table is in it even where another address is wrong.
func present(c *states.Call, a presence) (states.Plan, error) {
	table, err := hosts.Load(c.Call)
	if err != nil {
		return states.Plan{}, err
	}
	w := &work{table: table, changes: payload.NewMap(0)}
	add, comment, remove := w.look(a, addresses(a.IP))
	for _, ip := range add {
		if err := table.Add(ip, a.Name); err != nil {
			return states.Plan{}, err
		}
		host := a.Name + " (" + ip + ")"
		w.did("added", ip, a.Name, "Host "+host+" would be added", "Added host "+host)
	}
	for _, ip := range comment {
		if _, err := table.Comment(ip, a.Comment); err != nil {
			return states.Plan{}, err
		}
		w.did("comment_added", ip, a.Comment, "Comment for "+ip+" ("+a.Comment+") would be added",
			"Set comment for host "+ip+" ("+a.Comment+")")
	}
	for _, ip := range remove {
		table.Remove(ip, a.Name)
		host := a.Name + " (" + ip + ")"
		w.did("removed", ip, a.Name, "Host "+host+" would be removed", "Removed host "+host)
	}
	return w.plan(), nil
}

// look compares the table with what is wanted, in the order of the arguments and then of the table.
func (w *work) look(a presence, ips []string) (add, comment, remove []string) {
	entries := w.table.Entries()
	wants := func(ip string) {
		if _, err := netip.ParseAddr(ip); err != nil {
			w.wrong = true
			w.say("Invalid IP Address for " + a.Name + " (" + ip + ")")
			return
		}
		add = append(add, ip)
		if a.Comment != "" {
			comment = append(comment, ip)
		}
	}
	for _, ip := range ips {
		if !entries.Has(ip) {
			wants(ip)
		}
	}
	for key := range entries.All() {
		ip := key.(string)
		has, wanted := w.table.Has(ip, a.Name), slices.Contains(ips, ip)
		switch {
		case wanted && !has:
			wants(ip)
		case wanted && a.Comment != "" && entries.Map(ip).Value("comment") != any(a.Comment):
			comment = append(comment, ip)
		case wanted:
			w.say("Host " + a.Name + " (" + ip + ") already present")
		case has && a.Clean:
			remove = append(remove, ip)
		case has:
			w.warn(a.Name, ip)
		}
	}
	return add, comment, remove
}

func (w *work) warn(name, ip string) {
	w.warnings = append(w.warnings, "Host "+name+" present for IP address "+ip+". To get rid of this warning, either run "+
		"this state with 'clean' set to True to remove "+name+" from "+ip+", or add "+ip+" to the 'ip' argument.")
}

func (w *work) plan() states.Plan {
	p := states.Plan{Comment: strings.Join(w.would, "\n"), Changes: w.changes}
	if w.warnings != nil {
		p = p.With("warnings", w.warnings)
	}
	done := states.Done{Result: !w.wrong, Comment: strings.Join(w.told, "\n"), Changes: w.changes, Also: p.Also}
	switch {
	case w.changes.Len() == 0:
		p.Result = !w.wrong
		return p
	case w.wrong:
		p.Result = false
	}
	p.Apply = func() (states.Done, error) { return done, w.table.Flush() }
	return p
}

type absence struct {
	Name string `arg:"name"`
	IP   any    `arg:"ip"`
}

// absent is True in test mode only if no address has the name, where Salt goes by the last one that has it not.
func absent(c *states.Call, a absence) (states.Plan, error) {
	table, err := hosts.Load(c.Call)
	if err != nil {
		return states.Plan{}, err
	}
	w := &work{table: table}
	for _, ip := range addresses(a.IP) {
		host := a.Name + " (" + ip + ")"
		if !table.Has(ip, a.Name) {
			w.say("Host " + host + " already absent")
			continue
		}
		table.Remove(ip, a.Name)
		w.changes = payload.M("host", a.Name)
		w.would = append(w.would, "Host "+host+" needs to be removed")
		w.told = append(w.told, "Removed host "+host)
	}
	if w.changes == nil {
		return states.Correct(strings.Join(w.told, "\n")), nil
	}
	return states.Would(strings.Join(w.would, "\n"), nil, func() (states.Done, error) {
		if err := table.Flush(); err != nil {
			return states.Done{}, err
		}
		return states.Changed(strings.Join(w.told, "\n"), w.changes)
	}), nil
}

type single struct {
	Name      string `arg:"name"`
	Hostnames any    `arg:"hostnames"`
}

func only(c *states.Call, a single) (states.Plan, error) {
	var names []string
	switch v := a.Hostnames.(type) {
	case string:
		names = []string{v}
	case []any:
		for _, name := range v {
			names = append(names, python.Str(name))
		}
	default:
		return states.Plan{}, loader.InvocErr("hostnames must be a text or a list, not a %s", python.Type(v))
	}
	for i := range names {
		names[i] = strings.TrimFunc(names[i], python.IsSpace)
	}
	table, err := hosts.Load(c.Call)
	if err != nil {
		return states.Plan{}, err
	}
	was, wanted := strings.Join(table.Aliases(a.Name), " "), strings.Join(names, " ")
	if was == wanted {
		return states.Correct(`IP address ` + a.Name + ` already set to "` + wanted + `"`), nil
	}
	if err := table.Set(a.Name, wanted, ""); err != nil {
		return states.Plan{}, err
	}
	change := a.Name + ` from "` + was + `" to "` + wanted + `"`
	return states.Would("Would change "+change, nil, func() (states.Done, error) {
		if err := table.Flush(); err != nil {
			return states.Done{}, err
		}
		return states.Changed("successfully changed "+change, payload.M(a.Name, payload.M("old", was, "new", wanted)))
	}), nil
}
