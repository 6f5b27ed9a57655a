package aside

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestGo(t *testing.T) {
	var log bytes.Buffer
	died, done := make(chan error, 1), make(chan struct{})
	Go(slog.New(slog.NewTextHandler(&log, nil)), "reader", func(err error) { died <- err }, func() { panic("boom") })
	if err := <-died; err == nil || err.Error() != "reader: boom" {
		t.Errorf("got %v", err)
	}
	if text := log.String(); !strings.Contains(text, "aside_test.go") {
		t.Errorf("no stack: %s", text)
	}
	Go(slog.New(slog.DiscardHandler), "reader", func(err error) { t.Error(err) }, func() { close(done) })
	<-done
}
