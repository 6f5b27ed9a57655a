package master

import (
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/payload"
	"brine/wire/wiretest"
)

// TestAuthList: rules that come with a request take away what somebody may do who may do everything, and give nothing
// to anybody, whatever key comes with them.
func TestAuthList(t *testing.T) {
	r := newRig(t, "publisher_acl: {ada: ['test.*']}", "client_acl_verify: false", "sudo_acl: true",
		"external_auth: {auto: {tester: ['test.*'], nobody: []}}", "publisher_acl_fields: [auth_list]")
	r.accept("m1", "minion")
	ada := r.read(filepath.Join(r.cfg.CacheDir, ".ada_key"))
	token := r.clear(cmd("mk_token", "username", "tester", "password", "x", "eauth", "auto")).(*payload.Map).Str(
		"token")
	all := []any{".*"}
	kw := func(list any, more ...any) *payload.Map { return payload.M(more...).Set("auth_list", list) }
	as := func(user string) []any { return []any{"eauth", "auto", "username", user, "password", "x"} }
	for _, tt := range []struct {
		name string
		load *payload.Map
		want bool
	}{
		{"a syndic within them", payload.M("kwargs", kw([]any{"test.*"})), true},
		{"a syndic beyond them", payload.M("fun", "state.apply", "kwargs", kw([]any{"test.*"})), false},
		{"root of the master above", payload.M("fun", "state.apply", "kwargs", kw([]any{})), true},
		{"rules that are no list", payload.M("fun", "state.apply", "kwargs", kw(".*")), false},
		{"rules that are nothing, which are none", payload.M("fun", "state.apply", "kwargs", kw(nil)), true},
		{"a token, and the key of root", payload.M("fun", "state.apply", "kwargs", kw(all, "token", token)), false},
		{"the same within his rules", payload.M("kwargs", kw(all, "token", token)), false},
		{"a password, and the key of root", payload.M("fun", "state.apply", "kwargs", kw(all, as("tester")...)), false},
		{"somebody without rules", payload.M("kwargs", kw(all, as("nobody")...)), false},
		{"a token, and no key", payload.M("fun", "state.apply", "key", nil, "kwargs", kw(all, "token", token)), false},
		{"a user with a key", payload.M("user", "ada", "key", ada, "fun", "state.apply", "kwargs", kw(all)), false},
		{"root under sudo, with rules", payload.M("user", "sudo_ada", "fun", "state.apply", "kwargs", kw(all)), false},
		{"beside kwargs", payload.M("fun", "state.apply", "auth_list", all, "kwargs", payload.M("token", token)),
			false},
		{"within kwargs of kwargs", payload.M("fun", "state.apply", "kwargs", payload.M("token", token, "kwargs",
			kw(all))), false},
		{"in bytes", payload.M("fun", "state.apply", "kwargs", payload.M("token", token).Set(payload.Bytes("auth_list"),
			all)), false},
		{"in capitals", payload.M("fun", "state.apply", "kwargs", payload.M("token", token, "AUTH_LIST", all)), false},
	} {
		m, _ := r.clear(r.publishLoad(tt.load)).(*payload.Map)
		if got := payload.IsJID(m.Map("load").Str("jid")); got != tt.want {
			t.Errorf("%s: published %v, want %v: %s", tt.name, got, tt.want, text(m))
		}
	}
}

// TestFieldsOfUsers: of each field that code reads of a request, and of one that nobody knows, beside kwargs and in
// them: what a user with rules may not say is refused, or neither published nor told nor kept.
func TestFieldsOfUsers(t *testing.T) {
	r := newRig(t, "external_auth: {auto: {tester: ['test.*']}}")
	r.accept("m1", "minion")
	ear := r.hear()
	const mark = "said-by-a-user"
	for _, field := range append(wiretest.FieldsOfRequests(t), "of_nobody") {
		if payload.SayOfPublish(field) == payload.SayNobody {
			r.kept(ear, field, r.publishLoad(payload.M("kwargs", payload.M("eauth", "auto", "username", "tester",
				"password", "x"), field, mark)), mark)
		}
		if payload.SayOfExtras(field) != payload.SayUser {
			r.kept(ear, "kwargs: "+field, r.publishLoad(payload.M("kwargs", payload.M("eauth", "auto", "username",
				"tester", "password", "x", field, mark))), mark)
		}
	}
	for _, to := range []any{mark, int64(-1), []any{}} {
		r.kept(ear, "to", r.publishLoad(payload.M("kwargs", payload.M("eauth", "auto", "username", "tester", "password",
			"x"), "to", to)), mark)
	}
}

// kept publishes and fails where a text went into the job.
func (r *rig) kept(ear *busEar, what string, load *payload.Map, mark string) {
	r.t.Helper()
	m, _ := r.clear(load).(*payload.Map)
	jid := m.Map("load").Str("jid")
	if m.Has("error") || jid == "" {
		return
	}
	for _, tag := range []string{"new", "publish"} {
		if said := text(ear.await("salt/job/" + jid + "/" + tag)); strings.Contains(said, mark) {
			r.t.Errorf("%s: %s tells %s", what, tag, said)
		}
	}
	stored, err := payload.UnmarshalMap([]byte(r.read(filepath.Join(r.jobDir(jid), ".load.p"))))
	if err != nil || strings.Contains(text(stored), mark) {
		r.t.Errorf("%s: stored %s, %v", what, text(stored), err)
	}
}
