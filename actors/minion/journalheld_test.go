package minion

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brine/actors/minion/journal"
	"brine/actors/minion/link"
	"brine/wire/payload"
)

// leaveJob lets a dead process have begun a job, and keeps the journal as a copy of its descriptor does.
func leaveJob(t *testing.T, r *rig) *journal.File {
	t.Helper()
	file, err := openLeft(filepath.Join(r.cfg.CacheDir, "jobs.journal"))
	if err != nil {
		t.Fatal(err)
	}
	l := link.New(link.Options{Master: r.cfg.Masters[0]})
	body, err := payload.MarshalBin(begunBy(load(jid(1), "t.echo")))
	if err = errors.Join(err, file.Write(r.clock.Now(), journal.Record{Kind: journal.Begun, Key: jid(1), Link: l.Name(),
		Body: body})); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestJournalHeldAtTheStart: a minion waits for a journal that is about to be let go, and answers for the job in it.
func TestJournalHeldAtTheStart(t *testing.T) {
	r := newRig(t, "")
	file := leaveJob(t, r)
	r.opt.journalPatience = time.Minute
	go func() {
		for !slices.ContainsFunc(r.log.Lines(), func(line string) bool {
			return strings.Contains(line, "waiting for its end")
		}) {
			<-time.After(time.Millisecond)
		}
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	r.up()
	if got := r.master().awaitReturn(t, jid(1)).Value("return"); got != sayLost {
		t.Errorf("got %v, want %q", got, sayLost)
	}
}

// TestJournalHeldForLong: one that is not let go keeps no minion from its work. When it is, the job in it is answered.
func TestJournalHeldForLong(t *testing.T) {
	r := newRig(t, "")
	file := leaveJob(t, r)
	r.opt.journalPatience = time.Millisecond
	r.up()
	f := r.master()
	if got := r.run(jid(2), "t.echo", "x").Value("return"); got != "x" {
		t.Errorf("while another process has the journal: got %v", got)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if got := r.run(jid(3), "t.echo", "y").Value("return"); got != "y" {
		t.Errorf("got %v", got)
	}
	if got := f.awaitReturn(t, jid(1)).Value("return"); got != sayLost {
		t.Errorf("got %v, want %q", got, sayLost)
	}
	r.log.Await(t, sayJournalAgain)
}
