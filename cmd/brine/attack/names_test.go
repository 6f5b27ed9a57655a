package attack

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/payload"
)

// telltale is in every name of TestLongNames, so that the test can find stored names.
const telltale = "longname"

// TestLongNames: names longer than any of Salt's are not stored, not logged as a whole, not shown, and not kept
// in memory. They come from a stranger in clear and from a thief of a minion's key, in each field, as text and
// as bytes.
func TestLongNames(t *testing.T) {
	s := newSite(t, "external_auth: {sharedsecret: {ann: ['.*', '@runner', '@wheel']}}\nfile_recv: True\npeer: "+
		"{'.*': ['test.*']}\n")
	th, p := s.thief("thief", nil), s.stranger()
	before, err := s.master.rss()
	if err != nil {
		t.Fatal(err)
	}
	e := s.listen()
	long := strings.Repeat(telltale, 64<<10)
	// the last form is longer than any name except a tag may be
	forms := []any{long, []byte(long), strings.Repeat(telltale, 2<<10)}
	ret := payload.M("cmd", payload.CmdReturn, "id", "thief", "jid", "20260101000000000001", "fun", "test.ping",
		"return", true, "retcode", 0)
	event := payload.M("cmd", payload.CmdMinionEvent, "id", "thief", "tag", "x", "data", payload.NewMap(0))
	for _, f := range []struct {
		load   *payload.Map
		fields []string
	}{
		{ret, []string{"cmd", "jid", "fun", "id", "resource_id", "master_id"}},
		{event, []string{"tag", "pretag"}},
		{payload.M("cmd", payload.CmdFileList, "saltenv", "base"), []string{"saltenv"}},
		{payload.M("cmd", payload.CmdServeFile, "saltenv", "base", "path", "x", "loc", 0), []string{"saltenv", "path"}},
		{payload.M("cmd", payload.CmdMineGet, "tgt", "*", "fun", "test.ping", "tgt_type", "glob"),
			[]string{"fun", "tgt_type"}},
		{payload.M("cmd", payload.CmdMinionPub, "tgt", "*", "fun", "test.ping", "arg", []any{}, "ret", "", "tgt_type",
			"glob"), []string{"fun", "tgt_type", "ret", "jid"}},
		{payload.M("cmd", payload.CmdPubRet, "jid", "20260101000000000001"), []string{"jid"}},
		{payload.M("cmd", payload.CmdFileRecv, "path", []any{"x"}, "loc", 0, "data", []byte("x")), []string{"path"}},
	} {
		for _, field := range f.fields {
			for _, v := range forms {
				load := f.load.Clone().Set(field, v)
				if field == "path" && f.load.Str("cmd") == payload.CmdFileRecv {
					load.Set(field, []any{v})
				}
				_, _ = th.do(load) // most are refused; the effects are checked below
				_, _ = p.ask(load)
			}
		}
	}
	for _, v := range forms {
		_, _ = th.do(payload.M("cmd", payload.CmdMinionEvent, "id", "thief", "events",
			[]any{payload.M("tag", v, "data", payload.NewMap(0))}))
		_, _ = th.do(payload.M("cmd", payload.CmdRegisterResources, "resources", payload.M("x", []any{v})))
		for _, load := range []*payload.Map{
			payload.M("cmd", payload.CmdGetToken, "token", v),
			payload.M("cmd", payload.CmdPublish, "user", "ann", "fun", "test.ping", "tgt", "*", "arg", []any{},
				"kwargs", payload.M("token", v)),
			as("ann", payload.M("cmd", payload.CmdPublish, "user", "ann", "fun", "test.ping", "tgt", "*", "arg",
				[]any{}, "ret", "", "jid", v)),
			payload.M("cmd", payload.CmdMkToken, "eauth", v, "username", "ann", "password", "x"),
			payload.M("cmd", payload.CmdMkToken, "eauth", "sharedsecret", "username", v, "password", "x"),
			payload.M("cmd", payload.CmdRunner, "eauth", "sharedsecret", "username", "ann", "password", "x", "fun", v),
			payload.M("cmd", payload.CmdWheel, "token", "x", "fun", v),
		} {
			_, _ = p.ask(load)
		}
	}
	s.good()
	s.keepsNoName(e)
	s.grown(before, 300<<20)
}

// keepsNoName searches for long names in the log, on the bus, and among the files of the master.
func (s *site) keepsNoName(e *ear) {
	s.t.Helper()
	whole := strings.Repeat(telltale, 2<<10)
	for line := range strings.Lines(s.logOf(s.master)) {
		if strings.Contains(line, strings.Repeat(telltale, 600)) {
			s.t.Errorf("a line of the log: %.300q", line)
		}
	}
	for _, h := range e.all() {
		text := h.tag
		if h.tag != "x" { // a thief's own event may contain any text, limited by quotas
			text += fmt.Sprint(h.data)
		}
		if strings.Contains(text, whole) {
			s.t.Errorf("an event: %.100q %.300q", h.tag, fmt.Sprint(h.data))
		}
	}
	err := filepath.WalkDir(s.path("m"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.Contains(d.Name(), telltale) {
			s.t.Errorf("a file: %.300s", strings.TrimPrefix(path, s.root))
		}
		return nil // it was removed meanwhile
	})
	if err != nil {
		s.t.Error(err)
	}
}
