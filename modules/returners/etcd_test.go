package returners

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/wire/payload"
	"brine/wire/python"

	"github.com/google/go-cmp/cmp"
)

// etcdServerAt starts an etcd with both APIs, and gives its port.
func etcdServerAt(t testing.TB) int64 {
	t.Helper()
	ports := []int{freePort(t), freePort(t)}
	client, peer := fmt.Sprintf("http://127.0.0.1:%d", ports[0]), fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	startStore(t, func() error {
		answer, err := http.Get(client + "/health")
		if err != nil {
			return err
		}
		if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
			return fmt.Errorf("%d, %v", answer.StatusCode, err)
		}
		return nil
	}, "etcd", "--data-dir", t.TempDir(), "--enable-v2", "--listen-client-urls", client, "--advertise-client-urls",
		client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer,
		"--logger", "zap", "--log-outputs", "stderr")
	return int64(ports[0])
}

// etcdOpts are the options for a server: of version 2, of version 3, of version 3 without msgpack.
func etcdOpts(port int64, kind string) *payload.Map {
	profile := payload.M("etcd.host", "127.0.0.1", "etcd.port", port)
	switch kind {
	case "v3":
		profile.Set("etcd.require_v2", false)
	case "v3 plain":
		profile.Set("etcd.require_v2", false).Set("etcd.encode_values", false)
	}
	return payload.M("etcd.returner", "my", "my", profile, "etcd.returner_root", "/"+strings.ReplaceAll(kind, " ",
		"")+"/return")
}

var etcdKinds = []string{"v2", "v3", "v3 plain"}

// etcdCan says that names can be parts of keys and, without msgpack, that Salt can write the value.
func etcdCan(kind string, v any) bool {
	text := outputters.JSON(v)
	return !strings.Contains(v.(*payload.Map).Str("id"), "/") &&
		(kind != "v3 plain" || strings.IndexFunc(text, func(r rune) bool {
			return r > 127
		}) < 0)
}

func etcdFill(t *testing.T, kind string, call func(fun string, args ...any)) {
	for _, ret := range testFile(t, "returns.json").([]any) {
		if etcdCan(kind, ret) {
			call("etcd.returner", ret)
		}
	}
	for _, l := range testFile(t, "loads.json").([]any) {
		l := l.(*payload.Map)
		if !etcdCan(kind, l) {
			continue
		}
		call("etcd.save_load", l.Value("jid"), l.Value("load"), []any{"web1"})
	}
}

// etcdReads are the questions to a filled server; lists have no order.
func etcdReads(kind string, ask func(fun string, args ...any) any) *payload.Map {
	out := payload.NewMap(0)
	list := func(v any) string { l := loader.StringList(v); slices.Sort(l); return python.Repr(l) }
	jids, loads := []any{"20261123093900000001", "20261123093900000004", "20261123093900000008"},
		[]any{"20261123093900000001", "20261123093900000003_77"}
	if kind != "v3 plain" {
		jids, loads = append(jids, "20261123093900000002"), append(loads, "20261123093900000002")
	}
	for _, jid := range jids {
		out.Set("get_jid "+jid.(string), ask("etcd.get_jid", jid))
	}
	for _, jid := range loads {
		out.Set("get_load "+jid.(string), ask("etcd.get_load", jid))
	}
	for _, fun := range []any{"test.ping", "test.arg", "state.apply", "none"} {
		out.Set("get_fun "+fun.(string), ask("etcd.get_fun", fun))
	}
	return out.Set("get_jids", list(ask("etcd.get_jids"))).Set("get_minions", list(ask("etcd.get_minions")))
}

// etcdDump is all that a server holds below a root, read by brine's client without its knowledge of jobs.
func etcdDump(t *testing.T, opts *payload.Map) any {
	t.Helper()
	var out any
	c := call(t, brine(t, opts).env)
	err := withEtcd(c, "", func(s *etcdServer) error {
		s.root, _, _ = strings.Cut(s.root, "/return")
		tree, err := s.tree("return")
		out = tree
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// brine leaves in etcd what Salt leaves there, and reads the same.
func TestEtcd(t *testing.T) {
	port := etcdServerAt(t)
	want := testFile(t, "etcd.json").(*payload.Map)
	for _, kind := range etcdKinds {
		opts := etcdOpts(port, kind)
		s := brine(t, opts)
		etcdFill(t, kind, func(fun string, args ...any) { s.call(fun, args...) })
		if diff := cmp.Diff(sorted(t, want.Map(kind).Value("holds")), sorted(t, etcdDump(t, opts))); diff != "" {
			t.Errorf("%s: the server holds (-Salt +brine):\n%s", kind, diff)
		}
		if diff := cmp.Diff(sorted(t, want.Map(kind).Value("reads")), sorted(t, etcdReads(kind, s.call))); diff != "" {
			t.Errorf("%s: reads (-Salt +brine):\n%s", kind, diff)
		}
		if none := s.call("etcd.get_jid", "none").(*payload.Map).Len() + s.call("etcd.get_load",
			"none").(*payload.Map).Len(); none != 0 {
			t.Errorf("%s: a job that is none has %d fields", kind, none)
		}
	}
}

// What is written goes after etcd.ttl, and needs no more than one lease.
func TestEtcdTTL(t *testing.T) {
	port := etcdServerAt(t)
	for _, kind := range []string{"v2", "v3"} {
		opts := etcdOpts(port, kind).Set("etcd.ttl", int64(5000))
		s := brine(t, opts)
		s.call("etcd.returner", ret())
		err := withEtcd(call(t, s.env), "", func(e *etcdServer) error {
			if kind == "v2" {
				node, _, err := e.node(http.MethodGet, "minions/web1", "", "")
				if ttl, _ := loader.ToInt(node.Value("ttl")); ttl < 4900 || ttl > 5000 {
					t.Errorf("%s: ttl %d", kind, ttl)
				}
				return err
			}
			leases, err := e.post("/lease/leases", payload.NewMap(0))
			if err != nil || len(leases.List("leases")) != 1 {
				t.Errorf("%s: leases %v", kind, leases)
				return err
			}
			left, err := e.post("/lease/timetolive", payload.M("ID", leases.List("leases")[0].(*payload.Map).Str("ID"),
				"keys", true))
			if ttl := left.Str("TTL"); len(ttl) != 4 || ttl < "4900" || len(left.List("keys")) != 6 {
				t.Errorf("%s: the lease %v", kind, left)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Names with slashes or dots reach no other key; a large return is refused for good.
func TestEtcdKeys(t *testing.T) {
	port := etcdServerAt(t)
	for _, kind := range []string{"v2", "v3"} {
		s := brine(t, etcdOpts(port, kind))
		for _, bad := range []*payload.Map{
			ret().Set("../../../minions/web9", "x"), ret().Set("id", ".."), ret().Set("jid", "a/b"),
			ret().Set("id", ""), ret().Set("..", int64(1)), ret().Set("a\x00b", int64(1)),
		} {
			if _, err := s.try("etcd.returner", bad); !Hopeless(err) {
				t.Errorf("%s: %v: %v", kind, bad, err)
			}
		}
		s.call("etcd.returner", ret().Set("id", "a b?c#d%2e&ü").Set("f?=&", "x"))
		if got := s.call("etcd.get_jid", "1").(*payload.Map); got.Len() != 1 || !got.Has("a b?c#d%2e&ü") {
			t.Errorf("%s: got %v", kind, got)
		}
	}
	if _, err := brine(t, etcdOpts(port, "v3")).try("etcd.returner",
		ret().Set("return", strings.Repeat("x", 3<<20))); !Hopeless(err) {
		t.Errorf("3 MiB: %v", err)
	}
}

// What is written goes by the profile for writers, loads are read by that for readers, the rest by the profile for all.
func TestEtcdProfiles(t *testing.T) {
	here, there := etcdServerAt(t), etcdServerAt(t)
	at := func(port int64) *payload.Map {
		return payload.M("etcd.host", "127.0.0.1", "etcd.port", port, "etcd.require_v2", false)
	}
	const jid = "20261123093900000001"
	opts := payload.M("here", at(here), "there", at(there), "etcd.returner", "here", "etcd.returner_write_profile",
		"there")
	brine(t, opts).call("etcd.save_load", jid, payload.M("fun", "test.ping"), []any{})
	has := func(want int, opts *payload.Map) {
		t.Helper()
		if got := brine(t, opts).call("etcd.get_load", jid).(*payload.Map).Len(); got != want {
			t.Errorf("the load has %d fields, want %d", got, want)
		}
	}
	has(0, opts)
	has(1, opts.Clone().Set("etcd.returner_read_profile", "there"))
	has(1, payload.M("there", at(there), "etcd.returner", "there"))
}

// A server that is away is asked again, and after wrong options, which may be mended. No error has the password.
func TestEtcdFails(t *testing.T) {
	const secret = "geheim"
	port := etcdServerAt(t)
	away := payload.M("etcd.port", int64(1), "etcd.username", "u", "etcd.password", secret)
	for _, tt := range []struct {
		name     string
		opts     *payload.Map
		hopeless bool
	}{
		{"away", away.Clone(), false},
		{"away, version 3", away.Clone().Set("etcd.require_v2", false), false},
		{"nobody signs in there", payload.M("etcd.port", port, "etcd.username", "u", "etcd.password", secret,
			"etcd.require_v2", false), false},
		{"no port", payload.M("etcd.port", secret), false},
		{"no profile", payload.M("etcd.returner", "none"), false},
		{"no time", payload.M("etcd.port", port, "etcd.ttl", "x"), false},
		{"no file", payload.M("etcd.port", port, "etcd.ca", "/none"), false},
	} {
		_, err := brine(t, tt.opts).try("etcd.returner", ret())
		if err == nil || Hopeless(err) != tt.hopeless || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, hopeless %t", tt.name, err, Hopeless(err))
		}
	}
	r := newRecorder(t, func(asked) (int, string) { return http.StatusNotFound, "404 page not found\n" })
	opts := payload.M("etcd.port", r.URL[strings.LastIndexByte(r.URL, ':')+1:])
	for _, fun := range []string{"etcd.get_jids", "etcd.get_minions"} {
		if _, err := brine(t, opts).try(fun); err == nil || !strings.Contains(err.Error(), "require_v2") {
			t.Errorf("a server without version 2: %v", err)
		}
	}
}
