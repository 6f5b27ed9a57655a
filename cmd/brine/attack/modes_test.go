package attack

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"brine/wire/client"
)

// widened is a path that others may see.
type widened struct {
	end  string
	mode fs.FileMode
	why  string
}

// wider are the files and directories of daemons that others may see, by their path below a root_dir, with the
// reasons. All others are 0600 or 0700, or less.
var wider = []widened{
	{"/m/etc/salt/pki/master/minions*", 0o755, "Salt makes it so; the folder above is 0700"},
	{"/etc/salt/pki/*/*.pub", 0o644, "public keys; the folder above is 0700"},
	{"/var/cache/salt/master", 0o755, "users of publisher_acl read their key there"},
	{"/var/cache/salt/master/grains", 0o755, "Salt's layout; the files are 0600"},
	{"/var/cache/salt/master/pillar", 0o755, "Salt's layout; the files are 0600"},
	{"/var/cache/salt/master/health", 0o755, "health checks run as anybody"},
	{"/var/cache/salt/master/health/*", 0o644, "health checks run as anybody"},
	{"/var/cache/salt/minion", 0o755, "Salt's layout"},
	{"/var/cache/salt/minion/extmods", 0o755, "Salt's layout: code that was fetched, nothing secret"},
	{"/var/cache/salt/minion/module_refresh", 0o644, "empty"},
	{"/var/log/salt", 0o750, "as Salt: a group may read logs"},
	{"/var/log/salt/*", 0o640, "as Salt: a group may read logs"},
	{"/var/run/*.pid", 0o644, "service managers read it"},
	{"/var/run/salt/*", 0o755, "users of publisher_acl reach the bus there"},
	{"/var/run/salt/master/master_event_pub.ipc", 0o660, "as Salt: a group may hear events"},
	{"/var", 0o755, ""}, {"/var/cache", 0o755, ""}, {"/var/cache/salt", 0o755, ""}, {"/var/log", 0o755, ""},
	{"/var/run", 0o755, ""}, {"/var/run/salt", 0o755, ""}, {"/etc", 0o755, ""}, {"/etc/salt", 0o755, ""},
	{"/etc/salt/pki", 0o755, ""},
}

// forUsers are further paths for users with rules who run Salt's own tools. These read the load of a job and
// its list of minions.
var forUsers = []widened{
	{"/var/cache/salt/master/jobs", 0o755, "Salt's tools of other users look for .load.p and .minions.p"},
	{"/var/cache/salt/master/jobs/??", 0o755, "the same"},
	{"/var/cache/salt/master/jobs/??/*", 0o755, "the same"},
	{"/var/cache/salt/master/jobs/??/*/.load.p", 0o644, "the same"},
	{"/var/cache/salt/master/jobs/??/*/.minions.p", 0o644, "the same"},
	{"/var/cache/salt/master/jobs/??/*/jid", 0o644, "the same: it tells a directory of a job"},
}

// TestModes checks all files of daemons and tools, with a common umask: in the default configuration, with
// Salt's layout of the job cache, and with users who need more access. Only then the access is wider.
func TestModes(t *testing.T) {
	for name, conf := range map[string]string{
		"default":     "",
		"local_cache": "master_job_cache: local_cache\n",
		"users": "master_job_cache: local_cache\npublisher_acl: {nobody: ['test.*']}\nexternal_auth: " +
			"{sharedsecret: {ann: ['test.*']}}\nsharedsecret: OpenSesame\n",
	} {
		allowed := wider
		if name == "users" {
			allowed = slices.Concat(wider, forUsers)
		}
		t.Run(name, func(t *testing.T) { testModes(t, conf, allowed) })
	}
}

func testModes(t *testing.T, conf string, allowed []widened) {
	defer syscall.Umask(syscall.Umask(0o022))
	s := newSite(t, conf)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = s.run(patience, client.Job{Tgt: honest, Fun: "cmd.run", Arg: []any{"sleep 2; echo hi"}})
	}()
	s.eventually("a proc entry", func() error {
		if entries, err := filepath.Glob(s.path(honest + "/var/cache/salt/minion/proc/*")); err != nil ||
			len(entries) == 0 {
			return errors.Join(err, fs.ErrNotExist)
		}
		return nil
	})
	s.checkModes(allowed)
	<-done
	for _, args := range [][]string{{"salt", honest, "grains.setval", "x", "y"}, {"salt", "--async", honest,
		"test.ping"}, {"salt-run", "jobs.list_jobs"}, {"salt-key", "-L"}} {
		if r := s.tool(args[0], args[1:]...); r.code != 0 {
			t.Errorf("%q: %+v", args, r)
		}
	}
	s.checkModes(allowed)
	s.minions[honest].kill()
	s.master.kill()
	s.checkModes(allowed)
}

// checkModes checks the directories of the master and of the minion.
func (s *site) checkModes(wider []widened) {
	s.t.Helper()
	for _, root := range []string{s.path("m"), s.path(honest)} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || path == root {
				return nil // it was removed meanwhile
			}
			info, err := d.Info()
			if err != nil || info.Mode()&fs.ModeSymlink != 0 {
				return nil
			}
			allowed := fs.FileMode(0o600)
			if d.IsDir() {
				allowed = 0o700
			}
			for _, w := range wider {
				below, _ := filepath.Match(w.end, strings.TrimPrefix(path, root)) // the patterns are valid
				whole, _ := filepath.Match(w.end, strings.TrimPrefix(path, s.root))
				if below || whole {
					allowed |= w.mode
				}
			}
			if extra := info.Mode().Perm() &^ allowed; extra != 0 {
				s.t.Errorf("%s is %v, at most %o is meant", strings.TrimPrefix(path, s.root), info.Mode(), allowed)
			}
			return nil
		})
		if err != nil {
			s.t.Error(err)
		}
	}
}
