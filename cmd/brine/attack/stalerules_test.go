package attack

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"brine/wire/payload"
)

// TestStaleRules: after the master has reloaded its files, the next request of a user with withdrawn rights is
// refused, and that of a user with new rights is served. A broken file changes nothing and is reported, as is a
// change of an option that needs a restart.
func TestStaleRules(t *testing.T) {
	const allowed = "sharedsecret: OpenSesame\nexternal_auth: {sharedsecret: {ann: [test.ping]}}\n"
	const others = "sharedsecret: OpenSesame\nexternal_auth: {sharedsecret: {bob: [test.ping]}}\n"
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP) // nohup ignores the signal, and the master would inherit that
	t.Cleanup(func() { signal.Stop(heard) })
	s := newSite(t, allowed)
	may := func(user string) bool {
		t.Helper()
		kw := payload.M("eauth", "sharedsecret", "username", user, "password", "OpenSesame")
		v, err := s.stranger().ask(payload.M("cmd", "publish", "tgt", honest, "tgt_type", "glob", "fun", "test.ping",
			"arg", []any{}, "ret", "", "jid", "", "user", user, "kwargs", kw))
		if err != nil {
			t.Fatal(err)
		}
		m, _ := v.(*payload.Map)
		return m.Has("load")
	}
	want := func(when string, ann, bob bool) {
		t.Helper()
		if a, b := may("ann"), may("bob"); a != ann || b != bob {
			t.Errorf("%s: ann may: %v, bob may: %v", when, a, b)
		}
	}
	told := 0 // number of log lines read so far
	await := func(what string) {
		t.Helper()
		s.eventually("the master says "+what, func() error {
			text := s.logOf(s.master)
			i := strings.Index(text[told:], what)
			if i < 0 {
				return errors.New("not yet")
			}
			told += i + len(what)
			return nil
		})
	}
	// replaces the master's file by a new one, as editors do
	replace := func(extra string) {
		t.Helper()
		path := s.path("etc/m/master")
		s.write(path+".new", overridden(fmt.Sprintf(masterConf, s.path("m"), s.pub, s.ret, s.user), extra))
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	want("before", true, false)

	replace(others)
	await("in force are: 'external_auth'")
	want("withdrawn", false, true)

	replace("external_auth: {sharedsecret: {ann: [test.ping]}\nworker_threads: [\n")
	await("cannot be read anew, nothing has changed")
	want("with a broken file", false, true)
	replace("transport: tcp\n" + allowed)
	await("'transport' with value tcp cannot be honoured yet")
	want("with an option that is not honoured", false, true)

	replace(allowed + "worker_threads: 5\n")
	await("in force are: 'external_auth'")
	await("'worker_threads' has changed")
	want("given back", true, false)

	// An included file in a directory that did not exist before.
	s.write(s.path("etc/m/master.d/rules.conf"), "external_auth: {sharedsecret: {bob: [test.ping]}}\n")
	await("in force are: 'external_auth'")
	want("by an included file", false, true)

	if err := s.master.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	await("nothing has changed")
	want("after SIGHUP", false, true)
	s.good()
}
