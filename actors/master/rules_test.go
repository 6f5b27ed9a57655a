package master

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/config"
	"brine/modules/eauth"
	"brine/wire/payload"
)

// noLogins takes the service away that decides about log-ins: what asks for it panics.
func (r *rig) noLogins() {
	without := *r.m.core.rules.Load()
	without.Eauth = nil
	r.m.core.rules.Store(&without)
}

// reload writes lines over those of the configuration file and puts the rules in it in force.
func (r *rig) reload(conf ...string) {
	r.t.Helper()
	path := filepath.Join(r.dir, "etc/master")
	lines := overridden(strings.Split(strings.TrimSpace(r.read(path)), "\n"), conf)
	r.write("etc/master", strings.Join(lines, "\n")+"\n", 0o644)
	cfg, err := config.LoadMaster(path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.m.Reload(cfg)
}

// TestReload: the next request after a reload is judged by the new rules, whichever kind they are.
func TestReload(t *testing.T) {
	r := newRig(t, `external_auth: {sharedsecret: {limited: [test.ping]}}`, "sharedsecret: OpenSesame",
		"client_acl_verify: false", "publisher_acl: {ann: [test.ping]}", "nodegroups: {web: 'L@m1'}",
		"peer: {m1: [test.ping]}")
	r.accept("m1", "minion")
	r.accept("m2", "minion")
	annKey := r.read(filepath.Join(r.cfg.CacheDir, ".ann_key"))
	minion := r.minion("m1")
	ann := func() bool {
		reply, _ := r.clear(r.publishLoad(payload.M("user", "ann", "key", annKey))).(*payload.Map)
		return reply.Has("load")
	}
	limited := func(fun string) bool { return r.publishAs("limited", fun, "", nil).Has("load") }
	token := func() any {
		return r.clear(payload.M("cmd", "mk_token", "eauth", "sharedsecret", "username", "limited", "password",
			"OpenSesame"))
	}
	old, _ := token().(*payload.Map)
	byToken := func() bool {
		load := r.publishLoad(payload.M("kwargs", payload.M("token", old.Str("token"))))
		load.Delete("key")
		reply, _ := r.clear(load).(*payload.Map)
		return reply.Has("load")
	}
	group := func() any {
		reply, _ := r.clear(r.publishLoad(payload.M("tgt", "web", "tgt_type", "nodegroup"))).(*payload.Map)
		return reply.Map("load").Value("minions")
	}
	peer := func() bool {
		v := minion.ask(cmd("minion_pub", "tgt", "*", "fun", "test.ping", "arg", []any{}, "ret", "", "tmo", 5, "form",
			"full"))
		m, _ := v.(*payload.Map)
		return m.Len() > 0
	}
	check := func(when string, wantAnn, wantPing, wantEcho, wantToken, wantPeer bool, wantGroup ...any) {
		t.Helper()
		equal(t, when+": ann", ann(), wantAnn)
		equal(t, when+": test.ping", limited("test.ping"), wantPing)
		equal(t, when+": test.echo", limited("test.echo"), wantEcho)
		equal(t, when+": token", byToken(), wantToken)
		equal(t, when+": peer", peer(), wantPeer)
		equal(t, when+": node group", group(), wantGroup)
	}
	check("before", true, true, false, true, true, "m1")
	r.reload(`external_auth: {sharedsecret: {limited: [test.echo]}}`, "publisher_acl: {bob: [test.ping]}",
		"nodegroups: {web: 'L@m1,m2'}", "peer: {}")
	check("withdrawn", false, false, true, false, false, "m1", "m2")
	r.reload(`external_auth: {sharedsecret: {limited: [test.ping]}}`, "publisher_acl: {ann: [test.ping]}",
		"nodegroups: {web: 'L@m1'}", "peer: {m1: [test.ping]}")
	check("given back", true, true, false, true, true, "m1")
}

// TestReloadOfKeys: root makes key files for new users; a master that runs as somebody else makes none, goes on with
// the keys that it has, and names the users without one.
func TestReloadOfKeys(t *testing.T) {
	r := newRig(t)
	key := func(user string) string { return filepath.Join(r.cfg.CacheDir, "."+user+"_key") }
	cfg := *r.cfg
	cfg.ClientACLVerify = false
	cfg.PublisherACL = payload.M("ann", []any{"test.ping"}, "bob", []any{"test.ping"})
	have := eauth.Keys{userName(): r.rootKey(), "ann": "of ann"}

	got := localKeys(&cfg, have, false, r.log.Logger())
	if len(got) != 2 || got["ann"] != "of ann" || got[userName()] != r.rootKey() {
		t.Errorf("without root: got keys of %d users", len(got))
	}
	for _, user := range []string{"ann", "bob"} {
		if _, err := os.Stat(key(user)); err == nil {
			t.Errorf("a key file of %s was made", user)
		}
	}
	r.log.Await(t, "publisher_acl names user bob")
	if strings.Contains(strings.Join(r.log.Lines(), "\n"), "user ann, who has no key") {
		t.Error("ann has a key")
	}
	got = localKeys(&cfg, have, true, r.log.Logger())
	if got["bob"] == "" || got["bob"] != r.read(key("bob")) || got[userName()] != r.rootKey() {
		t.Errorf("as root: got keys of %d users", len(got))
	}
}
