package master

import (
	"context"
	"fmt"
	"testing"
	"time"

	"brine/wire/payload"
)

// TestOutstanding: a job is told as long as a return of it is missing, in both kinds of job cache.
func TestOutstanding(t *testing.T) {
	for _, conf := range []string{"chaos: False", "master_job_cache: local_cache"} {
		t.Run(conf, func(t *testing.T) {
			r := newRig(t, conf)
			m1 := r.minion("m1")
			r.accept("m2", "minion")
			jid := r.publish(payload.M("tgt", "m*", "fun", "test.echo", "arg", []any{"secret"}))
			outstanding := func() []any {
				t.Helper()
				got, err := r.m.Outstanding(context.Background(), time.Now().Add(-time.Hour))
				if err != nil {
					t.Fatal(err)
				}
				if !got.Bool("whole") {
					t.Errorf("the search was ended: %v", got)
				}
				return got.List("jobs")
			}
			r.eventually("the job", func() error {
				if n := len(outstanding()); n != 1 {
					return fmt.Errorf("%d jobs", n)
				}
				return nil
			})
			job := outstanding()[0].(*payload.Map)
			job.Delete("since")
			equal(t, "job", job, payload.M("jid", jid, "fun", "test.echo", "tgt", "m*", "tgt_type", "glob", "user",
				userName(), "minions", 2, "returned", 0, "outstanding", 2, "waiting_for", []any{"m1", "m2"}))
			m1.ask(payload.M("cmd", "_return", "id", "m1", "jid", jid, "fun", "test.echo", "return", "x", "retcode", 0,
				"success", true))
			job = outstanding()[0].(*payload.Map)
			equal(t, "waiting for", job.Value("waiting_for"), []any{"m2"})
			equal(t, "returned", job.Value("returned"), 1)
			if m := job.Has("arg"); m {
				t.Error("the arguments are told")
			}
		})
	}
}
