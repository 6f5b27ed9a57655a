package etcd_return

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"brine/modules/loader"
	"brine/modules/outputters"
	"brine/modules/returners"
	"brine/modules/returners/returnertest"
	"brine/wire/payload"
	"brine/wire/python"

	"github.com/google/go-cmp/cmp"
)

// startEtcd starts an etcd with both APIs, and gives its port.
func startEtcd(t testing.TB) int64 {
	t.Helper()
	ports := []int{returnertest.FreePort(t), returnertest.FreePort(t)}
	client, peer := fmt.Sprintf("http://127.0.0.1:%d", ports[0]), fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	returnertest.StartServer(t, func() error {
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

// optsOf are the options for a server: of version 2, of version 3, of version 3 without msgpack.
func optsOf(port int64, kind string) *payload.Map {
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

var kinds = []string{"v2", "v3", "v3 plain"}

// can says that names can be parts of keys and, without msgpack, that Salt can write the value.
func can(kind string, v any) bool {
	text := outputters.JSON(v)
	return !strings.Contains(v.(*payload.Map).Str("id"), "/") &&
		(kind != "v3 plain" || strings.IndexFunc(text, func(r rune) bool {
			return r > 127
		}) < 0)
}

func fill(t *testing.T, kind string, call func(fun string, args ...any)) {
	for _, ret := range returnertest.Shared(t, "returns.json").([]any) {
		if can(kind, ret) {
			call("etcd.returner", ret)
		}
	}
	for _, l := range returnertest.Shared(t, "loads.json").([]any) {
		l := l.(*payload.Map)
		if !can(kind, l) {
			continue
		}
		call("etcd.save_load", l.Value("jid"), l.Value("load"), []any{"web1"})
	}
}

// reads are the questions to a filled server; lists have no order.
func reads(kind string, ask func(fun string, args ...any) any) *payload.Map {
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

// dump is all that a server holds below a root, read by brine's client without its knowledge of jobs.
func dump(t *testing.T, opts *payload.Map) any {
	t.Helper()
	var out any
	c := returnertest.Call(t, brine(t, opts).Env)
	err := with(c, "", func(s *server) error {
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
	port := startEtcd(t)
	want := returnertest.File(t, "etcd.json").(*payload.Map)
	for _, kind := range kinds {
		opts := optsOf(port, kind)
		s := brine(t, opts)
		fill(t, kind, func(fun string, args ...any) { s.Call(fun, args...) })
		if diff := cmp.Diff(returnertest.Sorted(t, want.Map(kind).Value("holds")), returnertest.Sorted(t, dump(t,
			opts))); diff != "" {
			t.Errorf("%s: the server holds (-Salt +brine):\n%s", kind, diff)
		}
		if diff := cmp.Diff(returnertest.Sorted(t, want.Map(kind).Value("reads")), returnertest.Sorted(t, reads(kind,
			s.Call))); diff != "" {
			t.Errorf("%s: reads (-Salt +brine):\n%s", kind, diff)
		}
		if none := s.Call("etcd.get_jid", "none").(*payload.Map).Len() + s.Call("etcd.get_load",
			"none").(*payload.Map).Len(); none != 0 {
			t.Errorf("%s: a job that is none has %d fields", kind, none)
		}
	}
}

// What is written goes after etcd.ttl, and needs no more than one lease.
func TestEtcdTTL(t *testing.T) {
	port := startEtcd(t)
	for _, kind := range []string{"v2", "v3"} {
		opts := optsOf(port, kind).Set("etcd.ttl", int64(5000))
		s := brine(t, opts)
		s.Call("etcd.returner", returnertest.Ret())
		err := with(returnertest.Call(t, s.Env), "", func(e *server) error {
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
	port := startEtcd(t)
	for _, kind := range []string{"v2", "v3"} {
		s := brine(t, optsOf(port, kind))
		for _, bad := range []*payload.Map{
			returnertest.Ret().Set("../../../minions/web9", "x"), returnertest.Ret().Set("id", ".."),
			returnertest.Ret().Set("jid", "a/b"),
			returnertest.Ret().Set("id", ""), returnertest.Ret().Set("..", int64(1)), returnertest.Ret().Set("a\x00b", int64(1)),
		} {
			if _, err := s.Try("etcd.returner", bad); !returners.Hopeless(err) {
				t.Errorf("%s: %v: %v", kind, bad, err)
			}
		}
		s.Call("etcd.returner", returnertest.Ret().Set("id", "a b?c#d%2e&ü").Set("f?=&", "x"))
		if got := s.Call("etcd.get_jid", "1").(*payload.Map); got.Len() != 1 || !got.Has("a b?c#d%2e&ü") {
			t.Errorf("%s: got %v", kind, got)
		}
	}
	if _, err := brine(t, optsOf(port, "v3")).Try("etcd.returner",
		returnertest.Ret().Set("return", strings.Repeat("x", 3<<20))); !returners.Hopeless(err) {
		t.Errorf("3 MiB: %v", err)
	}
}

// What is written goes by the profile for writers, loads are read by that for readers, the rest by the profile for all.
func TestEtcdProfiles(t *testing.T) {
	here, there := startEtcd(t), startEtcd(t)
	at := func(port int64) *payload.Map {
		return payload.M("etcd.host", "127.0.0.1", "etcd.port", port, "etcd.require_v2", false)
	}
	const jid = "20261123093900000001"
	opts := payload.M("here", at(here), "there", at(there), "etcd.returner", "here", "etcd.returner_write_profile",
		"there")
	brine(t, opts).Call("etcd.save_load", jid, payload.M("fun", "test.ping"), []any{})
	has := func(want int, opts *payload.Map) {
		t.Helper()
		if got := brine(t, opts).Call("etcd.get_load", jid).(*payload.Map).Len(); got != want {
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
	port := startEtcd(t)
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
		_, err := brine(t, tt.opts).Try("etcd.returner", returnertest.Ret())
		if err == nil || returners.Hopeless(err) != tt.hopeless || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, hopeless %t", tt.name, err, returners.Hopeless(err))
		}
	}
	r := returnertest.NewRecorder(t, func(returnertest.Asked) (int, string) {
		return http.StatusNotFound,
			"404 page not found\n"
	})
	opts := payload.M("etcd.port", r.URL[strings.LastIndexByte(r.URL, ':')+1:])
	for _, fun := range []string{"etcd.get_jids", "etcd.get_minions"} {
		if _, err := brine(t, opts).Try(fun); err == nil || !strings.Contains(err.Error(), "require_v2") {
			t.Errorf("a server without version 2: %v", err)
		}
	}
}

// brine is the returner with options of a minion.
func brine(t *testing.T, opts *payload.Map) *returnertest.Store {
	t.Helper()
	return returnertest.New(t, opts, Module())
}
