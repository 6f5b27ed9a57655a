//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// makeTables makes the tables that an operator must make according to Salt's documentation.
const makeTables = `import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("CREATE TABLE jids (jid TEXT PRIMARY KEY, load TEXT NOT NULL)")
db.execute("CREATE TABLE salt_returns (fun TEXT KEY, jid TEXT KEY, id TEXT KEY, fun_args TEXT, date TEXT NOT NULL, full_ret TEXT NOT NULL, success TEXT NOT NULL)")
db.commit()`

// TestJobCacheOfSalt: a brine master keeps its jobs in a database in Salt's format, where Salt's own runner
// functions find them, and passes its events to a returner. A job of Salt's salt is stored, too. There is one
// minion, because Salt's sqlite3 finds only one return of a job.
func TestJobCacheOfSalt(t *testing.T) {
	t.Parallel()
	onlyWith(t, "3006")
	f := newFleet(t, brine, "3006", map[string]string{"m1": "3006"}, plain)
	db, events := f.masterPath("jobs.db"), f.masterPath("events")
	if out, err := exec.Command(toolPath(t, "3006", "python"), "-c", makeTables, db).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f.configMaster(fleetMaster + framing("3006") + fmt.Sprintf("master_job_cache: sqlite3\nsqlite3.database: "+
		"%s\nsqlite3.timeout: 5.0\n", db) +
		fmt.Sprintf("event_return: rawfile_json\nrawfile_json.filename: %s\nevent_return_whitelist: "+
			"['salt/job/*/ret/*']\n", events))
	f.startAll()
	f.acceptAll()
	for _, tools := range []string{"3006", brine} {
		f.tools = tools
		jid := f.async("*", "test.arg_clean", "x", "k=1")
		for _, reader := range []string{"3006", brine} {
			f.lookUp(reader, jid)
		}
		f.sameOutput("salt-run", "--out=json", "jobs.list_job", jid)
		f.sameOutput("salt-run", "--out=json", "jobs.print_job", jid)
		for _, reader := range []string{"3006", brine} {
			if err := contains(f.mustRun(reader, "salt-run", "--out=json", "jobs.list_jobs").stdout,
				`"`+jid+`"`); err != nil {
				t.Errorf("jobs.list_jobs of %s: %v", reader, err)
			}
		}
		f.eventually(patience, "events of job "+jid, func() error { return eventLines(events, jid, f.ids) })
	}
}

// eventLines checks that a file has one line for the return of each minion to a job, and only events of
// returns.
func eventLines(file, jid string, ids []string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		var event struct {
			Tag  string         `json:"tag"`
			Data map[string]any `json:"data"`
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			return fmt.Errorf("%w: %s", err, line)
		}
		if !strings.Contains(event.Tag, "/ret/") || event.Data["_stamp"] == nil {
			return fmt.Errorf("event %s", line)
		}
		if event.Data["jid"] == jid {
			got = append(got, fmt.Sprint(event.Data["id"]))
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, ids) {
		return fmt.Errorf("returns of %q, want %q", got, ids)
	}
	return nil
}
