package outputters

import (
	"encoding/base64"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"brine/config/yaml"
	"brine/wire/payload"
)

var allOutputters = []string{"nested", "json", "yaml", "raw", "pprint", "txt", "table", "key", "no_return",
	"highstate", "newline_values_only", "quiet", "nosuch"}

// FuzzFormat shows whatever a minion may return with every outputter.
func FuzzFormat(f *testing.F) {
	c := loadCorpus(f, "corpus.json")
	for _, packed := range c.Values {
		if raw, err := base64.StdEncoding.DecodeString(packed); err == nil {
			f.Add(raw, false)
		}
	}
	for _, packed := range loadCorpus(f, "states.json").Values {
		if raw, err := base64.StdEncoding.DecodeString(packed); err == nil {
			f.Add(raw, true)
		}
	}
	f.Fuzz(func(t *testing.T, packed []byte, compress bool) {
		v, err := payload.UnmarshalBin(packed)
		if err != nil {
			return
		}
		o := Options{Color: compress, State: StateOptions{CompressIDs: compress, Percent: true}}
		for _, name := range allOutputters {
			text, err := Format(name, v, o)
			if err != nil && !errors.Is(err, ErrUnknown) {
				t.Errorf("%s: %v", name, err)
			}
			if text != rstrip(text) {
				t.Errorf("%s leaves white space at the end: %q", name, text)
			}
			o := o
			o.Terminal = true
			if text, _ = Format(name, v, o); unprintable(ourColor.ReplaceAllString(text, "")) {
				t.Errorf("%s lets data control a terminal: %q", name, text)
			}
		}
	})
}

// FuzzYAMLText checks that what DumpYAML writes reads back as the same text.
func FuzzYAMLText(f *testing.F) {
	for _, s := range []string{"", "yes", "1e3", "a: b", "- x", "two\nlines", " lead", "trail ", "it's", "\x1b", "😀",
		strings.Repeat("word ", 40), "a\n\n b", "#c", "? x", "12:30", "=", "<<"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\r\u0085\u2028\u2029") {
			return // line ends other than "\n" are not told apart by readers
		}
		for _, flow := range []FlowStyle{FlowNever, FlowAlways, FlowLeaves} {
			text := DumpYAML(payload.M("k", []any{s}, "m", payload.M("x", s)), flow, 0)
			back, err := yaml.Load([]byte(text))
			if err != nil {
				t.Fatalf("%q as %q: %v", s, text, err)
			}
			if want := payload.M("k", []any{s}, "m", payload.M("x", s)); !reflect.DeepEqual(back, want) {
				t.Errorf("%q came back as %v from %q", s, back, text)
			}
		}
	})
}

func BenchmarkNested(b *testing.B) { benchmarkFormat(b, "nested") }

func BenchmarkJSON(b *testing.B) { benchmarkFormat(b, "json") }

func BenchmarkYAML(b *testing.B) { benchmarkFormat(b, "yaml") }

func BenchmarkHighstate(b *testing.B) {
	data := okStates("web1")
	for b.Loop() {
		if _, err := Format("highstate", data, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// benchmarkFormat shows a return of a thousand lines.
func benchmarkFormat(b *testing.B, name string) {
	inner := payload.NewMap(0)
	for i := range 250 {
		inner.Set("key "+strings.Repeat("x", i%40)+string(rune('a'+i%26))+string(rune('a'+i/26)),
			[]any{"some text", int64(i), payload.M("a", nil)})
	}
	data := payload.M("web1", inner)
	for b.Loop() {
		if _, err := Format(name, data, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
