package edit_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/modules/execution/file/edit"
	"brine/wire/python/re"

	"pgregory.net/rapid"
)

// words are lines without white space around them, few enough to meet each other.
var words = rapid.SampledFrom([]string{"a", "b", "ab", "key=1", "key=2", "# c", "x y", "[s]"})

// applied writes a text, edits it, and gives what it has become.
func applied(t *rapid.T, dir, text string, how func(name string) (*edit.Change, error)) (string, error) {
	name := filepath.Join(dir, "f")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := apply(name, how); err != nil {
		return text, err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data), nil
}

func joined(lines []string) string { return edit.Joined(lines) }

// TestLineStaysStable: what file.line has put into a file it finds there again, but for mode insert with a location or
// with two neighbours, where Salt inserts again, as it does where the content is its own neighbour, and for replace,
// which goes to the next line that fits. A neighbour that is found twice afterwards is an error.
func TestLineStaysStable(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(words, 0, 6).Draw(t, "lines")
		p := edit.Placing{Content: words.Draw(t, "content"), Indent: true,
			Mode: rapid.SampledFrom([]string{"ensure", "insert", "delete"}).Draw(t, "mode")}
		near := re.Escape(words.Draw(t, "near"))
		way := rapid.IntRange(0, 2).Draw(t, "way")
		if way > 0 && p.Mode != "delete" {
			p.After = "^" + near + "$"
		}
		if way == 0 && p.Mode != "delete" || way == 2 && p.Mode == "ensure" {
			p.Before = "^" + re.Escape(words.Draw(t, "before")) + "$"
		}
		if own := "^" + re.Escape(p.Content.(string)) + "$"; p.After == own || p.Before == own {
			return
		}
		how := func(name string) (*edit.Change, error) { return edit.Line(name, p, time.Time{}) }
		once, err := applied(t, dir, joined(lines), how)
		if err != nil {
			return
		}
		for range lines {
			if p.Mode == "delete" { // one line that fits goes each time
				once, _ = applied(t, dir, once, how)
			}
		}
		twice, err := applied(t, dir, once, how)
		if err == nil && twice != once && !beforeFirst(p, once) {
			t.Errorf("%q became %q, and then %q", joined(lines), once, twice)
		}
		if err == nil && p.Mode != "delete" && !slices.Contains(strings.Split(once, "\n"), p.Content.(string)) {
			t.Errorf("%q is not in %q", p.Content, once)
		}
	})
}

// beforeFirst tells that the content should stand before the first line, where Salt looks at the last instead.
func beforeFirst(p edit.Placing, text string) bool {
	if p.Mode != "insert" || p.Before == nil {
		return false
	}
	m, err := re.CompileSearch(p.Before.(string))
	if err != nil {
		return false
	}
	first, _, _ := strings.Cut(text, "\n")
	fits, err := m.Match(first)
	return fits && err == nil
}

// TestBlockStaysStable: a block is found again, has the content, and nothing around it changes.
func TestBlockStaysStable(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.SliceOfN(words, 0, 4).Draw(t, "before")
		inside := rapid.SliceOfN(words, 0, 4).Draw(t, "inside")
		after := rapid.SliceOfN(words, 0, 4).Draw(t, "after")
		block := rapid.SliceOfN(words, 1, 4).Draw(t, "content")
		there := rapid.Bool().Draw(t, "there")
		b := edit.Block{Start: "# start", End: "# end", Content: joined(block), Backup: false,
			Append: rapid.Bool().Draw(t, "append")}
		b.Prepend = !b.Append && rapid.Bool().Draw(t, "prepend")
		if rapid.Bool().Draw(t, "no newline") {
			b.Content = strings.TrimSuffix(joined(block), "\n")
		}
		text := joined(before) + joined(after)
		if there {
			text = joined(slices.Concat(before, []string{"# start"}, inside, []string{"# end"}, after))
		}
		how := func(name string) (*edit.Change, error) { return edit.ReplaceBlock(name, b) }
		once, err := applied(t, dir, text, how)
		if err != nil {
			if there || b.Append || b.Prepend {
				t.Fatal(err)
			}
			return
		}
		if twice, err := applied(t, dir, once, how); err != nil || twice != once {
			t.Errorf("%q became %q, and then %q, %v", text, once, twice, err)
		}
		// A text with a line end gets none, as append_newline says: an empty line is what Salt's split leaves.
		whole := joined(slices.Concat([]string{"# start"}, block, []string{"# end"}))
		rest := strings.Replace(once, whole, "", 1)
		if rest == once || rest != joined(before)+joined(after) {
			t.Errorf("%q became %q", text, once)
		}
	})
}

// TestAppendedOnce: file.replace adds a text that it does not find once, whatever characters it has.
func TestAppendedOnce(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		text := joined(rapid.SliceOfN(words, 0, 5).Draw(t, "lines"))
		added := rapid.StringMatching(`[a-zé .*+\[({\\^$|]{1,8}`).Draw(t, "added")
		r := edit.Replacement{Pattern: "^nosuch", Repl: added, Flags: int64(8), Count: int64(0), Literal: true,
			Append: rapid.Bool().Draw(t, "append")}
		r.Prepend = !r.Append
		how := func(name string) (*edit.Change, error) { return edit.Replace(name, r) }
		once, err := applied(t, dir, text, how)
		if err != nil {
			t.Fatal(err)
		}
		if twice, err := applied(t, dir, once, how); err != nil || twice != once {
			t.Errorf("%q became %q, and then %q, %v", text, once, twice, err)
		}
	})
}

// FuzzEdits: no text and no arguments break an edit, and what is shown is what is written.
func FuzzEdits(f *testing.F) {
	f.Add("a\nb\n", "c", "a", "b", 0)
	f.Add("a\r\nb", "c\r\n", "^a", "", 1)
	f.Add("\xff\x00", "", "(", "*", 2)
	modes := []string{"ensure", "insert", "delete", "replace"}
	f.Fuzz(func(t *testing.T, text, with, one, two string, n int) {
		name := filepath.Join(t.TempDir(), "f")
		for _, how := range []func(string) (*edit.Change, error){
			func(name string) (*edit.Change, error) {
				return edit.Line(name, edit.Placing{Content: with, Match: one, Mode: modes[uint(n)%4], After: one,
					Before: two, Indent: n%2 == 0}, time.Time{})
			},
			func(name string) (*edit.Change, error) {
				return edit.ReplaceBlock(name, edit.Block{Start: one, End: two, Content: with, Append: n%2 == 0, Backup: false})
			},
			func(name string) (*edit.Change, error) {
				return edit.Replace(name, edit.Replacement{Pattern: one, Repl: with, Count: int64(n % 3), Flags: int64(8),
					Append: n%2 == 0, Literal: n%3 == 0})
			},
			func(name string) (*edit.Change, error) {
				return edit.Comment(name, edit.Commenting{Regex: one, Char: two, Remove: n%2 == 0})
			},
		} {
			must(t, os.WriteFile(name, []byte(text), 0o600))
			change, err := how(name)
			if err != nil || change == nil {
				continue
			}
			must(t, change.Apply())
			if got := content(t, name); got != change.New || change.Differ != (got != text) {
				t.Errorf("%q became %q, not %q", text, got, change.New)
			}
		}
	})
}
