// Package hosts is the execution module hosts: it reads and changes the table of host names, /etc/hosts or what the
// option hosts.file names. Table is the table for the states of module host. It answers to salt/modules/hosts.py.
package hosts

import (
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module hosts.
func Module() loader.Module {
	return loader.Module{File: "hosts", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("list_hosts", listHosts, "List the addresses of the table with their names.", "hosts.list_hosts"),
			loader.Fn("get_ip", getIP, "Show the address that a name has in the table.", "hosts.get_ip <hostname>"),
			loader.Fn("get_alias", getAlias, "List the names of an address.", "hosts.get_alias <ip addr>"),
			loader.Fn("has_pair", hasPair, "Tell whether an address has a name.", "hosts.has_pair <ip> <alias>"),
			loader.Fn("set_host", setHost, "Give an address these names only; without a name it is removed.",
				"hosts.set_host <ip> <alias>"),
			loader.Fn("rm_host", rmHost, "Take a name from an address.", "hosts.rm_host <ip> <alias>"),
			loader.Fn("add_host", addHost, "Give an address a further name.", "hosts.add_host <ip> <alias>"),
			loader.Fn("set_comment", setComment, "Set the comment behind the names of an address.",
				"hosts.set_comment <ip> <comment>"),
		}
	}}
}

// Arguments.
type (
	address struct {
		IP string `arg:"ip"`
	}
	pair struct {
		address
		Alias any `arg:"alias"`
	}
	entry struct {
		pair
		Comment any `arg:"comment=None"`
	}
	commented struct {
		address
		Comment string `arg:"comment"`
	}
	hosted struct {
		Host string `arg:"host"`
	}
)

func listHosts(c *loader.Call, _ struct{}) (*payload.Map, error) {
	t, err := Load(c)
	if err != nil {
		return nil, err
	}
	return t.Entries(), nil
}

func getIP(c *loader.Call, a hosted) (string, error) {
	t, err := Load(c)
	if err != nil {
		return "", err
	}
	for ip := range t.Entries().All() {
		if t.Has(ip.(string), a.Host) {
			return ip.(string), nil
		}
	}
	return "", nil
}

func getAlias(c *loader.Call, a address) ([]any, error) {
	t, err := Load(c)
	if err != nil {
		return nil, err
	}
	return payload.AnyList(t.Aliases(a.IP)), nil
}

func hasPair(c *loader.Call, a pair) (bool, error) {
	t, err := Load(c)
	if err != nil {
		return false, err
	}
	list, ok := a.Alias.([]any)
	if !ok {
		list = []any{a.Alias}
	}
	if !t.Entries().Has(a.IP) {
		return false, nil
	}
	for _, alias := range list {
		if !t.Has(a.IP, python.Str(alias)) {
			return false, nil
		}
	}
	return true, nil
}

// change reads the table, changes it, and writes it where there is something new.
func change(c *loader.Call, how func(t *Table) (bool, error)) (bool, error) {
	t, err := Load(c)
	if err != nil {
		return false, err
	}
	done, err := how(t)
	if err != nil || !done {
		return false, err
	}
	return true, t.Flush()
}

func setHost(c *loader.Call, a entry) (bool, error) {
	return change(c, func(t *Table) (bool, error) {
		comment := ""
		if python.Truth(a.Comment) {
			comment = python.Str(a.Comment)
		}
		return true, t.Set(a.IP, python.Str(a.Alias), comment)
	})
}

func rmHost(c *loader.Call, a pair) (bool, error) {
	return change(c, func(t *Table) (bool, error) {
		t.Remove(a.IP, python.Str(a.Alias))
		return true, nil
	})
}

func addHost(c *loader.Call, a pair) (bool, error) {
	return change(c, func(t *Table) (bool, error) { return true, t.Add(a.IP, python.Str(a.Alias)) })
}

func setComment(c *loader.Call, a commented) (bool, error) {
	return change(c, func(t *Table) (bool, error) { return t.Comment(a.IP, a.Comment) })
}
