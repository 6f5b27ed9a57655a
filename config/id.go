package config

import (
	"bytes"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"brine/wire/payload"
	"brine/wire/python"
)

// minionID finds an id for a minion that has none configured: the cached one, else the first acceptable name of
// this host. fromAddress says that it is an IPv4 address. With cache a generated id is written to the cache.
func (ld *loading) minionID(opts *payload.Map, cache bool) (id string, fromAddress bool) {
	root := opts.Str("root_dir")
	if root == "" {
		root = "/"
	}
	file := filepath.Join(root, defaultDir, "minion_id")
	caching, given := opts.Get("minion_id_caching")
	useCache := !given || python.Truth(caching)
	if useCache {
		if id := cachedID(file); id != "" && id != "localhost" {
			return id, false
		}
	}
	id = ld.generateID()
	if python.Truth(opts.Value("minion_id_lowercase")) {
		id = strings.ToLower(id)
	}
	id = removeDomain(id, opts.Value("minion_id_remove_domain"))
	if cache && useCache {
		if err := writeID(file, id); err != nil {
			ld.notice(slog.LevelError, "Could not cache minion ID: %v", err)
		}
	}
	addr, err := netip.ParseAddr(id)
	return id, err == nil && addr.Is4()
}

// cachedID is the first line of the file minion_id, "" when there is none.
func cachedID(file string) string {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	line = bytes.TrimSpace(line)
	return string(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")))
}

func writeID(file, id string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(id), 0o644)
}

// removeDomain takes the whole domain off a generated id (true) or one given domain.
func removeDomain(id string, domain any) string {
	switch d := domain.(type) {
	case bool:
		if d {
			id, _, _ = strings.Cut(id, ".")
		}
	case string:
		if d != "" && strings.HasSuffix(strings.ToUpper(id), "."+strings.ToUpper(d)) {
			id = id[:len(id)-len(d)-1]
		}
	}
	return id
}

// appendDomain adds append_domain to the id unless the id has it or ends with a dot.
func appendDomain(opts *payload.Map) {
	domain, id := opts.Str("append_domain"), opts.Str("id")
	if !opts.Has("append_domain") || strings.HasSuffix(id, domain) || strings.HasSuffix(id, ".") {
		return
	}
	opts.Set("id", id+"."+domain)
}

// noID matches names that do not tell one host from another.
var noID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(?:localhost.*|ip6-.*|127[.]\d|0\.0\.0\.0|::1.*|ipv6-.*|fe00::.*|fe02::.*|1.0.0.*.ip6.arpa)`)
})

// generateID is the first acceptable name of this host, else "localhost".
func (ld *loading) generateID() string {
	names := hostNames
	if ld.HostNames != nil {
		names = ld.HostNames
	}
	for _, name := range names() {
		if name != "" && !noID().MatchString(name) {
			return name
		}
	}
	return "localhost"
}

// hostNames lists what this host may be called: its full name, its name, names of /etc/hostname and of the
// local lines of /etc/hosts, its addresses.
func hostNames() []string {
	host, _ := os.Hostname()
	names := []string{fullName(host), host}
	for _, file := range []string{"/etc/hostname", "/etc/nodename", "/etc/hosts"} {
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		names = append(names, namesOf(string(b))...)
	}
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			names = append(names, n.IP.String())
		}
	}
	return names
}

// namesOf lists the names in a hosts file that mean this host: lines of one word, and those of a loopback address.
func namesOf(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 1 || len(words) > 1 && (strings.HasPrefix(words[0], "127.") || strings.HasPrefix(words[0],
			"::1")) {
			names = append(names, words...)
		}
	}
	return names
}

// fullName is the canonical name of a host as Python's getfqdn finds it: the first name of its address that
// has a dot, else the name as given.
func fullName(host string) string {
	addrs, err := net.LookupHost(host)
	if err != nil {
		return host
	}
	for _, a := range addrs {
		names, err := net.LookupAddr(a)
		if err != nil {
			continue
		}
		for _, n := range names {
			if n = strings.TrimSuffix(n, "."); strings.Contains(n, ".") {
				return n
			}
		}
		break
	}
	return host
}
