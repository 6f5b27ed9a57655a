package config

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// masters reads the option master: a text, or a list of texts. A minion that works without a master has none.
func (ld *loading) masters(opts *payload.Map, port int) ([]MasterAddr, error) {
	local := opts.Value("file_client") == "local" && !python.Truth(opts.Value("use_master_when_local"))
	if local || opts.Value("master_type") == "disable" {
		return nil, nil
	}
	list := opts.List("master")
	if list == nil {
		list = []any{opts.Value("master")}
	}
	ipOnly := opts.Value("master_uri_format") == "ip_only"
	var out []MasterAddr
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, ld.bad("master", v, "option 'master' is %s: it must be a host or a list of hosts",
				python.Str(opts.Value("master")))
		}
		addr, err := ParseMaster(s, port, ipOnly)
		if err != nil {
			return nil, ld.bad("master", v, "option 'master': %w", err)
		}
		out = append(out, addr)
	}
	return out, nil
}

// ParseMaster reads one entry of the option master: host, host:port, 10.0.0.1:4506, [::1]:4506 or ::1. With
// ipOnly the entry is an address and nothing else. port is used where the entry has none.
func ParseMaster(entry string, port int, ipOnly bool) (MasterAddr, error) {
	if entry == "" {
		return MasterAddr{}, errors.New("the master has no name")
	}
	if ipOnly {
		ip, err := netip.ParseAddr(entry)
		if err != nil {
			return MasterAddr{}, fmt.Errorf("'%s' does not appear to be an IPv4 or IPv6 address", entry)
		}
		return MasterAddr{ip.String(), port}, nil
	}
	host, own, err := splitHostPort(entry)
	if err != nil {
		return MasterAddr{}, err
	}
	if own != 0 {
		port = own
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return MasterAddr{ip.String(), port}, nil
	}
	if strings.HasPrefix(entry, "[") || !isHostName(host) {
		return MasterAddr{}, fmt.Errorf("bad hostname: \"%s\"", host)
	}
	return MasterAddr{host, port}, nil
}

// splitHostPort takes an entry apart. A port of 0 means that there is none.
func splitHostPort(entry string) (host string, port int, err error) {
	if rest, ok := strings.CutPrefix(entry, "["); ok {
		i := strings.LastIndex(rest, "]")
		if i < 0 {
			return "", 0, fmt.Errorf("bad hostname: \"%s\"", entry)
		}
		host, rest = rest[:i], rest[i+1:]
		switch {
		case rest == "":
			return host, 0, nil
		case rest[0] != ':':
			return "", 0, fmt.Errorf("found ambiguous \"%s\" port in \"%s\"", rest, entry)
		}
		port, err := portNumber(entry, rest[1:])
		return host, port, err
	}
	if strings.Count(entry, ":") != 1 {
		return entry, 0, nil
	}
	host, text, _ := strings.Cut(entry, ":")
	port, err = portNumber(entry, text)
	return host, port, err
}

func portNumber(entry, text string) (int, error) {
	port, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("host_port \"%s\" port value \"%s\" is not an integer.", entry, text)
	}
	if port < 1 || port > 65535 {
		return 0, fmt.Errorf("host_port \"%s\" port value \"%s\" is out of range", entry, text)
	}
	return port, nil
}

// isHostName says whether a name holds only what host names hold.
func isHostName(name string) bool {
	if name == "" {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_.-", c) >= 0) {
			return false
		}
	}
	return true
}
