//go:build interop

package interop

import (
	"compress/gzip"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// spanStore is an OpenTelemetry collector that stores the traces it receives.
type spanStore struct {
	mu     sync.Mutex
	traces map[string]map[string]string // observer of each "SERVICE NAME", by trace
}

func newSpanStore(t *testing.T) (*spanStore, string) {
	t.Helper()
	c := &spanStore{traces: map[string]map[string]string{}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := c.take(r); err != nil {
			t.Errorf("spans: %v", err)
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	t.Cleanup(server.Close)
	return c, server.URL + "/v1/traces"
}

func (c *spanStore) take(r *http.Request) error {
	var from io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return err
		}
		from = z
	}
	body, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	var data tracepb.TracesData
	if err := proto.Unmarshal(body, &data); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rs := range data.GetResourceSpans() {
		service := ""
		for _, a := range rs.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				service = a.GetValue().GetStringValue()
			}
		}
		for _, scope := range rs.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				id := hex.EncodeToString(span.GetTraceId())
				if c.traces[id] == nil {
					c.traces[id] = map[string]string{}
				}
				c.traces[id][service+" "+span.GetName()] = scope.GetScope().GetName()
			}
		}
	}
	return nil
}

// with checks that one trace has all these spans, each observed by "brine" or "salt".
func (c *spanStore) with(want map[string]string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var best []string
	for _, spans := range c.traces {
		var lacks []string
		for name, scope := range want {
			if spans[name] != scope {
				lacks = append(lacks, name)
			}
		}
		if len(lacks) == 0 {
			return nil
		}
		if best == nil || len(lacks) < len(best) {
			best = lacks
		}
	}
	return fmt.Errorf("no trace has them all; the best of %d lacks %s", len(c.traces), strings.Join(best, ", "))
}

// TestTracesWithSalt: the spans of a brine master, and those of a minion and a command line of Salt 3008, form
// one trace.
func TestTracesWithSalt(t *testing.T) {
	onlyWith(t, reference)
	t.Parallel()
	c, url := newSpanStore(t)
	s := newSite(t)
	tracing := "tracing: {enabled: True, endpoint: '" + url + "'}\n"
	s.configMaster("auto_accept: True\n" + tracing)
	s.startMaster(brine)
	fleet := []string{"mbrine", "m3008"}
	for kind, extra := range map[string]string{brine: "", reference: tracing} {
		s.configMinion("m"+kind, extra)
		s.startMinion(kind, "m"+kind)
	}
	for _, kind := range chosen("3007", "3006") { // they do not know traces and must not fail because of them
		s.configMinion("m"+kind, "")
		s.startMinion(kind, "m"+kind)
		fleet = append(fleet, "m"+kind)
	}
	s.awaitPing(fleet...)
	// One of several jobs must have a complete trace. On a slow machine a part may be too late for its trace.
	s.eventually(patience, "trace of a job of brine's command line", func() error {
		s.mustRun(brine, "salt", "-t", "20", "*", "test.echo", "x")
		return c.with(map[string]string{
			"salt salt.cli.test.echo":                       "brine",
			"salt-master salt.req.recv.publish":             "brine",
			"salt-master salt.pub.send":                     "brine",
			"salt-master salt.req.recv._return":             "brine",
			"salt-minion-mbrine salt.minion.exec.test.echo": "brine",
			"salt-minion-m3008 salt.minion.recv.test.echo":  "salt",
		})
	})
	s.eventually(patience, "trace of a job of Salt's command line", func() error {
		s.mustRun("3008", "salt", "-t", "20", "*", "test.version")
		return c.with(map[string]string{
			"salt salt.req.send.publish":                       "salt",
			"salt-master salt.job.test.version":                "brine",
			"salt-minion-mbrine salt.minion.exec.test.version": "brine",
			"salt-minion-m3008 salt.minion.recv.test.version":  "salt",
		})
	})
}
