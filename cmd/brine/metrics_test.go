package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// exposed holds the metrics of the endpoints of a master and a minion, and the labels of each metric.
type exposed map[string]map[string]bool

var (
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? `)
	labelName  = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)="`)
	ourMetric  = regexp.MustCompile(`\b(?:salt|brine|process|go)_[a-z0-9_]+\b`)
	selector   = regexp.MustCompile(`\b([a-z][a-z0-9_]*)\{([^}]*)\}`)
	aggregated = regexp.MustCompile(`\bby \(([^)]*)\)`)
)

// family is the name of a metric without the suffix that a histogram adds.
func (e exposed) family(name string) string {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if base, cut := strings.CutSuffix(name, suffix); cut && e[base] != nil {
			return base
		}
	}
	return name
}

// scrape adds the metrics of one endpoint.
func (e exposed) scrape(port string) error {
	client := &http.Client{Timeout: time.Minute}
	res, err := client.Get("http://127.0.0.1:" + port + "/metrics")
	if err != nil {
		return err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %v", res.Status, err)
	}
	for line := range strings.Lines(string(body)) {
		if words := strings.Fields(line); len(words) > 2 && words[1] == "TYPE" {
			e[words[2]] = map[string]bool{}
		} else if m := sampleLine.FindStringSubmatch(line); m != nil {
			for _, l := range labelName.FindAllStringSubmatch(m[2], -1) {
				e[e.family(m[1])][l[1]] = true
			}
		}
	}
	return nil
}

// measuredFleet runs a master and a minion with metrics, gives them work, and reads both endpoints until all
// described metrics are there.
func measuredFleet(t *testing.T, described map[string]bool) exposed {
	t.Helper()
	s := newGoldenSite(t)
	ports := map[string]string{"master": freePort(t), "web1": freePort(t)}
	for config, port := range ports {
		file := filepath.Join(s.root, config, map[bool]string{true: "master", false: "minion"}[config == "master"])
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s.write(t, file, string(raw)+"\nmetrics: {enabled: True, exporter: prometheus, prometheus: {port: "+port+"}}\n")
	}
	for _, d := range [][2]string{{"master", "salt-master"}, {"web1", "salt-minion"}} {
		if err := s.daemon(t, d[0], d[1]); err != nil {
			t.Fatal(err)
		}
	}
	k := &killedFleet{t: t, s: s}
	k.await()
	s.output(t.Context(), "salt-run", "jobs.active")
	for limit := time.Now().Add(fleetPatience); ; s.pause(t, 100*time.Millisecond) {
		got, missing := exposed{}, ""
		for _, port := range ports {
			if err := got.scrape(port); err != nil {
				missing = err.Error()
			}
		}
		for name := range described {
			if got[name] == nil {
				missing = name
			}
		}
		if missing == "" {
			return got
		}
		if time.Now().After(limit) {
			t.Errorf("after %v still: %s", fleetPatience, missing)
			return got
		}
	}
}

// dashboard holds the parts of docs/grafana/brine.json that matter here.
type dashboard struct {
	UID, Title    string
	SchemaVersion int
	Templating    struct {
		List []struct{ Name, Type, Definition string }
	}
	Panels []struct {
		ID          int
		Type, Title string
		GridPos     struct{ X, Y, W, H int }
		Datasource  struct{ Type, UID string }
		Targets     []struct {
			RefID, Expr string
			Datasource  struct{ Type, UID string }
		}
		FieldConfig struct{ Defaults struct{ NoValue string } }
	}
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	raw, err := os.ReadFile("../../docs/grafana/brine.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestDashboardCanBeImported: the dashboard has the fields that Grafana needs, and no panel covers another.
func TestDashboardCanBeImported(t *testing.T) {
	d := readDashboard(t)
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 30 || len(d.Templating.List) == 0 ||
		d.Templating.List[0].Type != "datasource" {
		t.Errorf("got %s %q, schema %d, variables %v", d.UID, d.Title, d.SchemaVersion, d.Templating.List)
	}
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if p.ID == 0 || ids[p.ID] {
			t.Errorf("%s: id %d is taken, or none", p.Title, p.ID)
		}
		ids[p.ID] = true
		if p.GridPos.W < 1 || p.GridPos.H < 1 || p.GridPos.X < 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("%s: stands at %+v", p.Title, p.GridPos)
		}
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" {
					t.Fatalf("%s covers %s", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if len(p.Targets) == 0 || p.Datasource.UID != "${datasource}" {
			t.Errorf("%s: %d targets, data source %v", p.Title, len(p.Targets), p.Datasource)
		}
		if sick := strings.HasSuffix(p.Targets[0].Expr, "> 0"); p.Type == "timeseries" &&
			sick != (p.FieldConfig.Defaults.NoValue != "") {
			t.Errorf("%s: a panel that is empty where all is well says so, no other: %q", p.Title,
				p.FieldConfig.Defaults.NoValue)
		}
		refs := map[string]bool{}
		for _, target := range p.Targets {
			if target.RefID == "" || refs[target.RefID] || target.Datasource.UID != "${datasource}" {
				t.Errorf("%s: target %+v", p.Title, target)
			}
			refs[target.RefID] = true
		}
	}
}

// expressions returns the expressions of all panels, without Grafana's variables.
func (d dashboard) expressions() (all []string) {
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			all = append(all, target.Expr)
		}
	}
	for _, v := range d.Templating.List {
		if v.Definition != "" {
			all = append(all, v.Definition)
		}
	}
	return all
}

// added are labels that the scrape or a histogram adds.
var added = []string{"job", "instance", "le"}

// TestDashboardShowsWhatThereIs compares the dashboard and docs/metrics.md with the metrics of a real master
// and minion. Everything shown or described exists, and no metric of ours is left out.
func TestDashboardShowsWhatThereIs(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a fleet")
	}
	text, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for _, name := range regexp.MustCompile("`((?:salt|brine)_[a-z_]+)`").FindAllStringSubmatch(string(text), -1) {
		described[name[1]] = true
	}
	got := measuredFleet(t, described)
	ours := slices.DeleteFunc(slices.Sorted(maps.Keys(got)), func(name string) bool {
		return !strings.HasPrefix(name, "salt_") && !strings.HasPrefix(name, "brine_")
	})
	shown := map[string]bool{}
	for _, expr := range readDashboard(t).expressions() {
		for _, name := range ourMetric.FindAllString(expr, -1) {
			name = got.family(name)
			shown[name] = true
			if got[name] == nil {
				t.Errorf("the dashboard asks for %s, which nobody tells: %s", name, expr)
			}
		}
		checkLabels(t, got, expr)
	}
	for name := range described {
		if got[name] == nil {
			t.Errorf("docs/metrics.md describes %s, which nobody tells", name)
		}
	}
	for _, name := range ours {
		if !shown[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
		if !described[name] {
			t.Errorf("docs/metrics.md does not describe %s", name)
		}
	}
	t.Logf("%d metrics of ours, %d in all", len(ours), len(got))
}

// checkLabels checks that an expression selects and groups only by labels that its metrics have.
func checkLabels(t *testing.T, got exposed, expr string) {
	t.Helper()
	have := map[string]bool{}
	for _, l := range added {
		have[l] = true
	}
	for _, m := range selector.FindAllStringSubmatch(expr, -1) {
		labels := got[got.family(m[1])]
		maps.Copy(have, labels)
		for _, l := range regexp.MustCompile(`([a-z_]+)\s*[=!]~?"`).FindAllStringSubmatch(m[2], -1) {
			if !labels[l[1]] && !slices.Contains(added, l[1]) {
				t.Errorf("%s has no label %s: %s", m[1], l[1], expr)
			}
		}
	}
	for _, m := range aggregated.FindAllStringSubmatch(expr, -1) {
		for l := range strings.SplitSeq(m[1], ",") {
			if l = strings.TrimSpace(l); !have[l] {
				t.Errorf("no label %s: %s", l, expr)
			}
		}
	}
}
