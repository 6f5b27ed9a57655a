package master

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/modules/returners/jobcache"
	"brine/wire/payload"
)

// cacheSite is a master whose job cache is a database in a file.
func cacheSite(t *testing.T, conf ...string) (*rig, string) {
	t.Helper()
	r := newSite(t, conf...)
	file := filepath.Join(r.dir, "jobs.sqlite")
	r.write("etc/master.d/jobs.conf", "sqlite3: {database: "+file+", timeout: 5.0}\n", 0o644)
	r.reread()
	db, err := sql.Open("sqlite3", file)
	if err == nil {
		_, err = db.Exec(`CREATE TABLE jids (jid TEXT PRIMARY KEY, load TEXT NOT NULL);
CREATE TABLE salt_returns (fun TEXT KEY, jid TEXT KEY, id TEXT KEY, fun_args TEXT, date TEXT NOT NULL, full_ret TEXT NOT NULL, success TEXT NOT NULL);`)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return r, file
}

func (r *rig) cached() jobcache.Cache { return r.m.core.machine.JobCache("sqlite3") }

// publishes publishes a job for a minion, as Salt's tools do.
func (r *rig) publishes(id string) string {
	r.t.Helper()
	reply := r.clear(payload.M("cmd", "publish", "user", userName(), "key", r.rootKey(), "tgt", id, "tgt_type", "glob",
		"fun", "test.echo", "arg", []any{"x"}, "ret", "", "jid", "", "kwargs", payload.NewMap(0)))
	jid := reply.(*payload.Map).Map("load").Str("jid")
	if jid == "" {
		r.t.Fatalf("publish: got %v", reply)
	}
	return jid
}

// TestJobCache: loads are in the job cache when Salt's tools have their answer, returns soon after; runner functions
// read there, with what is on its way. A database that is away delays no answer, and gets what it has missed.
func TestJobCache(t *testing.T) {
	r, file := cacheSite(t, "master_job_cache: sqlite3", "job_cache_store_endtime: True")
	r.accept("web1", "minion")
	r.start()
	m := r.minion("web1")
	jid := r.publishes("web1")
	load, err := r.cached().GetLoad(testContext(t), jid)
	if err != nil || load.Str("fun") != "test.echo" {
		t.Fatalf("load %v, %v", load, err)
	}
	if load.Has("key") {
		t.Error("the key of the tool is in the job cache")
	}
	m.returns(jid, "one")
	if err := r.m.AwaitJobs(testContext(t)); err != nil {
		t.Fatal(err)
	}
	got, err := r.cached().GetJID(testContext(t), jid)
	if err != nil || !strings.Contains(payload.Show(fmt.Sprint(got.Value("web1"))), "one") {
		t.Fatalf("returns %v, %v", got, err)
	}
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	away := r.publishes("web1")
	m.returns(away, "two")
	if got, err := r.m.Jobs().Returns(away); err != nil || got.Len() != 1 {
		t.Errorf("own returns %v, %v", got, err)
	}
	r.stop()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".away", file); err != nil {
		t.Fatal(err)
	}
	r.start()
	r.eventually("the job cache has all", func() error {
		load, err := r.cached().GetLoad(testContext(t), away)
		if err != nil || load.Str("fun") != "test.echo" {
			return fmt.Errorf("load %v, %v", load, err)
		}
		got, err := r.cached().GetJID(testContext(t), away)
		if err != nil || got.Len() != 1 {
			return fmt.Errorf("returns %v, %v", got, err)
		}
		return nil
	})
}

// TestJobCacheThief: what a return says of returners has no effect on the master, neither their names nor their
// options.
func TestJobCacheThief(t *testing.T) {
	r, _ := cacheSite(t, "master_job_cache: sqlite3")
	r.accept("web1", "minion")
	r.start()
	other := filepath.Join(r.dir, "stolen")
	jid := r.publishes("web1")
	r.minion("web1").returns(jid, "x", "ret", "rawfile_json", "ret_config", "stolen", "ret_kwargs",
		payload.M("database", other, "filename", other))
	if err := r.m.AwaitJobs(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if got, err := r.cached().GetJID(testContext(t), jid); err != nil || got.Len() != 1 {
		t.Errorf("returns %v, %v", got, err)
	}
	if _, err := os.Stat(other); err == nil {
		t.Error("a minion has chosen where the master writes")
	}
}

// TestExtJobCache: with ext_job_cache the master keeps loads there and returns nowhere: minions write those.
func TestExtJobCache(t *testing.T) {
	r, _ := cacheSite(t, "ext_job_cache: sqlite3")
	r.accept("web1", "minion")
	r.start()
	jid := r.publishes("web1")
	r.minion("web1").returns(jid, "x")
	r.eventually("the load", func() error {
		if load, err := r.cached().GetLoad(testContext(t), jid); err != nil || load.Len() == 0 {
			return fmt.Errorf("load %v, %v", load, err)
		}
		return nil
	})
	if got, err := r.cached().GetJID(testContext(t), jid); err != nil || got.Len() != 0 {
		t.Errorf("returns %v, %v", got, err)
	}
	if got, err := r.m.Jobs().Returns(jid); err != nil || got.Len() != 0 {
		t.Errorf("own returns %v, %v", got, err)
	}
}

// returns sends the return of test.echo, with further fields.
func (m *testMinion) returns(jid, value string, more ...any) {
	m.r.t.Helper()
	load := payload.M("cmd", "_return", "id", m.id, "jid", jid, "fun", "test.echo", "fun_args", []any{"x"}, "return",
		value, "retcode", int64(0), "success", true)
	load.Update(payload.M(more...))
	m.ask(load)
}
