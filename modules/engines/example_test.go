package engines

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/payload"
)

// TestDocumentedProgram runs the program of docs/engines.md with the configuration there.
func TestDocumentedProgram(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	doc, err := os.ReadFile("../../docs/engines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "```python\n")
	text, after, ok := strings.Cut(text, "```\n")
	_, conf, _ := strings.Cut(after, "```yaml\nengines:\n")
	conf, _, ok2 := strings.Cut(conf, "```\n")
	if !ok || !ok2 {
		t.Fatal("docs/engines.md shows no program")
	}
	path := filepath.Join(t.TempDir(), "counter")
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	r := begin(t, newFake(t), strings.Replace(conf, "/usr/local/lib/brine/counter", path, 1))
	r.logs("counting for m1")
	sink := <-r.listen
	for i := range 3 {
		put(t, sink, fmt.Sprintf("salt/job/%d/new", i), payload.M("fun", "test.ping"))
		put(t, sink, fmt.Sprintf("salt/job/%d/ret/web1", i), payload.NewMap(0))
		if got, want := r.next().String(), fmt.Sprintf(`fleet/jobs {"count": %d, "last": "test.ping"}`,
			i+1); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestDocumentedOptions: the first example of docs/engines.md is a configuration.
func TestDocumentedOptions(t *testing.T) {
	doc, err := os.ReadFile("../../docs/engines.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(doc), "```yaml\n")
	text, _, _ = strings.Cut(text, "```\n")
	m, ok := option(t, text).(*payload.Map)
	if !ok {
		t.Fatal("no map")
	}
	all, err := Parse(m.Value("engines"), "master")
	if err != nil || len(all) != 7 {
		t.Errorf("got %v, %v", all, err)
	}
}
