package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stateWriters are the source files of daemons that make or write files, with the rows of the table that
// describe these files. "" in place of a row means that the files are no state of a daemon. The reason is
// beside it.
var stateWriters = map[string][2]string{
	"actors/master/workers/peer.go": {"", "an empty mark of a job that a minion published; who may read " +
		"its returns"},
	"actors/master/maintenance/upkeep.go":      {"ids of accepted keys, for Salt's tools"},
	"actors/master/maintenance/signs.go":       {"health"},
	"actors/master/maintenance/presentfile.go": {"who was there"},
	"actors/master/workers/returns.go":         {"", "an empty mark that a syndic is there"},
	"actors/netapi/cherrypy/accesslog.go":      {"", "the access log"},
	"modules/fleet/datacache/older.go":         {"grains and pillar of minions, for older tools"},
	"modules/host/webquery/query.go":           {"", "what a function was asked to put there"},
	"modules/host/plainfile/plainfile.go":      {"", "files of the operator; it only reads"},
	"modules/host/program/custody/record.go":   {"programs that run"},
	"actors/minion/jobfiles/jobfiles.go":       {"jobs that wait"},
	"actors/minion/journal/file.go":            {"jobs and returns of a minion"},
	"actors/minion/journal/past.go":            {"jobs it has taken"},
	"actors/minion/jobs/proc.go":               {"jobs that run, for Salt's tools"},
	"cmd/daemon/crash.go":                      {"output of a crash"},
	"cmd/daemon/daemon.go":                     {"process ids"},
	"cmd/daemon/profile.go":                    {"", "a profile that was asked for"},
	"cmd/saltapi/place.go":                     {"", "a lock without content"},
	"cmd/saltlog/file.go":                      {"logs"},
	"cmd/session/logging.go":                   {"logs"},
	"config/accesskeys.go":                     {"keys of local users"},
	"config/id.go": {"", "the name of the minion: it is read as text, and refused when it " +
		"is none"},
	"modules/eauth/tokenstore.go":          {"tokens"},
	"modules/fileclient/extmods.go":        {"", "modules that are fetched again when they differ from the master's"},
	"modules/fileclient/fetch.go":          {"", "files that are fetched again when their hash differs"},
	"modules/fileclient/local.go":          {"", "the same"},
	"modules/fileclient/sink.go":           {"", "the same"},
	"modules/fileserver/gitfs/backend.go":  {"", "objects of git; it only reads"},
	"modules/fileserver/gitfs/blob.go":     {"", "objects of git, which are checked by their names and fetched again"},
	"modules/fileserver/gitfs/fetch.go":    {"", "where a remote was; it is asked again"},
	"modules/fileserver/gitfs/lock.go":     {"", "a lock"},
	"modules/fileserver/gitfs/pack.go":     {"", "packs of git, which are checked by their sums and fetched again"},
	"modules/fileserver/roots.go":          {"", "files of the operator; it only reads"},
	"modules/fileserver/update.go":         {"", "time stamps of files, compared with what is there"},
	"modules/fleet/datacache/banks.go":     {"mine of minions"},
	"modules/fleet/jobstore/fresh.go":      {"load of a job, for Salt's tools"},
	"modules/fleet/jobstore/layout.go":     {"load of a job, for Salt's tools"},
	"modules/fleet/jobstore/localcache.go": {"", "local_cache, whose damaged files TestLocalCacheDamage is about"},
	"modules/fleet/jobstore/localfacts.go": {"", "facts of jobs with local_cache, which are read as far as they " +
		"are whole (TestLocalFacts)"},
	"modules/fleet/jobstore/localown.go": {"",
		"whose job it is with local_cache; without it it is nobody's"},
	"modules/fleet/jobstore/notes.go":       {"notes of jobs"},
	"modules/fleet/jobstore/rescue.go":      {"job store"},
	"modules/fleet/jobstore/repair.go":      {"job store"},
	"modules/fleet/jobstore/returnfiles.go": {"return of a job, for Salt's tools"},
	"modules/fleet/jobstore/store.go":       {"job store"},
	"modules/fleet/jobstore/compact.go":     {"job store"},
	"modules/fleet/keys/dropfile.go":        {"", "a wish for a new key, which its being there says"},
	"modules/fleet/keys/store.go":           {"accepted key"},
	"modules/grains/static.go":              {"grains of the minion"},
	"modules/host/aptsources/list.go":       {"", "files of the host, which states change"},
	"modules/host/conffile/other.go":        {"", "files of the host, which states change"},
	"modules/host/datastore/datastore.go": {"", "values that functions of jobs keep; a damaged file is " +
		"set aside"},
	"wire/disk/packedfile/packedfile.go":             {"", "writes for others of this table"},
	"modules/host/program/terminal.go":               {"", "a terminal"},
	"wire/disk/recordlog/create.go":                  {"", "writes for others of this table"},
	"wire/disk/recordlog/log.go":                     {"", "writes for others of this table"},
	"wire/disk/wholefile/wholefile.go":               {"", "writes for others of this table"},
	"modules/pillar/filetree.go":                     {"", "files of the operator; it only reads"},
	"modules/pillar/minion.go":                       {"pillar of the minion"},
	"modules/reactor/backlog/backlog.go":             {"events for the Reactor"},
	"modules/renderers/renderers.go":                 {"", "files of the operator; it only reads"},
	"modules/returners/queue/read.go":                {"what a returner has of them"},
	"modules/returners/queue/segment.go":             {"events for returners"},
	"modules/returners/rawfile_json/rawfile_json.go": {"", "what the operator wants events in"},
	"modules/returners/spool/spool.go":               {"copies of returns for returners"},
	"modules/schedule/file.go": {"",
		"a file of configuration, which is read and refused as such"},
	"modules/wheel/config/config.go": {"", "a file of configuration, which is read and refused as such"},
	"supervisor/deathfile.go":        {"last deaths of actors"},
	"wire/auth/trust/trust.go":       {"trusted key of the master"},
	"wire/crypt/files.go":            {"own key of a minion"},
}

// fileMakers are the calls that make or write files.
var fileMakers = []string{"os.WriteFile", "os.Create", "os.CreateTemp", "os.OpenFile", "wholefile.Write",
	"wholefile.Create", "packedfile.Write", "recordlog.Create", "recordlog.New", "recordlog.Open", "bbolt.Open"}

// ofTests reports whether a folder holds what only tests use.
func ofTests(dir string) bool {
	return strings.HasSuffix(dir, "test") && dir != "modules/execution/test"
}

// TestStateWriters finds every source file of the daemons that writes a file. The author of a new one must name
// its row in the table here, and thus decide how the daemon treats the file if the disk damages it.
func TestStateWriters(t *testing.T) {
	rows := map[string]bool{}
	for _, row := range stateFiles {
		rows[row.what] = true
	}
	found := map[string]bool{}
	for _, top := range []string{"actors", "config", "modules", "supervisor", "wire", "cmd/daemon", "cmd/saltmaster",
		"cmd/saltminion", "cmd/saltapi", "cmd/saltlog", "cmd/session", "cmd/keepalive"} {
		err := filepath.WalkDir(filepath.Join("..", "..", top), func(path string, e fs.DirEntry, err error) error {
			name, _ := filepath.Rel(filepath.Join("..", ".."), path)
			switch {
			case err != nil:
				return err
			case e.IsDir() && (name == "modules/execution" || name == "modules/states"): // files of jobs
				return fs.SkipDir
			case e.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") ||
				ofTests(filepath.Dir(name)):
				return nil
			}
			if makesFiles(t, path) {
				found[name] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range found {
		switch row, ok := stateWriters[name]; {
		case !ok:
			t.Errorf("%s writes files: which row of the table of the files of state are they?", name)
		case row[0] != "" && !rows[row[0]]:
			t.Errorf("%s: there is no row %q", name, row[0])
		case row[0] == "" && row[1] == "":
			t.Errorf("%s: no reason is given", name)
		}
	}
	for name := range stateWriters {
		if !found[name] {
			t.Errorf("%s is in the list and writes nothing", name)
		}
	}
}

// makesFiles tells whether a source file has a call that makes or writes a file.
func makesFiles(t *testing.T, path string) bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	makes := false
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := sel.X.(*ast.Ident); ok && slices.Contains(fileMakers, pkg.Name+"."+sel.Sel.Name) {
				makes = true
			}
		}
		return !makes
	})
	return makes
}
