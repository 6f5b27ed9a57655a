package statetest

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"brine/wire/payload"
	"brine/wire/python/pyjson"
	"brine/wire/python/shlex"
)

var inTraceback = regexp.MustCompile(`(?s)Traceback \(most recent call last\):\n.*?\n(\S[^\n]*)\n`)

// steady is steady of record.py.
func steady(v any) any {
	switch x := v.(type) {
	case string:
		return sortedFailures(inTraceback.ReplaceAllString(x, "$1\n"))
	case []any:
		out := make([]any, len(x))
		for i, item := range x {
			out[i] = steady(item)
		}
		return out
	case *payload.Map:
		out := payload.NewMap(x.Len())
		for key, item := range x.All() {
			out.Set(key, steady(item))
		}
		if out.Has("result") && out.Has("comment") {
			out.Delete("start_time")
			out.Delete("duration")
		}
		if out.Has("pid") && out.Has("retcode") {
			out.Set("pid", int64(0))
		}
		if day, ok := out.Value("lstchg").(int64); ok && (day == today() || day == today()-1) {
			out.Set("lstchg", "TODAY")
		}
		return out
	}
	return v
}

// today is the day as files of passwords have it.
func today() int64 { return time.Now().Unix() / (24 * 60 * 60) }

// sortedFailures sorts the requisites that a comment names, which are a set in Salt.
func sortedFailures(text string) string {
	names, ok := strings.CutPrefix(text, "One or more requisite failed: ")
	if !ok {
		return text
	}
	list := strings.Split(names, ", ")
	slices.Sort(list)
	return "One or more requisite failed: " + strings.Join(list, ", ")
}

// listing is listing of record.py.
func listing(t testing.TB, top string) *payload.Map {
	t.Helper()
	out := payload.NewMap(0)
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == top {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		row, mode := []any{"other", "", ""}, modeOf(info)
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			row = []any{"link", "", target}
		case info.IsDir():
			row = []any{"dir", mode, ""}
		case info.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text := string(b)
			if !utf8.Valid(b) {
				text = "base64:" + base64.StdEncoding.EncodeToString(b)
			}
			row = []any{"file", mode, text}
		default:
			row[1] = mode
		}
		name, err := filepath.Rel(top, path)
		out.Set(name, row)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// modeOf are the bits of the mode that chmod sets.
func modeOf(info fs.FileInfo) string {
	mode := uint32(info.Mode().Perm())
	for bit, flag := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if info.Mode()&flag != 0 {
			mode |= bit
		}
	}
	return fmt.Sprintf("%04o", mode)
}

// parsed is parsed of record.py: a step as a function with its arguments and keywords.
func parsed(step string) (fun string, args []any, kw *payload.Map) {
	kind, rest, _ := strings.Cut(step, " ")
	switch kind {
	case "test":
		return "state.apply", []any{"t"}, payload.M("test", true)
	case "apply":
		return "state.apply", []any{"t"}, nil
	}
	words, _ := shlex.Split(rest)
	kw = payload.NewMap(0)
	for _, word := range words[1:] {
		key, text, isKW := strings.Cut(word, "=")
		if !isKW {
			text = word
		}
		v, err := pyjson.Load(text)
		if err != nil {
			v = text
		}
		switch {
		case isKW && regexp.MustCompile(`^\w+$`).MatchString(key):
			kw.Set(key, v)
		case isKW:
			args = append(args, word)
		default:
			args = append(args, v)
		}
	}
	return words[0], args, kw
}
