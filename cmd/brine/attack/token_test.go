package attack

import (
	"math"
	"os"
	"strings"
	"testing"

	"brine/wire/payload"
)

// tokenConf has a user who may choose the lifetime of tokens, and one who may not.
const tokenConf = `external_auth:
  sharedsecret:
    limited: ['test.echo', '@test']
    chooser: ['test.echo']
sharedsecret: OpenSesame
token_expire: 3600
token_expire_user_override: {sharedsecret: [chooser]}
`

// token makes a token for a user. It is nil if the master issues none.
func (s *site) token(user string, more *payload.Map) *payload.Map {
	s.t.Helper()
	load := as(user, payload.M("cmd", payload.CmdMkToken))
	load.Update(more)
	v, err := s.stranger().ask(load)
	if err != nil {
		s.t.Fatal(err)
	}
	m, _ := v.(*payload.Map)
	return m
}

// withToken runs a runner function with a token.
func (s *site) withToken(token any) (refused bool) {
	s.t.Helper()
	v, err := s.stranger().ask(payload.M("cmd", "runner", "fun", "test.arg", "kwarg", payload.M("arg", []any{"x"},
		"kwarg", payload.NewMap(0)), "token", token))
	if err != nil {
		s.t.Fatal(err)
	}
	m, _ := v.(*payload.Map)
	return !m.Has("jid")
}

// TestTokenLife uses invalid tokens, names of other users' files, expired tokens, and tokens that outlive their
// user.
func TestTokenLife(t *testing.T) {
	s := newSite(t, tokenConf)
	good := s.token("limited", nil)
	if good.Str("token") == "" || s.withToken(good.Str("token")) {
		t.Fatal("an honest token is refused")
	}
	for _, bad := range []any{"", "x", strings.Repeat("0", 64), good.Str("token")[:63], good.Str("token") + "0",
		strings.ToUpper(good.Str("token")), "../tokens/" + good.Str("token"), "./" + good.Str("token"),
		good.Str("token") + "\x00", good.Str("token") + "/", "../.root_key", []any{good.Str("token")}, nil, int64(1),
		true, strings.Repeat("a", 1<<20)} {
		if !s.withToken(bad) && bad != any(strings.ToUpper(good.Str("token"))) {
			t.Errorf("the token %.80q is taken", bad)
		}
	}
	for name, life := range map[string]any{"for ever": 1e300, "not a number": "x", "negative": int64(-1)} {
		tok := s.token("limited", payload.M("token_expire", life))
		if got := tok.Value("expire").(float64) - tok.Value("start").(float64); got != 3600 {
			t.Errorf("%s: a token lives for %v s", name, got)
		}
	}
	nan := s.token("chooser", payload.M("token_expire", math.NaN()))
	if start, _ := nan.Value("start").(float64); nan.Str("token") != "" &&
		!(nan.Value("expire").(float64) <= start+3600) {
		t.Errorf("a token without end: %v", nan.Value("expire"))
	}
	if v := s.publishAs("limited", honest, "list", "test.echo", []any{"x"}, func(_, kw *payload.Map) {
		for _, k := range []string{"eauth", "username", "password"} {
			kw.Delete(k)
		}
		kw.Set("token", good.Str("token"))
	}); !published(v) {
		t.Errorf("a publication by token: %v", v)
	}
	s.tokenOutlives(good.Str("token"))
	s.good()
}

// tokenOutlives removes the user, and then the whole backend, from external_auth. The user's token becomes
// invalid.
func (s *site) tokenOutlives(token string) {
	s.t.Helper()
	for _, conf := range []string{strings.Replace(tokenConf, "    limited: ['test.echo', '@test']\n", "", 1),
		"sharedsecret: OpenSesame\n"} {
		s.master.stop()
		s.writeMaster(conf)
		s.startMaster()
		if !s.withToken(token) {
			s.t.Error("a token is good for a user who has gone")
		}
		v := s.publishAs("limited", honest, "list", "saltutil.find_job", []any{"20200101000000000000"},
			func(_, kw *payload.Map) {
				kw.Delete("eauth")
				kw.Set("token", token)
			})
		if published(v) {
			s.t.Error("the token of a user who has gone asks for the jobs of others")
		}
	}
}

// TestTokenFiles checks the content of token files, and that a damaged one is invalid.
func TestTokenFiles(t *testing.T) {
	s := newSite(t, tokenConf)
	tok := s.token("limited", nil)
	file := s.cache("tokens/" + tok.Str("token"))
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("token file: %v, %v", info, err)
	}
	if err := os.WriteFile(file, []byte("no msgpack"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !s.withToken(tok.Str("token")) {
		t.Error("a damaged token is taken")
	}
	s.good()
}
