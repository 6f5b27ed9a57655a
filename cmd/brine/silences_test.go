package main

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/cmd/tool"
	"brine/modules/fleet/keys"
	"brine/modules/fleet/ledger"
	"brine/wire/control"
	"brine/wire/payload"
)

// silence stages one reason. stage tells which minion is silent about which job.
type silence struct {
	name  string
	stage func(t *testing.T, s *silentSite) (jid, id string)
	code  ledger.Code
	text  string // part of the reason
}

// TestSilences stages the reasons why a minion can be silent, and compares them with the output of brine why.
// It uses one master, a few minions, each in its own process, and minions inside this process that do things no
// healthy minion does.
func TestSilences(t *testing.T) {
	t.Parallel()
	s := newSilentSite(t)
	s.config()
	s.start("master", "salt-master")
	for _, m := range []struct {
		id   string
		cut  bool
		conf []string
	}{
		{"w1", false, []string{"chaos: True"}}, {"q1", false, []string{"process_count_max: 1", "job_queue_max: 2"}},
		{"p1", false, []string{"multiprocessing: True", "job_memory_limit: 64000000"}},
		{"b1", false, []string{"grains: {minion_blackout: True}"}}, {"d1", false, []string{"return_spool_max_bytes: " +
			"20000"}}, {"k1", false, nil}, {"k2", false, nil}, {"k3", false, nil}, {"z1", false, nil},
		{"z2", false, nil}, {"n1", true, nil}, {"n2", true, nil}, {"n3", true, nil},
	} {
		s.minion(m.id, m.cut, m.conf...)
		s.start(m.id, "salt-minion")
	}
	s.minion("late1", false)
	s.minion("off1", false)
	s.connected(t, "yes", "w1", "q1", "p1", "b1", "d1", "k1", "k2", "k3", "z1", "z2", "n1", "n2", "n3")
	for _, id := range []string{"w1", "q1", "p1", "b1", "d1", "k1", "k2", "k3", "z1", "z2", "n1", "n2", "n3"} {
		// wait until they take jobs
		s.hop(t, s.one(t, id, "test.ping"), ledger.HopStore, id)
	}
	total := 0
	run := func(group string, parallel bool, list []silence) {
		t.Run(group, func(t *testing.T) {
			for _, c := range list {
				if c.code != ledger.Returned && c.code != ledger.ReturnedLate { // a returned job is no silence
					total++
				}
				t.Run(c.name, func(t *testing.T) {
					if parallel {
						t.Parallel()
					}
					jid, id := c.stage(t, s)
					s.await(t, jid, id, c.code, c.text)
				})
			}
		})
	}
	run("keys", true, keySilences())
	run("targets", true, targetSilences())
	run("jobs", true, jobSilences())
	run("connections", true, linkSilences())
	run("sites", true, siteSilences())
	t.Run("salt", func(t *testing.T) { saltSaysWhy(t, s) })
	run("Salt's", false, saltSilences()) // while they run, unnamed minions cannot be distinguished
	run("refusals", true, refusedSilences())
	run("states", true, stateSilences())
	run("master", false, masterSilences())
	if total < 60 {
		t.Errorf("%d silences are staged", total)
	}
}

// keySilences are about minions that the master does not accept.
func keySilences() []silence {
	named := func(id string, st keys.Status) func(*testing.T, *silentSite) (string, string) {
		return func(t *testing.T, s *silentSite) (string, string) {
			if st != "" {
				s.put(st, id)
			}
			return s.list(t, []string{"w1", id}, "test.ping"), id
		}
	}
	// since stages a minion whose key changes after the job was sent.
	since := func(id string, change func(t *testing.T, s *silentSite)) func(*testing.T, *silentSite) (string, string) {
		return func(t *testing.T, s *silentSite) (string, string) {
			s.put(keys.Accepted, id)
			jid := s.list(t, []string{"w1", id}, "test.ping")
			s.sent(t, jid)
			if _, err := s.keys.Remove(keys.Accepted, id); err != nil {
				t.Fatal(err)
			}
			change(t, s)
			return jid, id
		}
	}
	return []silence{
		{"pending", named("key-pending", keys.Pending), ledger.KeyPending, "salt-key -a key-pending"},
		{"rejected", named("key-rejected", keys.Rejected), ledger.KeyRejected, "its key is rejected"},
		{"denied", named("key-denied", keys.Denied), ledger.KeyDenied, "its key is denied"},
		{"never seen", named("key-never", ""), ledger.KeyNone, "has no key of it"},
		{"deleted since", since("key-deleted", func(*testing.T, *silentSite) {}), ledger.KeyDeleted,
			"deleted since the job was published"},
		{"rejected since", since("key-rejected-since", func(_ *testing.T, s *silentSite) {
			s.put(keys.Rejected, "key-rejected-since")
		}),
			ledger.KeyRejected, "was accepted when the job was published"},
		{"pending again", since("key-pending-again", func(_ *testing.T, s *silentSite) {
			s.put(keys.Pending, "key-pending-again")
		}),
			ledger.KeyPending, "was accepted when the job was published"},
		{"denied since", since("key-denied-since", func(_ *testing.T, s *silentSite) {
			s.put(keys.Denied, "key-denied-since")
		}),
			ledger.KeyDenied, "its key is denied"},
		{"accepted since", func(t *testing.T, s *silentSite) (string, string) {
			s.put(keys.Pending, "key-new")
			jid := s.list(t, []string{"w1", "key-new"}, "test.ping")
			if _, err := s.keys.Remove(keys.Pending, "key-new"); err != nil {
				t.Fatal(err)
			}
			s.put(keys.Accepted, "key-new")
			return jid, "key-new"
		}, ledger.KeyNone, "no accepted key of it when the job was published"},
	}
}

// targetSilences are about minions that a job does not target, and about jobs that do not exist.
func targetSilences() []silence {
	other := func(tgt any, tgtType string) func(*testing.T, *silentSite) (string, string) {
		return func(t *testing.T, s *silentSite) (string, string) {
			return s.publish(t, tgt, tgtType, "test.ping"), "b1"
		}
	}
	// stale stages a target that matches the minion by the master's cached data, but not by the minion's real
	// data.
	stale := func(id, tgt, tgtType string) func(*testing.T, *silentSite) (string, string) {
		return func(t *testing.T, s *silentSite) (string, string) {
			s.grains(id, "role", "stale-"+id)
			return s.publish(t, tgt, tgtType, "test.ping"), id
		}
	}
	return []silence{
		{"glob", other("w*", "glob"), ledger.NotTargeted, "the target w* (glob) did not mean it"},
		{"list", other([]any{"w1", "q1"}, "list"), ledger.NotTargeted, "(list) did not mean it"},
		{"pcre", other("w[0-9]", "pcre"), ledger.NotTargeted, "(pcre) did not mean it"},
		{"compound", other("w1 and not b1", "compound"), ledger.NotTargeted, "(compound) did not mean it"},
		{"grain", func(t *testing.T, s *silentSite) (string, string) {
			s.grains("q1", "role", "queue")
			return s.publish(t, "role:queue", "grain", "test.ping"), "b1"
		}, ledger.NotTargeted, "(grain) did not mean it"},
		{"grain, not on the minion", stale("k1", "role:stale-k1", "grain"), ledger.JobNotMatched,
			"role:stale-k1 (grain)"},
		{"grain_pcre, not on the minion", stale("k2", "role:stale-k2$", "grain_pcre"), ledger.JobNotMatched,
			"(grain_pcre)"},
		{"compound, not on the minion", stale("k3", "G@role:stale-k3", "compound"), ledger.JobNotMatched, "(compound)"},
		{"no such job", func(*testing.T, *silentSite) (string, string) {
			return payload.NewJID(time.Now()), "w1"
		}, ledger.UnknownJob, "knows no job"},
		{"a job of old", func(*testing.T, *silentSite) (string, string) {
			return "20200101000000000000", "w1"
		}, ledger.Expired, "older than keep_jobs"},
		{"no jid", func(*testing.T, *silentSite) (string, string) {
			return "../../x", "w1"
		}, ledger.UnknownJob, "knows no job ../../x"},
	}
}

// jobSilences are about jobs that a minion has received.
func jobSilences() []silence {
	sleeping := func(t *testing.T, s *silentSite, id string) string {
		jid := s.one(t, id, "test.sleep", int64(600))
		s.running(t, jid, id)
		return jid
	}
	signal := func(fun string) func(*testing.T, *silentSite) (string, string) {
		return func(t *testing.T, s *silentSite) (string, string) {
			jid := sleeping(t, s, "w1")
			s.one(t, "w1", fun, jid)
			return jid, "w1"
		}
	}
	process := func(fun string, arg any, sig syscall.Signal) func(*testing.T, *silentSite) (string, string) {
		return func(t *testing.T, s *silentSite) (string, string) {
			jid := s.one(t, "p1", fun, arg)
			if sig != 0 {
				s.signalJob(t, "p1", jid, sig)
			}
			return jid, "p1"
		}
	}
	done := func(fun string, args ...any) func(*testing.T, *silentSite) (string, string) {
		return func(t *testing.T, s *silentSite) (string, string) { return s.one(t, "w1", fun, args...), "w1" }
	}
	return []silence{
		{"slow", func(t *testing.T, s *silentSite) (string, string) {
			return s.one(t, "w1", "test.sleep", int64(600)), "w1"
		}, ledger.JobRunning, "it has been running the job since"},
		{"hanging command", func(t *testing.T, s *silentSite) (string, string) {
			return s.one(t, "w1", "cmd.run", "sleep 600"), "w1"
		}, ledger.JobRunning, "saltutil.kill_job"},
		{"hanging in a process", func(t *testing.T, s *silentSite) (string, string) {
			return s.one(t, "p1", "test.sleep", int64(600)), "p1"
		}, ledger.JobRunning, "it has been running the job since"},
		{"queue", func(t *testing.T, s *silentSite) (string, string) {
			// one case, because the jobs of this minion depend on each other
			sleeping(t, s, "q1")
			first := s.one(t, "q1", "test.ping")
			s.await(t, first, "q1", ledger.JobQueued, "waiting behind 1 other on the minion")
			second := s.one(t, "q1", "test.ping")
			s.await(t, second, "q1", ledger.JobQueued, "waiting behind 2 others on the minion")
			full := s.one(t, "q1", "test.ping")
			s.await(t, full, "q1", ledger.JobQueueFull, "2 jobs wait")
			s.one(t, "q1", "saltutil.kill_job", first)
			return first, "q1"
		}, ledger.JobKilled, "signal 9"},
		{"killed", signal("saltutil.kill_job"), ledger.JobKilled, "signal 9 (killed)"},
		{"terminated", signal("saltutil.term_job"), ledger.JobKilled, "signal 15 (terminated)"},
		{"actor died", func(t *testing.T, s *silentSite) (string, string) {
			jid := sleeping(t, s, "w1")
			if _, err := s.askAt(s.path("w1/var/run/salt/minion"),
				control.Pack(control.CrashActor{Name: "Jobs/Job-" + jid, How: "panic"})); err != nil {
				t.Fatal(err)
			}
			return jid, "w1"
		}, ledger.JobPanicked, "panicked on the minion"},
		{"process killed", process("test.sleep", int64(600), syscall.SIGKILL), ledger.JobKilled, "signal 9 (killed)"},
		{"process terminated", process("cmd.run", "sleep 600", syscall.SIGTERM), ledger.JobKilled,
			"signal 15 (terminated)"},
		{"out of memory", process("cmd.run", "head -c 300000000 /dev/zero", 0), ledger.JobOOM, "for want of memory"},
		{"blackout", func(t *testing.T, s *silentSite) (string, string) {
			return s.one(t, "b1", "test.ping"), "b1"
		}, ledger.JobBlackout, "minion_blackout"},
		{"return too large for the spool", func(t *testing.T, s *silentSite) (string, string) {
			return s.one(t, "d1", "cmd.run", "head -c 30000 /dev/zero | tr '\\0' x"), "d1"
		}, ledger.Returned, "it returned"},
		{"returned", done("test.ping"), ledger.Returned, "it returned"},
		{"exception", done("test.exception", "boom"), ledger.Returned, "it returned"},
		{"no such function", done("no.such"), ledger.Returned, "it returned"},
		{"returned late", func(t *testing.T, s *silentSite) (string, string) {
			jid := s.one(t, "w1", "test.sleep", int64(1))
			facts := (&ledger.Client{Ended: ledger.At(time.Now()) - 1}).Map()
			if _, err := s.ask(control.Pack(control.NoteClient{JID: jid, Facts: facts})); err != nil {
				t.Fatal(err)
			}
			return jid, "w1"
		}, ledger.ReturnedLate, "after the command line had stopped waiting"},
		{"minion killed and started again", func(t *testing.T, s *silentSite) (string, string) {
			jid := sleeping(t, s, "k1")
			s.stop("k1", syscall.SIGKILL)
			s.connected(t, "no", "k1")
			s.start("k1", "salt-minion")
			return jid, "k1"
		}, ledger.JobRestarted, "the minion's process ended while the job ran"},
		{"minion killed", func(t *testing.T, s *silentSite) (string, string) {
			jid := sleeping(t, s, "k2")
			s.told(t, jid, "k2")
			s.stop("k2", syscall.SIGKILL)
			return jid, "k2"
		}, ledger.ConnectionLost, "it has been running the job since"},
		{"minion stopped", func(t *testing.T, s *silentSite) (string, string) {
			jid := sleeping(t, s, "k3")
			s.stop("k3", syscall.SIGTERM)
			return jid, "k3"
		}, ledger.JobStopped, "was stopped while the job ran"},
	}
}

// signalJob sends a signal to the process of a job, as soon as that exists.
func (s *silentSite) signalJob(t *testing.T, id, jid string, sig syscall.Signal) {
	t.Helper()
	s.running(t, jid, id)
	pid := 0
	s.until(t, "process of "+jid, func() bool {
		jobs, err := s.askAt(s.path(id+"/var/run/salt/minion"), control.Pack(control.GetJobList{}))
		if err != nil {
			return false
		}
		for _, v := range jobs.List("running") {
			if job, _ := v.(*payload.Map); job.Str("jid") == jid {
				n, _ := job.Int("pid")
				pid = int(n)
			}
		}
		return pid != 0 && pid != s.proc(id).Process.Pid
	})
	if err := syscall.Kill(pid, sig); err != nil {
		t.Error(err)
	}
}

// linkSilences are about minions and their connections.
func linkSilences() []silence {
	return []silence{
		{"never connected", func(t *testing.T, s *silentSite) (string, string) {
			jid := s.one(t, "off1", "test.ping")
			s.sent(t, jid)
			return jid, "off1"
		}, ledger.NotConnected, "start the minion and publish it once more"},
		{"connected since", func(t *testing.T, s *silentSite) (string, string) {
			jid := s.one(t, "late1", "test.ping")
			s.sent(t, jid)
			s.start("late1", "salt-minion")
			s.connected(t, "yes", "late1")
			return jid, "late1"
		}, ledger.NotConnected, "it is now, but jobs are not sent again"},
		{"stopped before", func(t *testing.T, s *silentSite) (string, string) {
			s.minion("gone1", false)
			s.start("gone1", "salt-minion")
			s.connected(t, "yes", "gone1")
			s.stop("gone1", syscall.SIGTERM)
			s.connected(t, "no", "gone1")
			return s.one(t, "gone1", "test.ping"), "gone1"
		}, ledger.NotConnected, "not connected when the job was sent"},
		{"frozen", func(t *testing.T, s *silentSite) (string, string) {
			s.signal("z1", syscall.SIGSTOP)
			return s.one(t, "z1", "test.ping"), "z1"
		}, ledger.NoAnswer, "did not answer when asked just now"},
		{"frozen while it ran", func(t *testing.T, s *silentSite) (string, string) {
			jid := s.one(t, "z2", "test.sleep", int64(600))
			s.told(t, jid, "z2")
			s.signal("z2", syscall.SIGSTOP)
			return jid, "z2"
		}, ledger.NoAnswer, "it has been running the job since"},
		{"partition without a word", func(t *testing.T, s *silentSite) (string, string) {
			s.wires["n1"].cut(t, true)
			return s.one(t, "n1", "test.ping"), "n1"
		}, ledger.NoAnswer, "or the network drops what is sent"},
		{"partition that ends connections", func(t *testing.T, s *silentSite) (string, string) {
			jid := s.one(t, "n2", "test.sleep", int64(600))
			s.told(t, jid, "n2")
			s.wires["n2"].cut(t, false)
			return jid, "n2"
		}, ledger.ConnectionLost, "its connection was lost"},
		{"partition before the job", func(t *testing.T, s *silentSite) (string, string) {
			s.wires["n3"].cut(t, false)
			s.connected(t, "no", "n3")
			return s.one(t, "n3", "test.ping"), "n3"
		}, ledger.NotConnected, "not connected when the job was sent"},
	}
}

// masterSilences are about the master itself. They depend on each other's order, and each of them disturbs all
// other cases.
func masterSilences() []silence {
	var before, running, returned string
	return []silence{
		{"publication held up", func(t *testing.T, s *silentSite) (string, string) {
			if _, err := s.ask(control.Pack(control.CrashActor{Name: "Publisher", How: "hang"})); err != nil {
				t.Fatal(err)
			}
			return s.one(t, "w1", "test.ping"), "w1"
		}, ledger.Publishing, "has not sent it yet"},
		{"master restarted while it runs", func(t *testing.T, s *silentSite) (string, string) {
			if _, err := s.ask(control.Pack(control.RestartActor{Name: "Publisher"})); err != nil {
				t.Fatal(err)
			}
			s.alive(t, "w1")
			running = s.one(t, "w1", "test.sleep", int64(600))
			s.running(t, running, "w1")
			before = s.one(t, "off1", "test.ping")
			s.sent(t, before)
			returned = s.one(t, "w1", "test.ping")
			s.await(t, returned, "w1", ledger.Returned, "it returned")
			s.stop("master", syscall.SIGTERM)
			s.start("master", "salt-master")
			s.connected(t, "yes", "w1")
			return running, "w1"
		}, ledger.JobRunning, "it has been running the job since"},
		{"not connected, said by the next master", func(*testing.T, *silentSite) (string, string) {
			return before, "off1"
		},
			ledger.NotConnected, "not connected when the job was sent"},
		{"returned, said by the next master", func(*testing.T, *silentSite) (string, string) {
			return returned, "w1"
		}, ledger.Returned, "it returned"},
		{"not meant, said by the next master", func(*testing.T, *silentSite) (string, string) {
			return returned, "p1"
		}, ledger.NotTargeted, "did not mean it"},
		{"master killed while it runs", func(t *testing.T, s *silentSite) (string, string) {
			s.stop("master", syscall.SIGKILL)
			s.start("master", "salt-master")
			s.connected(t, "yes", "w1")
			return running, "w1"
		}, ledger.JobRunning, "it has been running the job since"},
		{"returned to the next master", func(t *testing.T, s *silentSite) (string, string) {
			s.one(t, "w1", "saltutil.kill_job", running)
			return running, "w1"
		}, ledger.JobKilled, "signal 9"},
	}
}

// alive waits until a minion receives jobs again.
func (s *silentSite) alive(t *testing.T, id string) {
	t.Helper()
	s.until(t, id+" alive", func() bool {
		jid := s.one(t, id, "test.ping")
		for range 50 {
			if code, _, _ := s.why(jid, id); code == string(ledger.Returned) {
				return true
			}
			if code, _, _ := s.why(jid, id); code == string(ledger.NotConnected) {
				return false
			}
		}
		return false
	})
}

// saltSaysWhy runs salt. stdout is as in Salt, and the reasons are on stderr. salt does not wait for a minion
// that cannot have received the job.
func saltSaysWhy(t *testing.T, s *silentSite) {
	s.grains("off1", "os", "Debian") // Salt calls only a minion with cached data "Not connected"
	ctx, cancel := context.WithTimeout(t.Context(), silentPatience)
	defer cancel()
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(ctx, "salt", "-c", s.path("etc/master"), "-t", "600", "--why", "-L",
		"w1,off1,key-pending", "test.ping")
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "LC_ALL=C.UTF-8")
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil || cmd.ProcessState.ExitCode() != tool.ExitGeneric {
		t.Errorf("it ended with %v, %v", err, ctx.Err())
	}
	want := "w1:\n    True\nkey-pending:\n    Minion did not return. [Key not accepted]\n    The key of this minion " +
		"waits to be accepted.\n" +
		"off1:\n    Minion did not return. [Not connected]\n"
	if got := stdout.String(); sortedBlocks(got) != sortedBlocks(want) {
		t.Errorf("stdout:\n%s\nwant:\n%s", got, want)
	}
	for _, line := range []string{"key-pending: its key waits to be accepted: salt-key -a key-pending [key_pending]\n",
		"off1: it was not connected when the job was sent", "[not_connected]\n"} {
		if !strings.Contains(stderr.String(), line) {
			t.Errorf("stderr:\n%s\nwants: %s", stderr.String(), line)
		}
	}
}

// sortedBlocks sorts the output of salt by minion.
func sortedBlocks(text string) string {
	blocks := strings.SplitAfter(strings.ReplaceAll(text, "\n    ", "\v"), "\n")
	slices.Sort(blocks)
	return strings.Join(blocks, "")
}
