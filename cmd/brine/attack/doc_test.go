package attack

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocNamesAll: the table in doc.go names every test of this folder, and no test that does not exist.
func TestDocNamesAll(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(`\[[^\]]*\]`).ReplaceAllString(string(doc), "") // brackets contain tests of other folders
	named := regexp.MustCompile(`Test[A-Z]\w*(\.\.\.)?`).FindAllString(own, -1)
	files, err := filepath.Glob("*_test.go")
	if err != nil || len(named) < 40 {
		t.Fatalf("%d tests are named, %v", len(named), err)
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range regexp.MustCompile(`(?m)^func (Test\w+)\(t `).FindAllStringSubmatch(string(text), -1) {
			if f[1] == t.Name() {
				continue
			}
			known := false
			for _, name := range named {
				prefix, many := strings.CutSuffix(name, "...")
				if name == f[1] || many && strings.HasPrefix(f[1], prefix) {
					known, found[name] = true, true
				}
			}
			if !known {
				t.Errorf("%s: the table does not name %s", file, f[1])
			}
		}
	}
	for _, name := range named {
		if !found[name] {
			t.Errorf("the table names %s, which is not there", name)
		}
	}
}
