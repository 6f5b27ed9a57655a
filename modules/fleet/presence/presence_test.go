package presence

import (
	"net/netip"
	"strings"
	"testing"

	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// table is /proc/net/tcp of a little-endian machine: a minion at 192.0.2.7 and one on loopback at port 4505, the
// listening socket, a connection to another port, and one that is closing.
const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1199 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 010200C0:1199 070200C0:D431 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 20 4 30 10 -1
   2: 0100007F:1199 0100007F:D432 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0 20 4 30 10 -1
   3: 010200C0:119A 080200C0:D431 01 00000000:00000000 00:00000000 00000000     0        0 4 1 0 20 4 30 10 -1
   4: 010200C0:1199 090200C0:D431 06 00000000:00000000 00:00000000 00000000     0        0 5 1 0 20 4 30 10 -1
`

// table6 has a connection from 2001:db8::5 and one from a mapped 192.0.2.9.
const table6 = `  sl  local_address                         remote_address                        st
   0: 00000000000000000000000000000000:1199 B80D0120000000000000000005000000:D431 01
   1: 0000000000000000FFFF0000010200C0:1199 0000000000000000FFFF0000090200C0:D432 01
   bad line
   2: 00:1199 00:1199 01
`

func TestParse(t *testing.T) {
	conn := func(port int, remote string) Conn { return Conn{port, netip.MustParseAddrPort(remote)} }
	for _, tt := range []struct {
		name, text string
		want       []Conn
	}{
		{"empty", "", nil},
		{"tcp", table, []Conn{conn(4505, "192.0.2.7:54321"), conn(4505, "127.0.0.1:54322"),
			conn(4506, "192.0.2.8:54321")}},
		{"tcp6", table6, []Conn{conn(4505, "[2001:db8::5]:54321"), conn(4505, "192.0.2.9:54322")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parse(strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); d != "" {
				t.Error(d)
			}
		})
	}
}

// fakeCache holds the bank grains.
type fakeCache map[string]*payload.Map

func (c fakeCache) Cached(string) ([]string, error) {
	var ids []string
	for id := range c {
		ids = append(ids, id)
	}
	return ids, nil
}

func (c fakeCache) Data(_, id string) (*payload.Map, error) { return c[id], nil }

func grains(v4, v6 string) *payload.Map {
	m := payload.M("ipv4", []any{"127.0.0.1"}, "ipv6", []any{"::1"})
	if v4 != "" {
		m.Set("ipv4", []any{"127.0.0.1", v4})
	}
	if v6 != "" {
		m.Set("ipv6", []any{"::1", v6})
	}
	return m
}

func TestConnected(t *testing.T) {
	cache := fakeCache{"far": grains("192.0.2.7", ""), "gone": grains("10.9.9.9", ""), "six": grains("", "2001:db8::5"),
		"here": grains("198.51.100.1", ""), "other": grains("192.0.2.8", ""), "none": nil}
	peers := func() ([]Conn, error) {
		a, err := parse(strings.NewReader(table))
		if err != nil {
			return nil, err
		}
		b, err := parse(strings.NewReader(table6))
		return append(a, b...), err
	}
	local := func() ([]netip.Addr, error) {
		return []netip.Addr{loop4, netip.MustParseAddr("198.51.100.1"), netip.MustParseAddr("2001:db8::9")}, nil
	}
	for _, tt := range []struct {
		name         string
		port, remote int
		want         map[string]string
	}{
		{"publish port", 4505, 0, map[string]string{"far": "192.0.2.7", "six": "2001:db8::5", "here": "198.51.100.1"}},
		{"request port", 4506, 0, map[string]string{"other": "192.0.2.8"}},
		{"nobody", 99, 0, map[string]string{}},
		{"remote port too", 4506, 54322, map[string]string{"other": "192.0.2.8", "here": "198.51.100.1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &Finder{Cache: cache, Port: tt.port, RemotePort: tt.remote, Peers: peers, Local: local}
			got, err := f.Connected()
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestEstablished reads the tables of the machine the test runs on.
func TestEstablished(t *testing.T) {
	if _, err := Established(); err != nil {
		t.Error(err)
	}
	if _, err := interfaceAddrs(); err != nil {
		t.Error(err)
	}
}
