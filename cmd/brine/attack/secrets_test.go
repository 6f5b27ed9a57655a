package attack

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"brine/wire/client"
	"brine/wire/payload"
)

const secretsConf = `log_level: trace
log_level_logfile: trace
sharedsecret: Right-Pass-Word
external_auth:
  sharedsecret:
    dev: ['.*', '@runner', '@wheel', '@jobs']
`

// TestSecrets authenticates in every way, with right and wrong credentials. Then it searches for passwords,
// tokens and keys in the logs, on the bus, in the caches, in the bundle and in argument lists.
func TestSecrets(t *testing.T) {
	t.Parallel() // it mostly waits
	s := newSite(t, secretsConf)
	bus := s.listen()
	p := s.stranger()
	ask := func(load *payload.Map) *payload.Map {
		v, err := p.ask(load)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := v.(*payload.Map)
		return m
	}
	login := payload.M("eauth", "sharedsecret", "username", "dev", "password", "Right-Pass-Word")
	wrong := payload.M("eauth", "sharedsecret", "username", "dev", "password", "Wrong-Pass-Word")
	token := ask(login.Clone().Set("cmd", payload.CmdMkToken)).Str("token")
	if token == "" {
		t.Fatal("no token is made for the right password")
	}
	root := readText(t, s.cache("."+s.user+"_key"))
	secrets := []string{"Right-Pass-Word", "Wrong-Pass-Word", token, root}
	for _, who := range []*payload.Map{login, wrong, payload.M("token", token), payload.M("token", "f00"),
		payload.M("key", root, "user", s.user)} {
		pub := payload.M("cmd", payload.CmdPublish, "fun", "test.arg", "arg", []any{"x"}, "tgt", honest, "tgt_type",
			"glob", "ret", "", "jid", "", "user", "dev", "kwargs", who.Clone())
		if who.Has("key") {
			pub = pub.Set("kwargs", payload.NewMap(0)).Set("key", root).Set("user", s.user)
		}
		ask(pub)
		ask(pub.Clone().Set("jid", "20990101000000000001").Set("kwargs", who.Clone()))
		ask(who.Clone().Set("cmd", payload.CmdRunner).Set("fun", "test.arg").Set("kwarg", payload.M("x", "y")))
		ask(who.Clone().Set("cmd", payload.CmdWheel).Set("fun", "key.list_all"))
		ask(who.Clone().Set("cmd", payload.CmdMkToken))
		ask(who.Clone().Set("cmd", payload.CmdGetToken))
	}
	s.tool("salt", "-a", "sharedsecret", "--username", "dev", "--password", "Right-Pass-Word", honest, "test.ping")
	if _, err := s.run(patience, client.Job{Tgt: honest, Fun: "test.ping"}); err != nil {
		t.Fatal(err)
	}
	bundle := s.path("bundle.tgz")
	s.tool("brine", "bundle", bundle)
	s.good()

	for _, name := range []string{"master.pem", "minion.pem"} {
		for _, f := range s.files(".") {
			if filepath.Base(f) == name {
				secrets = append(secrets, strings.Split(readText(t, f), "\n")[3])
			}
		}
	}
	for _, f := range s.files("m/var/cache/salt/master/sessions") {
		secrets = append(secrets, strings.TrimSpace(readText(t, f)))
	}
	for _, h := range bus.all() {
		lookFor(t, "event "+h.tag, fmt.Append(nil, h.data), secrets)
	}
	lookFor(t, "the bundle", unzipped(t, bundle), secrets)
	for _, f := range s.files(".") {
		if !keepsSecrets(s, f) {
			lookFor(t, strings.TrimPrefix(f, s.root), []byte(readText(t, f)), secrets)
		}
	}
	for _, d := range s.daemons() {
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", d.cmd.Process.Pid))
		lookFor(t, "arguments of "+d.name, args, secrets)
	}
}

// keepsSecrets tells whether a file is a place for secrets.
func keepsSecrets(s *site, f string) bool {
	dirs := []string{s.path("etc"), s.cache("tokens"), s.cache("sessions")}
	return strings.HasSuffix(f, ".pem") || strings.HasSuffix(f, "_key") ||
		slices.ContainsFunc(dirs, func(dir string) bool { return strings.HasPrefix(f, dir+"/") })
}

// lookFor fails the test for each secret in a text, in plain form or in hex.
func lookFor(t *testing.T, where string, text []byte, secrets []string) {
	t.Helper()
	for i, secret := range secrets {
		if len(secret) < 8 {
			t.Fatalf("secret %d is too short to look for", i)
		}
		if bytes.Contains(text, []byte(secret)) || bytes.Contains(text, []byte(hex.EncodeToString([]byte(secret)))) {
			t.Errorf("%s holds secret %d (%.4s...)", where, i, secret)
		}
	}
}

func unzipped(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || len(text) < 1000 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	return text
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
