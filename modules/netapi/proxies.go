package netapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// BehindProxies is a handler whose requests come from whom trusted proxies name: the address of a client is the last in
// X-Forwarded-For that is no proxy's own. What others say in that header counts for nothing. The address is in
// RemoteAddr, and From of the context.
func BehindProxies(proxies []netip.Prefix, h http.Handler) http.Handler {
	if len(proxies) == 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if client := forwarded(proxies, host, r.Header.Values("X-Forwarded-For")); err == nil && client != host {
			r = r.WithContext(WithFrom(r.Context(), client))
			r.RemoteAddr = net.JoinHostPort(client, "0")
		}
		h.ServeHTTP(w, r)
	})
}

// forwarded is the client behind peer. What cannot be read ends the way back to it.
func forwarded(proxies []netip.Prefix, peer string, headers []string) string {
	hops := strings.Split(strings.Join(headers, ","), ",")
	for i := len(hops) - 1; i >= 0 && trusted(proxies, peer); i-- {
		hop := strings.TrimSpace(hops[i])
		if both, err := netip.ParseAddrPort(hop); err == nil {
			hop = both.Addr().String()
		}
		addr, err := netip.ParseAddr(strings.Trim(hop, "[]"))
		if err != nil {
			break
		}
		peer = addr.Unmap().WithZone("").String()
	}
	return peer
}

// trusted tells whether an address is one of a list.
func trusted(list []netip.Prefix, from string) bool {
	if len(list) == 0 {
		return false
	}
	addr, err := netip.ParseAddr(from)
	if err != nil {
		return false
	}
	for _, network := range list {
		if network.Contains(addr.Unmap().WithZone("")) {
			return true
		}
	}
	return false
}
