package attack

import (
	"os"
	"path/filepath"
	"testing"

	"brine/wire/payload"
)

// texts maps all files below the directories of a site that must not change on their own to their contents.
func (s *site) texts() map[string]string {
	s.t.Helper()
	out := map[string]string{}
	for _, dir := range []string{s.path("m/etc"), s.path("etc"), s.cache("tokens"), s.cache("sessions")} {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				text, _ := os.ReadFile(path)
				out[path] = string(text)
			}
			return nil
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return out
}

// wheelUser may call every wheel and runner function that this file attacks. That is much, but less than access
// to the files of the master's user.
const wheelUser = `external_auth:
  sharedsecret:
    keeper: ['@wheel', '@runner']
sharedsecret: OpenSesame
`

// TestTraversalOfKeys names files outside the folders of keys in every argument of the wheel functions.
func TestTraversalOfKeys(t *testing.T) {
	s := newSite(t, wheelUser)
	s.write(s.path("outside/victim"), "do not touch")
	s.write(s.path("outside/victim.pub"), "do not touch")
	before := s.texts()
	m := payload.M
	names := []any{"master.pem", "../master.pem", "../../../../../../../" + s.path("outside/victim"),
		s.path("outside/victim"), "..", ".", "", "a\nb", "a\x00b"}
	var loads []*payload.Map
	wheel := func(fun string, arg []any, kw *payload.Map) {
		loads = append(loads, m("cmd", "wheel", "fun", fun, "kwarg", m("arg", arg, "kwarg", kw)))
	}
	for _, status := range []string{".", "..", "/", "", "local", "minions/..", "../../../../../../outside",
		s.path("outside"), "minions\x00", "minions_autosign"} {
		for _, fun := range []string{"key.delete_dict", "key.accept_dict", "key.reject_dict"} {
			wheel(fun, []any{m(status, names)}, nil)
		}
	}
	for _, status := range []string{"minions", "minions_pre", "minions_rejected", "minions_denied"} {
		for _, name := range names {
			for _, fun := range []string{"key.delete_dict", "key.accept_dict", "key.reject_dict"} {
				wheel(fun, []any{m(status, []any{name})}, m("include_denied", true))
			}
		}
	}
	for _, name := range names {
		for _, fun := range []string{"key.delete", "key.accept", "key.reject", "key.print", "key.finger"} {
			wheel(fun, []any{name}, nil)
			wheel(fun, []any{[]any{name, int64(1), nil, m("a", "b")}}, nil)
		}
		if name != "" && name != "master.pem" { // names that may be made
			wheel("key.gen_keys", []any{s.pki("made"), name}, nil)
			wheel("key.gen_accept", []any{name}, m("force", true))
		}
		wheel("config.update_config", []any{"../" + name.(string), m("a", "b")}, nil)
		wheel("config.update_config", []any{name.(string) + "/../../x\n", m("a", "b")}, nil)
	}
	for _, dir := range []string{s.path("outside"), s.pki("../outside"), s.pki("minions"), s.pki("minions_autosign"),
		"relative", "/etc/cron.d"} {
		wheel("key.gen_keys", []any{dir, "evil"}, nil)
		wheel("key.gen_signature", []any{"", "", dir}, m("auto_create", true))
		wheel("key.gen_signature", []any{dir + "/victim", dir + "/victim.pub", dir}, nil)
	}
	wheel("key.gen", nil, m("keysize", int64(1<<30)))
	for _, bank := range []string{"tokens", "sessions", "jobs", "grains/../tokens", "speakers", "resources",
		"grains/../resources", "../../../../outside", ".", ".root_key", s.path("outside")} {
		for _, fun := range []string{"cache.flush", "cache.list"} {
			loads = append(loads, m("cmd", "runner", "fun", fun, "kwarg", m("bank", bank)))
		}
		loads = append(loads, m("cmd", "runner", "fun", "cache.store", "kwarg", m("bank", bank, "key", "victim", "data",
			"x")))
	}
	ask := s.stranger()
	for _, load := range loads {
		v, err := ask.ask(as("keeper", load))
		if err != nil {
			t.Fatalf("%v: %v", load, err)
		}
		if data := v.(*payload.Map).Map("data"); load.Str("fun") == "key.print" && data.Map("return").Len() > 0 {
			t.Errorf("%v shows %v", load, data.Value("return"))
		}
	}
	s.good() // the runners have had time to run
	after := s.texts()
	for path, text := range before {
		if got, ok := after[path]; !ok || got != text {
			t.Errorf("%s has changed or gone (it is there: %v)", path, ok)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			t.Errorf("%s has come", path)
		}
	}
	for _, name := range []string{"victim", "victim.pub"} {
		if text, _ := os.ReadFile(s.path("outside/" + name)); string(text) != "do not touch" {
			t.Errorf("outside/%s: %q", name, text)
		}
	}
	if left, _ := os.ReadDir(s.path("outside")); len(left) != 2 {
		t.Errorf("outside: %v", left)
	}
}
