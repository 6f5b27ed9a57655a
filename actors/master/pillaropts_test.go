package master

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"brine/actors/master/copies"
)

// TestUnreadableJobCache: an external job cache from which nobody can read is told by name, and a master job cache of
// that kind keeps the master from starting.
func TestUnreadableJobCache(t *testing.T) {
	r := newSite(t)
	r.start()
	calls := r.m.core.machine
	var said bytes.Buffer
	log := slog.New(slog.NewTextHandler(&said, nil))
	if _, err := copies.NewJobs(copies.JobOptions{Master: "elasticsearch", Dir: t.TempDir()}, calls, nil, nil,
		log); err == nil ||
		!strings.Contains(err.Error(), "elasticsearch.get_jid, elasticsearch.get_jids") {
		t.Errorf("master_job_cache: got %v", err)
	}
	j, err := copies.NewJobs(copies.JobOptions{Ext: "elasticsearch", Dir: t.TempDir()}, calls, nil, nil, log)
	if err != nil || !strings.Contains(said.String(), "elasticsearch.get_jid, elasticsearch.get_jids") {
		t.Fatalf("ext_job_cache: said %q, %v", &said, err)
	}
	if err := j.Part.Close(); err != nil {
		t.Error(err)
	}
}
