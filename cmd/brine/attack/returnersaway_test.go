package attack

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/client"

	"golang.org/x/sys/unix"
)

const awayConf = `return: [sqlite3, syslog, rawfile_json]
sqlite3.database: ROOT/away/returns.db
sqlite3.timeout: 1
rawfile_json.filename: ROOT/returns.json
`

// awayTables are Salt's.
const awayTables = `CREATE TABLE jids (jid TEXT PRIMARY KEY, load TEXT NOT NULL);
CREATE TABLE salt_returns (fun TEXT KEY, jid TEXT KEY, id TEXT KEY, fun_args TEXT, date TEXT NOT NULL, full_ret TEXT NOT NULL, success TEXT NOT NULL);`

// TestReturnersAway: the database and the log of the system that a minion returns to are away, and then the disk with the returns that wait
// is full: the master and the returner that is there have each return at once, and the database has all that found room when it is back,
// over a kill of the minion.
func TestReturnersAway(t *testing.T) {
	t.Parallel() // it mostly waits
	if !mayMount(t) {
		return
	}
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("no sqlite3 here")
	}
	if _, err := os.Lstat("/dev/log"); err == nil {
		if err := unix.Mount("/dev/null", "/dev/log", "", unix.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
	}
	s := newBareSite(t, "")
	conf := strings.ReplaceAll(awayConf, "ROOT", s.root)
	d := s.disk(t, s.path(honest+"/var/cache/salt/minion"), 8<<20)
	s.startMinion(honest, conf)
	send := func(name string) {
		for i := range 5 {
			text := fmt.Sprintf("%s-%d", name, i)
			got, err := s.run(5*second(), client.Job{Tgt: honest, Fun: "test.arg", Arg: []any{text}})
			if err != nil || !strings.Contains(wholly(got[honest].Value("return")), text) {
				t.Errorf("%s: %v, %v", text, got[honest], err)
			}
		}
		s.good()
		s.eventually("returns in the file", func() error {
			text, err := os.ReadFile(s.path("returns.json"))
			if n := strings.Count(string(text), name+"-"); err == nil && n < 5 {
				err = fmt.Errorf("%d of them", n)
			}
			return err
		})
	}
	send("away")
	s.minions[honest].kill()
	s.startMinion(honest, conf)
	send("again")
	d.fill()
	send("full")
	d.free()
	if err := os.Mkdir(s.path("away"), 0o755); err != nil {
		t.Fatal(err)
	}
	query := func(text string) (string, error) {
		out, err := exec.Command("sqlite3", filepath.Join(s.root, "away/returns.db"), text).CombinedOutput()
		return string(out), err
	}
	if out, err := query(awayTables); err != nil {
		t.Fatal(out, err)
	}
	send("back")
	for _, name := range []string{"away", "again", "back"} {
		s.eventually("returns in the database: "+name, func() error {
			out, err := query("SELECT DISTINCT full_ret FROM salt_returns;")
			for i := range 5 {
				if err == nil && !strings.Contains(out, fmt.Sprintf("%s-%d", name, i)) {
					err = fmt.Errorf("no %d", i)
				}
			}
			return err
		})
	}
	s.good()
}
