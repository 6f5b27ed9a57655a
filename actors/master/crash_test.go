package master

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"brine/wire/payload"
)

// startChild starts a master of this site as a process of its own and waits until it serves.
func (r *rig) startChild() *exec.Cmd {
	r.t.Helper()
	c := exec.Command(os.Args[0], r.cfg.ConfFile)
	c.Env = append(os.Environ(), envChild+"=1")
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		_ = c.Process.Kill()
		r.t.Fatalf("child says %q: %v", lines.Text(), c.Wait())
	}
	return c
}

// TestKilled kills a master at random moments while minions return as fast as they can. Every return that was
// acknowledged is there afterwards.
func TestKilled(t *testing.T) {
	r := newSite(t)
	const minions, rounds, least = 8, 4, 20 // returns that are acknowledged before a master is killed
	ids := make([]string, minions)
	for i := range ids {
		ids[i] = fmt.Sprintf("m%d", i)
		r.accept(ids[i], "minion")
	}
	acked := map[string]map[string]bool{} // jid → ids
	total := 0
	for round := range rounds {
		child := r.startChild()
		ctx, cancel := context.WithCancel(context.Background())
		type ack struct{ jid, id string }
		acks, done := make(chan ack, 1<<16), make(chan error, minions)
		for _, id := range ids {
			m := r.newMinion(id)
			m.signIn()
			go func() {
				defer m.q.Close()
				for n := 0; ; n++ {
					jid := fmt.Sprintf("202601%02d0000%08d", round+1, n)
					frame, nonce, err := m.Seal(ret(id, jid, "return", fmt.Sprintf("%s of %s", jid, id)))
					if err != nil {
						done <- err
						return
					}
					reply, err := m.q.Do(ctx, frame)
					if err != nil {
						done <- nil // the master is gone
						return
					}
					if v, err := m.Open(reply, nonce); err != nil || v != nil {
						done <- fmt.Errorf("answer %v, %w", v, errors.Join(err))
						return
					}
					acks <- ack{jid, id}
				}
			}()
		}
		r.eventually("acknowledged returns", func() error {
			if n := len(acks); n < least {
				return fmt.Errorf("%d", n)
			}
			return nil
		})
		timer := time.NewTimer(time.Duration(rand.IntN(300)) * time.Millisecond)
		<-timer.C
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // it was killed
		cancel()
		for range ids {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		close(acks)
		for a := range acks {
			if acked[a.jid] == nil {
				acked[a.jid] = map[string]bool{}
			}
			acked[a.jid][a.id] = true
			total++
		}
	}
	r.start()
	for jid, of := range acked {
		stored := r.stored(jid)
		for id := range of {
			if got := stored.Map(id).Value("return"); got != any(fmt.Sprintf("%s of %s", jid, id)) {
				t.Errorf("the return of %s for %s is lost: %v", id, jid, got)
			}
		}
	}
	m := r.newMinion("m0")
	m.signIn()
	jid := r.publish(payload.M("tgt", "m0"))
	m.giveBack(jid, "test.ping", true)
	t.Logf("%d returns acknowledged", total)
}
