//go:build interop

package interop

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recipesMaster is the part of the master's configuration that docs/salt-api.md adds for salt-api, without the
// port.
const recipesMaster = `auto_accept: True
external_auth: {sharedsecret: {me: ['.*', '@runner', '@wheel', '@jobs']}}
sharedsecret: se+cret&
netapi_enable_clients: [local, local_async, runner, wheel]
`

// recipe is a block of commands and their output.
type recipe struct{ commands, want string }

var fenced = regexp.MustCompile("(?ms)^```(\\w*)\\n(.*?)^```$")

// recipes reads the blocks of a document: commands, and the text after them.
func recipes(t *testing.T, path string) (list []recipe) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range fenced.FindAllStringSubmatch(string(raw), -1) {
		switch block[1] {
		case "sh":
			list = append(list, recipe{commands: block[2]})
		case "":
			list[len(list)-1].want = block[2]
		}
	}
	return list
}

// matches tells whether a text equals a text in a document, in which "..." stands for anything within a line.
func matches(got, shown string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(shown), `\.\.\.`, `[^\n]*`)
	return regexp.MustCompile(`\A` + pattern + `\z`).MatchString(got)
}

// TestAPIRecipes pastes the commands of docs/salt-api.md, in order, into one shell beside a master, a minion
// and a salt-api. It compares their output with the document.
func TestAPIRecipes(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Fatalf("curl is not installed (run .ci/store-peers): %v", err)
	}
	a := &apiSite{site: newSite(t)}
	a.configMaster(recipesMaster)
	raw, err := os.ReadFile(filepath.Join(a.masterDir(), "master"))
	if err != nil {
		t.Fatal(err)
	}
	a.master = string(raw)
	a.startMaster(brine)
	a.configMinion("web1", "")
	a.startMinion(brine, "web1")
	a.awaitReady("web1")
	p := a.serve(brine, "recipes", "rest_cherrypy: {host: 127.0.0.1, port: {PORT}, disable_ssl: True}\n")
	a.write(filepath.Join(a.root, "password"), "se+cret&")
	list := recipes(t, "../../../docs/salt-api.md")
	place := strings.NewReplacer("http://127.0.0.1:14580", p.Base, "/tmp/brine/", a.root+"/")
	var script strings.Builder
	for _, r := range list {
		script.WriteString(place.Replace(r.commands) + "echo =====\n")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash")
	cmd.Stdin, cmd.Env = strings.NewReader(script.String()), a.env()
	out, err := cmd.CombinedOutput()
	parts := strings.Split(string(out), "=====\n")
	if err != nil || len(parts) != len(list)+1 {
		t.Fatalf("%v, %d parts of %d:\n%s", err, len(parts)-1, len(list), out)
	}
	for i, r := range list {
		if !matches(parts[i], r.want) {
			t.Errorf("%sgot\n%swant\n%s", r.commands, parts[i], r.want)
		}
	}
}
