// Package dnsutil holds the execution functions dnsutil.A and dnsutil.AAAA: the addresses of a name. They ask dig where
// that is installed, else the resolver of the host. It answers to salt/modules/dnsutil.py, and to what that takes from
// dig.py; the functions for other records and for files are not there.
package dnsutil

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/environ"
	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// noDig is the answer where only dig could tell.
const noDig = "This function requires dig, which is not currently available"

// Module is the module dnsutil.
func Module() loader.Module {
	return loader.Module{File: "dnsutil", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{of("A", "IPv4", "ip4"), of("AAAA", "IPv6", "ip6")}
	}}
}

type question struct {
	Host   any `arg:"host"`
	Server any `arg:"nameserver=None"`
}

// of is the function for one kind of record.
func of(record, family, network string) loader.Func {
	return loader.Fn(record, func(c *loader.Call, a question) (any, error) {
		path, _ := environ.Of(c.Ctx).Get("PATH")
		switch {
		case program.WhichOn(path, "dig") != "":
			return dig(c, record, a.Host, a.Server)
		case a.Server == nil:
			return resolve(c, network, a.Host)
		}
		return noDig, nil
	}, "List the "+family+" addresses of a name.", "salt ns1 dnsutil."+record+" www.example.com")
}

// dig lists the addresses among what dig says; other lines are names on the way to them. A dig that fails knows none.
func dig(c *loader.Call, record string, host, server any) (any, error) {
	argv := []string{"dig", "+short", python.Str(host), record}
	if err := operand(argv[2]); err != nil {
		return nil, err
	}
	if server != nil {
		argv = append(argv, "@"+python.Str(server))
	}
	out, err := cmdmod.RunAll(c, argv, payload.M("output_loglevel", "debug"))
	if err != nil {
		return nil, err
	}
	found := []any{}
	if out.Code != 0 {
		c.Log(slog.LevelWarn, fmt.Sprintf("dig returned exit code '%d'. Returning empty list as fallback.", out.Code))
		return found, nil
	}
	for _, line := range out.Lines() {
		if _, err := netip.ParseAddr(line); err == nil {
			found = append(found, line)
		}
	}
	return found, nil
}

// operand refuses a name that dig would take for an option, for another server or for a switch. Unlike Salt, where
// -f/FILE has dig ask a server about the lines of a file.
func operand(name string) error {
	if strings.HasPrefix(name, "@") || strings.HasPrefix(name, "+") {
		return loader.ExecErr("'%s' is no name: it would be taken for an option", name)
	}
	return cmdmod.Operand(name)
}

// resolve asks the resolver of the host. Its failure is an answer, a text. Unlike Salt: an IPv4 address is four decimal
// numbers, and names that are not ASCII are not resolved.
func resolve(c *loader.Call, network string, host any) (any, error) {
	name, ok := host.(string)
	if !ok && host != nil {
		return nil, &loader.ArgumentError{Message: "getaddrinfo() argument 1 must be string or None"}
	}
	if err := checkLabels(name); err != nil {
		return nil, err
	}
	addrs, err := lookup(c.Ctx, network, name)
	switch {
	case c.Ctx.Err() != nil:
		return nil, context.Cause(c.Ctx)
	case err != nil:
		return "Unable to resolve " + python.Str(host), nil
	}
	found := make([]any, len(addrs))
	for i, a := range addrs {
		found[i] = a.WithZone("").String()
	}
	return found, nil
}

// errFamily means that an address is not of the family that is wanted.
var errFamily = errors.New("dnsutil: an address of the other family")

// lookup finds the addresses of a name; an address is its own.
func lookup(ctx context.Context, network, name string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(name); err == nil {
		if a.Is4() != (network == "ip4") {
			return nil, errFamily
		}
		return []netip.Addr{a}, nil
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, network, name)
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrs, err
}

// maxLabel is how long a part of a name may be, in bytes.
const maxLabel = 63

// checkLabels fails as Python's codec for names does.
func checkLabels(name string) error {
	labels := strings.Split(name, ".")
	last := len(labels) - 1
	why := ""
	if len(labels[last]) > maxLabel {
		why = "label too long"
	}
	for _, label := range labels[:last] {
		if label == "" || len(label) > maxLabel {
			why = "label empty or too long"
		}
	}
	if why == "" {
		return nil
	}
	return loader.Raise("UnicodeError", "encoding with 'idna' codec failed (UnicodeError: %s)", why)
}
