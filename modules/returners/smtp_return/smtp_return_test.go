package smtp_return

import (
	"io"
	"mime"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"brine/modules/returners"
	"brine/modules/returners/returnertest"
	"brine/wire/payload"
)

// optsOf are the options for a test server.
func optsOf(s *mailServer) *payload.Map {
	return payload.M("smtp.from", "Salt <salt@example.net>", "smtp.to", "a@example.net, Bert <b@example.net>",
		"smtp.host", "127.0.0.1", "smtp.port", int64(s.port))
}

var (
	dateLine = regexp.MustCompile(`(?m)^Date: \w\w\w, \d\d \w\w\w \d{4} \d\d:\d\d:\d\d [+-]\d{4}\r$`)
	sizeWord = regexp.MustCompile(`(?i) (size|body)=\w+`)
)

// cases gives the mails of each return under three sets of options, and of events; "error" where the returner
// failed.
func cases(t *testing.T, s *mailServer, call func(opts *payload.Map, fun string, arg any) error) []any {
	template := filepath.Join(t.TempDir(), "mail.j2")
	if err := os.WriteFile(template, []byte("Minion {{ id }}\n{% if fun is string %}ran {{ fun | upper }}{% endif "+
		"%}\n.\n..{{ fun_args }}\n\n{{ missing | default('-') }}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := optsOf(s).Set("smtp.subject", "{{ id }} of {{ jid }}").Set("smtp.template", template).Set("smtp.username",
		"user").Set("smtp.password", "word")
	var out []any
	note := func(err error) {
		var mails []any
		for _, m := range s.take() {
			var to []any
			for _, text := range m.to {
				to = append(to, text)
			}
			mails = append(mails, payload.M("from", sizeWord.ReplaceAllString(m.from, ""), "to", to, "signed in",
				m.signedIn, "text", dateLine.ReplaceAllString(m.text, "Date: then\r")))
		}
		row := payload.M("mails", mails)
		if err != nil {
			row.Set("error", true)
		}
		out = append(out, row)
	}
	for _, opts := range []*payload.Map{optsOf(s), full, optsOf(s).Set("smtp.fields",
		"id,jid,none").Set("smtp.subject", "of")} {
		for _, ret := range returnertest.Shared(t, "returns.json").([]any) {
			note(call(opts, "smtp.returner", ret))
		}
	}
	note(call(full, "smtp.event_return", []any{payload.M("tag", "a", "data", payload.M("id", "web2", "fun", "x", "jid",
		"1")), payload.M("tag", "b", "data", payload.NewMap(0)),
		payload.M("tag", "c", "data", payload.M("id", "web3", "fun", "y", "jid", "2", "fun_args", []any{int64(1)}))}))
	return out
}

func onBrine(t *testing.T) func(opts *payload.Map, fun string, arg any) error {
	return func(opts *payload.Map, fun string, arg any) error {
		_, err := brine(t, opts).Try(fun, arg)
		return err
	}
}

// brine sends the mails that Salt sends, as far as Salt can send them.
func TestSMTP(t *testing.T) {
	s := newMailServer(t, &mailServer{kinds: "LOGIN"})
	returnertest.Same(t, returnertest.File(t, "smtp.json").([]any), cases(t, s, onBrine(t)), 15)
}

// Letters that are not ASCII, long lines and zero bytes arrive.
func TestSMTPLetters(t *testing.T) {
	s := newMailServer(t, &mailServer{})
	for _, text := range []string{"größe – 日本語 🚀\n.\n..\r\nend", strings.Repeat("x", 5000), "a\x00b", "bad \xff end",
		strings.Repeat("line\n", 1000)} {
		opts := optsOf(s).Set("smtp.subject", "Größe {{ id }}").Set("smtp.template", filepath.Join(t.TempDir(), "t"))
		if err := os.WriteFile(opts.Str("smtp.template"), []byte("{{ return }}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := onBrine(t)(opts, "smtp.returner", returnertest.Ret().Set("return", text)); err != nil {
			t.Fatal(err)
		}
		got, err := mail.ReadMessage(strings.NewReader(s.take()[0].text))
		if err != nil {
			t.Fatal(err)
		}
		subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
		if err != nil || subject != "Größe web1" {
			t.Errorf("subject %q, %v", subject, err)
		}
		var body io.Reader = got.Body
		if got.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
			body = quotedprintable.NewReader(body)
		}
		b, err := io.ReadAll(body)
		want := strings.ReplaceAll(strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\ufffd"), "\n", "\r\n")
		if err != nil || strings.TrimSuffix(string(b), "\r\n") != strings.TrimSuffix(want, "\r\n") {
			t.Errorf("%.40q arrives as %.60q, %v", text, b, err)
		}
	}
}

// Values make no headers and are no templates, wherever they stand.
func TestSMTPInjection(t *testing.T) {
	s := newMailServer(t, &mailServer{})
	const evil = "x\r\nBcc: evil@example.net\r\n\r\n{{ 7 * 191 }}{% raw %}"
	opts := optsOf(s).Set("smtp.fields", "id,fun").Set("smtp.subject", "s {{ id }}").Set("root_password", "geheim")
	for _, ret := range []*payload.Map{
		payload.M("id", evil, "fun", "{{ opts }}", "jid", evil, "fun_args", []any{evil}, "return", evil),
		payload.M("id", "a", "fun", "\n.\nMAIL FROM:<x>\u2028\u0085\x00", "jid", "1", "fun_args", nil, "return",
			"\r\n.\r\nRSET\r\n"),
	} {
		if err := onBrine(t)(opts, "smtp.returner", ret); err != nil {
			t.Fatal(err)
		}
		mails := s.take()
		if len(mails) != 1 || len(mails[0].to) != 2 {
			t.Fatalf("%d mails came", len(mails))
		}
		head, _, _ := strings.Cut(mails[0].text, "\r\n\r\n")
		if lines := strings.Split(head, "\r\n"); len(lines) != 4 && len(lines) != 7 || strings.Contains(head, "\nBcc") {
			t.Errorf("the head of the mail:\n%s", head)
		}
		if strings.Contains(mails[0].text, "1337") || strings.Contains(mails[0].text, "geheim") {
			t.Errorf("a value was a template:\n%s", mails[0].text)
		}
	}
	if err := onBrine(t)(optsOf(s).Set("smtp.from", "a@b\r\nBcc: c"), "smtp.returner", returnertest.Ret()); err == nil {
		t.Errorf("a sender of two lines: %v", err)
	}
}

// Who runs a function chooses neither templates nor renderers of the minion, and an event chooses nothing.
func TestSMTPOwnOptions(t *testing.T) {
	s, evil := newMailServer(t, &mailServer{}), newMailServer(t, &mailServer{})
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("geheim"), 0o600); err != nil {
		t.Fatal(err)
	}
	kw := payload.M("template", secret, "renderer", "py", "port", int64(evil.port), "gpgowner", "root")
	if err := onBrine(t)(optsOf(s), "smtp.returner", returnertest.Ret().Set("ret_kwargs", kw)); err != nil {
		t.Fatal(err)
	}
	if got := evil.take(); len(got) != 1 || strings.Contains(got[0].text, "geheim") {
		t.Errorf("the mail to the server of ret_kwargs: %v", got)
	}
	if err := onBrine(t)(optsOf(s), "smtp.event_return",
		[]any{payload.M("tag", "a", "data", returnertest.Ret().Set("ret_kwargs", kw))}); err != nil {
		t.Fatal(err)
	}
	if own, others := len(s.take()), len(evil.take()); own != 1 || others != 0 {
		t.Errorf("an event: %d mails to the server of the options, %d to its own", own, others)
	}
}

// The password of the configuration goes to no server of ret_kwargs.
func TestSMTPGuard(t *testing.T) {
	s, evil := newMailServer(t, &mailServer{kinds: "PLAIN"}), newMailServer(t, &mailServer{kinds: "PLAIN"})
	opts := optsOf(s).Set("smtp.username", "user").Set("smtp.password", "geheim").Set("smtp.verify_ssl", false)
	for _, kw := range []*payload.Map{payload.M("port", int64(evil.port)), payload.M("host", "localhost"),
		payload.M("tls", false)} {
		if err := onBrine(t)(opts, "smtp.returner", returnertest.Ret().Set("ret_kwargs", kw)); !returners.Hopeless(err) ||
			len(evil.take()) != 0 {
			t.Errorf("%v: %v", kw, err)
		}
	}
	if err := onBrine(t)(opts, "smtp.returner", returnertest.Ret().Set("ret_kwargs", payload.M("port", int64(evil.port),
		"password", "own"))); err != nil {
		t.Error(err)
	}
	if got := evil.take(); len(got) != 1 || got[0].signedIn != "PLAIN user own" {
		t.Errorf("the other server got %v", got)
	}
}

// An event that a template cannot show keeps no other from being sent.
func TestSMTPEvents(t *testing.T) {
	s := newMailServer(t, &mailServer{})
	opts := optsOf(s).Set("smtp.subject", "{{ act }}")
	err := onBrine(t)(opts, "smtp.event_return", []any{payload.M("tag", "a", "data", payload.M("id", "a")),
		payload.M("tag", "b", "data", payload.M("act", "accept"))})
	got := s.take()
	if !returners.Hopeless(err) || len(got) != 1 || !strings.Contains(got[0].text, "Subject: accept\r\n") {
		t.Errorf("%d mails, %v", len(got), err)
	}
}

// TLS is begun where it is wanted; with a password the certificate must be good, unless verify_ssl says otherwise.
func TestSMTPSignIn(t *testing.T) {
	for _, kinds := range []string{"PLAIN LOGIN", "LOGIN", "CRAM-MD5 PLAIN"} {
		s := newMailServer(t, &mailServer{kinds: kinds, tls: certified(t)})
		opts := optsOf(s).Set("smtp.tls", true)
		if err := onBrine(t)(opts, "smtp.returner", returnertest.Ret()); err != nil {
			t.Fatal(err)
		}
		opts.Set("smtp.username", "user").Set("smtp.password", "geheim")
		if err := onBrine(t)(opts, "smtp.returner", returnertest.Ret()); err == nil || returners.Hopeless(err) ||
			strings.Contains(err.Error(), "geheim") {
			t.Errorf("a password for a server nobody knows: %v", err)
		}
		if err := onBrine(t)(opts.Set("smtp.verify_ssl", false), "smtp.returner", returnertest.Ret()); err != nil {
			t.Fatal(err)
		}
		got := s.take()
		if len(got) != 2 || !got[0].tls || got[0].signedIn != "" || !got[1].tls || !strings.Contains(got[1].signedIn,
			"user") {
			t.Errorf("%s: the server got %+v", kinds, got)
		}
	}
	s := newMailServer(t, &mailServer{kinds: "PLAIN", refuse: map[string]string{"AUTH": "535 no"}})
	err := onBrine(t)(optsOf(s).Set("smtp.username", "user").Set("smtp.password", "geheim"), "smtp.returner",
		returnertest.Ret())
	if err == nil || returners.Hopeless(err) || strings.Contains(err.Error(), "geheim") {
		t.Errorf("a wrong password: %v", err)
	}
	if err := onBrine(t)(optsOf(s).Set("smtp.tls", true), "smtp.returner", returnertest.Ret()); err == nil {
		t.Error("a server without TLS got a mail")
	}
}

// One refused recipient does not keep the mail from others; what is too large is not tried again.
func TestSMTPRefused(t *testing.T) {
	for _, tt := range []struct {
		refuse       map[string]string
		ok, hopeless bool
	}{
		{map[string]string{"RCPT TO:<a@": "550 no"}, true, false},
		{map[string]string{"RCPT": "450 later"}, false, false},
		{map[string]string{"MAIL": "452 full"}, false, false},
		{map[string]string{"MAIL": "552 too large"}, false, true},
		{map[string]string{"end of DATA": "552 too large"}, false, true},
		{map[string]string{"end of DATA": "451 later"}, false, false},
	} {
		s := newMailServer(t, &mailServer{refuse: tt.refuse})
		err := onBrine(t)(optsOf(s), "smtp.returner", returnertest.Ret())
		if (err == nil) != tt.ok || returners.Hopeless(err) != tt.hopeless || (len(s.take()) == 1) != tt.ok {
			t.Errorf("%v: %v, hopeless %t", tt.refuse, err, returners.Hopeless(err))
		}
	}
	s := newMailServer(t, &mailServer{})
	for _, name := range []string{"smtp.from", "smtp.to", "smtp.host"} {
		opts := optsOf(s)
		opts.Delete(name)
		if err := onBrine(t)(opts, "smtp.returner", returnertest.Ret()); err == nil || returners.Hopeless(err) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// With gpgowner the recipients' keys encrypt the mail; without a key for them the mail tells only that.
func TestSMTPEncrypted(t *testing.T) {
	if _, err := exec.LookPath("gpg"); err != nil {
		t.Skip("no gpg here: ", err)
	}
	home, err := os.MkdirTemp("", "g") // the path of gpg's socket must be short
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(home) }()
	keys := filepath.Join(home, ".gnupg")
	if err := os.Mkdir(keys, 0o700); err != nil {
		t.Fatal(err)
	}
	gpg := func(input string, args ...string) string {
		t.Helper()
		cmd := exec.Command("gpg", append([]string{"--homedir", keys, "--batch", "--pinentry-mode", "loopback",
			"--passphrase", ""}, args...)...)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("gpg %v: %v", args, err)
		}
		return string(out)
	}
	defer func() { _ = exec.Command("gpgconf", "--homedir", keys, "--kill", "all").Run() }()
	gpg("", "--quick-gen-key", "a@example.net", "rsa2048", "encr", "never")
	s := newMailServer(t, &mailServer{})
	env, reg := returnertest.Config(t, optsOf(s).Set("smtp.to", "a@example.net").Set("smtp.gpgowner", "somebody")),
		returnertest.Registry(Module(returners.Options{Home: func(string) string { return home }}))
	if err := returners.Return(returnertest.Call(t, env), reg, "smtp", returnertest.Ret()); err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(s.take()[0].text, "\r\n\r\n")
	if clear := gpg(body, "--decrypt"); !strings.Contains(clear, "id: web1\r\nfunction: test.ping\r\n") {
		t.Errorf("the mail holds %q", clear)
	}
	other := returnertest.Config(t, optsOf(s).Set("smtp.gpgowner", "somebody"))
	if err := returners.Return(returnertest.Call(t, other), reg, "smtp", returnertest.Ret()); err != nil {
		t.Fatal(err)
	}
	if got := s.take()[0].text; !strings.Contains(got, "Encryption failed, the return data was not sent.") ||
		strings.Contains(got, "web1") {
		t.Errorf("the mail to somebody without a key: %s", got)
	}
}

// brine is the returner with options of a minion.
func brine(t *testing.T, opts *payload.Map) *returnertest.Store {
	t.Helper()
	return returnertest.New(t, opts, Module(returners.Options{}))
}
