package execution_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"brine/config"
	"brine/modules/loader"
	"brine/modules/modtest"
	"brine/modules/outputters"
	"brine/modules/text/args"
	"brine/wire/payload"
	"brine/wire/python/shlex"
)

// answer is what a call came to, in the form in which both sides are compared.
type answer struct {
	Return  json.RawMessage `json:"return,omitempty"`
	Retcode json.RawMessage `json:"retcode,omitempty"`
	Class   string          `json:"class,omitempty"`
	Error   string          `json:"error,omitempty"`
	Log     []string        `json:"log"`
}

func (a answer) String() string {
	return fmt.Sprintf("return %s retcode %s class %s error %s log %s", oneSpelling(a.Return), a.Retcode, a.Class,
		a.Error, strings.Join(a.Log, " | "))
}

// oneSpelling writes JSON without blanks and without escapes that are not needed.
func oneSpelling(raw []byte) string {
	var out bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return out.String()
		}
		fmt.Fprintf(&out, "%v ", quoted(tok))
	}
}

func quoted(tok json.Token) any {
	if s, ok := tok.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return tok
}

type oneCall struct {
	fun   string
	words []string
	mark  byte // '~': the result may differ, '@': it depends on the host, 0: neither
}

// inDir puts the configuration directory in the place of DIR.
func inDir(words []string, dir string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strings.ReplaceAll(w, "DIR", dir)
	}
	return out
}

func readCalls(t *testing.T, file string) []oneCall {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []oneCall
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		mark := byte(0)
		if line[0] == '~' || line[0] == '@' {
			mark, line = line[0], line[1:]
		}
		words, err := shlex.Split(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, oneCall{words[0], words[1:], mark})
	}
	return out
}

func confDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	conf := fmt.Sprintf("id: web1\nmaster: 127.0.0.1\nroot_dir: %s/root\nfile_client: local\nenable_fqdns_grains: "+
		"False\n", dir)
	for name, text := range map[string]string{"minion": conf, "script.sh": "#!/bin/sh\necho \"$0 $1\" | sed " +
		"'s,.*/,,'\nexit 6\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func runHere(t *testing.T, env *loader.Env, log *modtest.Log, c oneCall) answer {
	t.Helper()
	before := len(log.Lines())
	var out answer
	v, code, err := call(t, env, c)
	if err != nil {
		class := loader.ClassOf(err)
		out.Class, out.Error = class[strings.LastIndexByte(class, '.')+1:], loader.Message(err)
	} else {
		out.Return = json.RawMessage(outputters.JSON(v))
		out.Retcode, _ = json.Marshal(code)
	}
	for _, line := range log.Lines()[before:] {
		level, text, _ := strings.Cut(line, " ")
		switch level {
		case slog.LevelWarn.String():
			out.Log = append(out.Log, "WARNING "+text)
		case slog.LevelError.String():
			out.Log = append(out.Log, line)
		case slog.Level(12).String():
			out.Log = append(out.Log, "CRITICAL "+text)
		}
	}
	return out
}

func call(t *testing.T, env *loader.Env, c oneCall) (any, int, error) {
	t.Helper()
	f, ok := env.Registry.Lookup(c.fun)
	if !ok {
		t.Fatalf("no function %s", c.fun)
	}
	load := payload.M("fun", c.fun, "pid", int64(1), "jid", "20261121000000000001", "tgt", "salt-call")
	list, kw, err := loader.LoadArgs(f, args.Parse(c.words, nil), load)
	if err != nil {
		return nil, 0, err
	}
	bound, err := loader.Bind(f, list, kw)
	if err != nil {
		return nil, 0, err
	}
	mc := loader.NewCall(t.Context(), env, c.fun, load)
	v, err := f.Run(mc, bound)
	return v, mc.Retcode(), err
}

// samePID compares results that differ in process ids and run times only.
func samePID(a, b string) bool { return blank(a) == blank(b) }

var temporaryName = regexp.MustCompile(`__salt\.tmp\.\w+`)

func blank(s string) string {
	s = temporaryName.ReplaceAllString(s, "TMP")
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if rest, ok := strings.CutPrefix(s[i:], `"pid" `); ok {
			n := 0
			for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
				n++
			}
			out.WriteString(`"pid" N`)
			i += len(s[i:]) - len(rest) + n - 1
			continue
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// ownEnv is a minion configured in dir, whose grains are what gather returns at each call.
func ownEnv(t *testing.T, dir string, gather func(opts *payload.Map) *payload.Map) (*loader.Env, *modtest.Log) {
	t.Helper()
	minion, err := config.LoadMinion(filepath.Join(dir, "minion"), nil)
	if err != nil {
		t.Fatal(err)
	}
	opts := minion.Raw.Clone().Set("local", true)
	if err := os.MkdirAll(opts.Str("cachedir"), 0o755); err != nil {
		t.Fatal(err)
	}
	log := &modtest.Log{}
	return &loader.Env{Registry: registry(t), ID: "web1", Opts: func() *payload.Map { return opts },
		Grains: func() *payload.Map { return gather(opts) }, Host: loader.Host{Log: log}}, log
}
