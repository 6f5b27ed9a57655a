package masterlink

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/session"
	"brine/config"
	"brine/wire/control"
	"brine/wire/ipc"
	"brine/wire/payload"
)

// TestGivenUp: a master that does not answer is silent. A question that the tool itself gives up does not
// count.
func TestGivenUp(t *testing.T) {
	dir := t.TempDir()
	server := ipc.NewControlServer(ipc.ControlOptions{Path: filepath.Join(dir, control.Socket)})
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}
	asked, served := make(chan struct{}, 2), make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		served <- server.Serve(ctx, func(ctx context.Context, _ ipc.Peer, q *payload.Map) (*payload.Map, error) {
			if q.Str("jid") == "refused" {
				return nil, errors.New("not today")
			}
			asked <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		})
	}()
	t.Cleanup(func() { cancel(); <-served })
	var log bytes.Buffer
	cfg := &config.Master{}
	cfg.SockDir = dir
	s := &session.Session{Master: cfg,
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for name, ask := range map[string]func(context.Context, string){
		"the master does not tell who got the job": func(ctx context.Context, jid string) {
			gone(ctx, s, jid, []string{"web1"})
		},
		"the master does not tell how minions stand": func(ctx context.Context, jid string) {
			standing(ctx, s, jid, []string{"web1"})
		},
	} {
		caller, giveUp := context.WithCancel(t.Context())
		go func() {
			<-asked
			giveUp()
		}()
		log.Reset()
		if ask(caller, "1"); log.Len() > 0 {
			t.Errorf("a question that was given up: %s", &log)
		}
		giveUp()
		if ask(t.Context(), "refused"); !strings.Contains(log.String(), name) || !strings.Contains(log.String(),
			"not today") {
			t.Errorf("a question that was refused: %q, want %q", &log, name)
		}
	}
}
