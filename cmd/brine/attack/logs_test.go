package attack

import (
	"strings"
	"testing"
	"unicode"

	"brine/wire/payload"
)

// TestLogLines: names from a peer make no further lines in the log, and contain nothing that a terminal obeys.
func TestLogLines(t *testing.T) {
	s := newSite(t, "")
	evil := "x\n[CRITICAL] all is lost\r\x1b[2J\u2028\u202e"
	p, th := s.stranger(), s.thief("liar", nil)
	for _, load := range []*payload.Map{
		payload.M("cmd", payload.CmdAuth, "id", evil, "nonce", evil, "pub", evil, "enc_algo", evil, "sig_algo", evil),
		payload.M("cmd", evil, "id", evil),
		payload.M("cmd", "publish", "user", evil, "fun", evil, "tgt", evil, "jid", evil, "arg", []any{}, "key", "no"),
		payload.M("cmd", "mk_token", "eauth", evil, "username", evil, "password", "no"),
	} {
		if _, err := p.ask(load); err != nil {
			t.Errorf("%s: %v", load.Str("cmd"), err)
		}
	}
	for _, load := range []*payload.Map{
		payload.M("cmd", "_return", "id", "liar", "jid", evil, "fun", evil, "return", evil, "retcode", 0, "success",
			true),
		payload.M("cmd", "_minion_event", "id", "liar", "tag", evil, "data", payload.M("x", evil)),
		payload.M("cmd", "_mine", "id", "liar", "data", payload.M(evil, evil)),
		payload.M("cmd", "_serve_file", "id", "liar", "path", evil, "saltenv", evil, "loc", 0),
		payload.M("cmd", evil, "id", "liar"),
	} {
		_, _ = th.do(load) // most are refused
	}
	s.good()
	for _, text := range []string{s.logOf(s.master), s.logOf(s.minions[honest])} {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "[CRITICAL] all is lost") || strings.ContainsFunc(strings.TrimSuffix(line, "\n"),
				func(r rune) bool {
					return unicode.IsControl(r) && r != '\t' || r == 0x2028 || r == 0x202e
				}) {
				t.Errorf("a line of the log: %q", line)
			}
		}
	}
}
