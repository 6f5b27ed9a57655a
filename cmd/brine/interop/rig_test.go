//go:build interop

package interop

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/cmd/tooltest"
	"brine/wire/loopback"
)

// brine is the kind of brine's own processes. Every other kind is the name of a Salt release.
const brine = "brine"

// reference is the release as which brine answers. Its minion and its tools are part of every mixed fleet.
const reference = "3008"

// releases are the Salt releases of this run, as -releases names them. By default they are all of
// .ci/salt-peers, newest first.
var releases = []string{reference, "3007", "3006", "3006v2"}

var flagReleases = flag.String("releases", strings.Join(releases, ","), "the Salt releases of this run")

// chosen keeps those releases of a list that -releases names.
func chosen(list ...string) []string {
	return slices.DeleteFunc(list, func(r string) bool { return !slices.Contains(releases, r) })
}

// onlyWith skips a test that needs only one release, if that release does not take part.
func onlyWith(t *testing.T, release string) {
	t.Helper()
	if len(chosen(release)) == 0 {
		t.Skipf("salt %s does not take part (-releases %s)", release, *flagReleases)
	}
}

// readReleases reads -releases.
func readReleases() error {
	known := releases
	releases = strings.Split(*flagReleases, ",")
	for _, r := range releases {
		if !slices.Contains(known, r) {
			return fmt.Errorf("-releases %s: %q is none of %s", *flagReleases, r, strings.Join(known, ", "))
		}
	}
	return nil
}

// brineBin is the binary under test, built once by TestMain. links is the folder with its tool names.
var brineBin, links string

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	flag.Parse()
	if err := readReleases(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	dir, err := os.MkdirTemp("", "brine-bin")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	brineBin, links = filepath.Join(dir, "brine"), filepath.Join(dir, "links")
	var flags []string
	if os.Getenv("BRINE_INTEROP_RACE") != "" {
		flags = append(flags, "-race")
	}
	if err := tooltest.Build(dir, flags...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// toolPath is the path of a tool of one kind: salt, salt-key, salt-master, ...
func toolPath(t testing.TB, kind, tool string) string {
	t.Helper()
	if kind == brine {
		return filepath.Join(links, tool)
	}
	cache := os.Getenv("BRINE_SALT_CACHE")
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Fatalf("cache directory: %v", err)
		}
		cache = filepath.Join(base, "brine", "salt")
	}
	dir := filepath.Join(cache, kind)
	if _, err := os.Stat(filepath.Join(dir, ".complete")); err != nil {
		t.Fatalf("salt %s is not installed (run .ci/salt-peers): %v", kind, err)
	}
	return filepath.Join(dir, "bin", tool)
}

// These times must be enough on a slow and busy machine.
const (
	patience = 120 * time.Second // one wait for a condition
	lastCall = 20 * time.Second  // so long before the time of the whole run is over, the daemons are killed
	slow     = 3 * time.Second   // a command that takes longer is logged
)

// site is one master and its minions, all below one short directory.
type site struct {
	t        *testing.T // the current test or step
	root     string
	pub, ret int
	master   *daemon
	wait     string        // -t of a job
	tries    int           // attempts for a job that may lose returns
	limit    time.Duration // limit of one salt
	minions  map[string]*daemon
	started  pack
	dumps    int // number of times that the logs were shown
}

// newSite makes the directory and picks two free ports. It starts nothing. Everything ends with the test.
func newSite(t *testing.T) *site {
	t.Helper()
	tooltest.LookAtTree(t)
	root, err := os.MkdirTemp("/tmp", "bi") // short, because paths of Unix sockets have at most 107 bytes
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, root: root, pub: freePort(t), ret: freePort(t), minions: map[string]*daemon{}}
	if end, ok := t.Deadline(); ok { // the run ends without clean-up at that time
		watchdog := time.AfterFunc(time.Until(end)-lastCall, s.started.kill)
		t.Cleanup(func() { watchdog.Stop() })
	}
	t.Cleanup(func() {
		s.started.kill()
		if t.Failed() && s.dumps == 0 {
			s.dumpLogs()
		}
		if err := os.RemoveAll(root); err != nil {
			t.Errorf("remove %s: %v", root, err)
		}
	})
	return s
}

func freePort(t testing.TB) int {
	t.Helper()
	p, err := loopback.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Release() }) // it ends with the process at the latest
	return p.Number
}

func (s *site) masterDir() string           { return filepath.Join(s.root, "m", "etc") }
func (s *site) masterPath(p string) string  { return filepath.Join(s.root, "m", p) }
func (s *site) minionDir(id string) string  { return filepath.Join(s.root, id, "etc") }
func (s *site) minionRoot(id string) string { return filepath.Join(s.root, id) }

// configMaster writes the master's file. extra contains further lines of YAML, which replace the defaults here.
func (s *site) configMaster(extra string) {
	s.t.Helper()
	s.write(filepath.Join(s.masterDir(), "master"), fmt.Sprintf(`root_dir: %s
interface: 127.0.0.1
publish_port: %d
ret_port: %d
user: root
worker_threads: 3
gather_job_timeout: 3
loop_interval: 2
log_level_logfile: info
`, filepath.Join(s.root, "m"), s.pub, s.ret)+extra)
}

// configMinion writes the file of one minion.
func (s *site) configMinion(id, extra string) {
	s.t.Helper()
	s.write(filepath.Join(s.minionDir(id), "minion"), fmt.Sprintf(`root_dir: %s
master: 127.0.0.1
publish_port: %d
master_port: %d
id: %s
user: root
acceptance_wait_time: 1
random_reauth_delay: 1
recon_default: 100
recon_max: 400
return_retry_timer: 2
return_retry_timer_max: 3
log_level_logfile: info
`, s.minionRoot(id), s.pub, s.ret, id)+extra)
}

func (s *site) write(path, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// startMaster starts the master of a kind and waits until its request port answers.
func (s *site) startMaster(kind string) {
	s.t.Helper()
	bus := s.masterPath("var/run/salt/master/master_event_pub.ipc")
	if err := os.Remove(bus); err != nil && !os.IsNotExist(err) { // left by a killed master
		s.t.Fatal(err)
	}
	// The events of a brine master reach every listener that has connected before, so no job may need its -t.
	// The event publisher of real Salt may handle a return before the connection of the salt that waits for it.
	// That salt then waits for its -t, or hangs.
	s.wait, s.tries, s.limit = "60", 1, patience
	if kind != brine {
		s.wait, s.tries, s.limit = "8", 3, 45*time.Second
	}
	s.master = s.start(kind+"-master", toolPath(s.t, kind, "salt-master"), "-c", s.masterDir(), "-l", "info")
	s.eventually(patience, "the master's request port", func() error {
		c, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", s.ret), time.Second)
		if err != nil {
			return err
		}
		defer c.Close()
		_, err = os.Stat(bus)
		return err
	})
}

// startMinion starts one minion of a kind. Call configMinion for the id before.
func (s *site) startMinion(kind, id string) {
	s.t.Helper()
	s.minions[id] = s.start(kind+"-minion-"+id, toolPath(s.t, kind, "salt-minion"), "-c", s.minionDir(id), "-l", "info",
		"--disable-keepalive")
}

// result is the result of a command.
type result struct {
	stdout, stderr string
	code           int
	took           time.Duration
}

// run runs a tool of a kind against the site's master configuration.
func (s *site) run(kind, tool string, args ...string) result {
	s.t.Helper()
	return s.runIn(s.masterDir(), kind, tool, args...)
}

func (s *site) runIn(confDir, kind, tool string, args ...string) result {
	s.t.Helper()
	limit := patience
	if tool == "salt" && s.limit > 0 {
		limit = s.limit
	}
	for try := 1; ; try++ {
		r, err := s.runOnce(limit, confDir, kind, tool, args...)
		switch {
		case err == nil:
			return r
		case !errors.Is(err, context.DeadlineExceeded) || try >= s.tries:
			s.t.Fatalf("%s %s %q: %v after %v\n%s%s", kind, tool, args, err, r.took, r.stdout, r.stderr)
		}
		s.t.Logf("%s %s %q: no end after %v, once more", kind, tool, args, r.took)
	}
}

func (s *site) runOnce(limit time.Duration, confDir, kind, tool string, args ...string) (result, error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, toolPath(s.t, kind, tool), append([]string{"-c", confDir}, args...)...)
	cmd.Env = s.env()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.WaitDelay = time.Second
	start := time.Now()
	err := cmd.Run()
	r := result{stdout: out.String(), stderr: errOut.String(), took: time.Since(start)}
	if r.took > slow {
		s.t.Logf("%v: %s %s %q", r.took.Round(time.Millisecond), kind, tool, args)
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return r, context.DeadlineExceeded
	case errors.As(err, &exit):
		r.code = exit.ExitCode()
	case err != nil:
		return r, err
	}
	return r, nil
}

// env keeps the user's token file and Saltfile out of the tests.
func (s *site) env() []string {
	return append(os.Environ(), "HOME="+s.root, "SALT_CONFIG_DIR=", "LC_ALL=C.UTF-8", "COLUMNS=80",
		"PYTHONWARNINGS=ignore")
}

// eventually calls try every 50 ms until it returns nil. After limit the test fails with the last error.
func (s *site) eventually(limit time.Duration, what string, try func() error) {
	s.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	var err error
	for end := time.Now().Add(limit); time.Now().Before(end); <-tick.C {
		if err = try(); err == nil {
			return
		}
		for _, d := range s.daemons() {
			if d.ended() {
				s.t.Fatalf("waiting for %s: %s ended: %v", what, d.name, d.cmd.ProcessState)
			}
		}
	}
	s.t.Fatalf("%s: not within %v: %v", what, limit, err)
}

func (s *site) daemons() []*daemon {
	var all []*daemon
	if s.master != nil {
		all = append(all, s.master)
	}
	for _, d := range s.minions {
		all = append(all, d)
	}
	return all
}
