package re

import (
	"errors"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneEngine: no file of the tree but engine.go uses the library that tries one way after another, tests included,
// and in it the library is asked for a pattern at one place, which gives it a deadline.
func TestOneEngine(t *testing.T) {
	const library = `"github.com/dlclark/regexp2`
	root, uses := filepath.Join("..", "..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			if strings.HasPrefix(spec.Path.Value, library) {
				uses++
				if path != filepath.Join(root, "wire", "python", "re", "engine.go") || spec.Name != nil {
					t.Errorf("%s imports %s: patterns are compiled by wire/python/re, with a deadline", path,
						spec.Path.Value)
				}
			}
		}
		return nil
	})
	if err != nil || uses != 1 {
		t.Errorf("%d files import it, %v", uses, err)
	}
	file, err := parser.ParseFile(gotoken.NewFileSet(), "engine.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name != "RegexOptions" && sel.Sel.Name != "Regexp" {
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "regexp2" && strings.Contains(sel.Sel.Name, "ompile") {
				uses++
			}
		}
		return true
	})
	if uses != 2 {
		t.Errorf("engine.go compiles at %d places", uses-1)
	}
}

// TestEveryPatternHasADeadline: whatever this package compiles ends in time over a text that has more ways than there
// is time.
func TestEveryPatternHasADeadline(t *testing.T) {
	const slow = `(?!db)([a-z]+)*\d`
	text := strings.Repeat("a", 44)
	for name, compile := range map[string]func(string) (*Pattern, error){"start": Compile, "search": CompileSearch,
		"whole": CompileWhole} {
		re, err := compile(slow)
		if err != nil {
			t.Fatal(err)
		}
		if hit, err := re.Match(text); hit || !errors.Is(err, ErrPattern) {
			t.Errorf("%s: %v, %v", name, hit, err)
		}
		if re.full.re.MatchTimeout != Timeout {
			t.Errorf("%s: a deadline of %v", name, re.full.re.MatchTimeout)
		}
	}
	groups, err := CompileGroups(slow, true, true)
	if err != nil {
		t.Fatal(err)
	}
	if spans, err := groups.Find([]rune(text), 0); spans != nil || !errors.Is(err, ErrPattern) {
		t.Errorf("groups: %v, %v", spans, err)
	}
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"web|db", "web", true}, {"web|db", "webmail", false}, {"web|db", "xdb", false}, {`(?i)web\d`, "WEB1", true},
		{`(?!db).*`, "web\n", false}, {"ü.", "ü1", true}, {"ü.", "ü12", false}, {"", "", true}, {"", "a", false},
	} {
		re, err := CompileWhole(tt.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if hit, err := re.Match(tt.text); hit != tt.want || err != nil {
			t.Errorf("%q over the whole of %q: %v, %v", tt.pattern, tt.text, hit, err)
		}
	}
}
