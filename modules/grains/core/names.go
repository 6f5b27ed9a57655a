package core

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"

	"brine/modules/grains"
	"brine/wire/payload"
)

func (h *machine) id() *payload.Map { return payload.M("id", h.Opts.Str("id")) }

func (h *machine) master() *payload.Map {
	v, ok := h.Opts.Get("master")
	if !ok {
		v = ""
	}
	return payload.M("master", v)
}

// serverID is the SHA-256 of the id, modulo 2^31.
func (h *machine) serverID() *payload.Map {
	sum := sha256.Sum256([]byte(h.Opts.Str("id")))
	return payload.M("server_id", int64(binary.BigEndian.Uint32(sum[28:])&0x7fffffff))
}

func (h *machine) hostname() *payload.Map {
	name, _ := os.Hostname()
	fqdn := h.fqdn()
	short, domain, _ := strings.Cut(fqdn, ".")
	return payload.M("localhost", name, "fqdn", fqdn, "host", short, "domain", domain)
}

// lookupFQDN is the canonical name of the host name.
func (h *machine) lookupFQDN() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost.localdomain"
	}
	ctx, cancel := context.WithTimeout(context.Background(), grains.Timeout)
	defer cancel()
	canonical, err := net.DefaultResolver.LookupCNAME(ctx, name)
	if err != nil || canonical == "" || canonical == "." {
		return name
	}
	return strings.TrimSuffix(canonical, ".")
}

// fqdnAddresses are the addresses of the full name, by family; none for a family without any address here.
func (h *machine) fqdnAddresses() *payload.Map {
	out := payload.NewMap(2)
	have := h.addresses()
	for _, f := range []struct{ key, own, network string }{{"fqdn_ip4", "ipv4", "ip4"}, {"fqdn_ip6", "ipv6", "ip6"}} {
		found := []any{}
		if len(have.List(f.own)) > 0 {
			found = lookup(f.network, h.fqdn())
		}
		out.Set(f.key, found)
	}
	return out
}

func lookup(network, name string) []any {
	ctx, cancel := context.WithTimeout(context.Background(), grains.Timeout)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, network, name)
	if err != nil {
		return []any{}
	}
	for i := range addrs {
		addrs[i] = addrs[i].Unmap()
	}
	return addrTexts(sorted(addrs))
}

// fqdns are the names all own addresses resolve back to, without loopback.
func (h *machine) fqdns() *payload.Map {
	if on, _ := h.Opts.Value("enable_fqdns_grains").(bool); !on {
		return payload.M("fqdns", []any{})
	}
	ctx, cancel := context.WithTimeout(context.Background(), grains.Timeout)
	defer cancel()
	var (
		mu    sync.Mutex
		names []string
		wg    sync.WaitGroup
	)
	for _, i := range h.ifaces() {
		for _, a := range slices.Concat(i.Inet, i.Secondary, i.Inet6) {
			if a.IsLoopback() {
				continue
			}
			wg.Go(func() {
				found := reverse(ctx, a.Addr)
				mu.Lock()
				defer mu.Unlock()
				names = append(names, found...)
			})
		}
	}
	wg.Wait()
	slices.Sort(names)
	return payload.M("fqdns", payload.AnyList(slices.Compact(names)))
}

func reverse(ctx context.Context, a netip.Addr) []string {
	found, err := net.DefaultResolver.LookupAddr(ctx, a.String())
	if err != nil {
		return nil
	}
	for i := range found {
		found[i] = strings.TrimSuffix(found[i], ".")
	}
	return found
}

func (h *machine) appendDomain() *payload.Map {
	if v, ok := h.Opts.Get("append_domain"); ok && v != nil {
		return payload.M("append_domain", v)
	}
	return payload.NewMap(0)
}

func (h *machine) machineID() *payload.Map {
	for _, name := range []string{"etc/machine-id", "var/lib/dbus/machine-id"} {
		if id := strings.TrimSpace(h.Read(name)); id != "" {
			return payload.M("machine_id", id)
		}
	}
	return payload.NewMap(0)
}
