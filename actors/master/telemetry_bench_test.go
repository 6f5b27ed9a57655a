package master

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"brine/wire/payload"

	"github.com/prometheus/client_golang/prometheus"
)

// BenchmarkTelemetry is a whole job of one minion, publication and return, without and with metrics and traces. The
// collector of the traces is in the same process and counts too. Compare cpu-us/op.
func BenchmarkTelemetry(b *testing.B) {
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	defer collector.Close()
	for _, bb := range []struct {
		name            string
		metrics, traces bool
	}{{"off", false, false}, {"metrics", true, false}, {"traces", false, true}} {
		b.Run(bb.name, func(b *testing.B) {
			var conf []string
			if bb.traces {
				conf = append(conf, "tracing: {enabled: True, endpoint: '"+collector.URL+"'}")
			}
			r := newSite(b, conf...)
			if bb.metrics {
				r.metrics = prometheus.NewRegistry()
			}
			r.start()
			key := r.rootKey()
			spread(b, r.crowd(8), func(m *testMinion, _ int64) error {
				jid, err := m.publish(key)
				if err != nil {
					return err
				}
				frame, nonce, err := m.Seal(ret(m.id, jid))
				if err != nil {
					return err
				}
				_, err = m.Open(m.do(frame), nonce)
				return err
			})
		})
	}
}

// publish publishes a job to the minion itself over the minion's own connection.
func (m *testMinion) publish(key string) (jid string, err error) {
	load := payload.M("cmd", "publish", "tgt", m.id, "fun", "test.ping", "arg", []any{}, "key", key, "tgt_type", "list",
		"ret", "", "jid", "", "user", userName())
	frame, err := payload.Marshal(payload.M("enc", "clear", "load", load, "version", 3))
	if err != nil {
		return "", err
	}
	reply, err := payload.UnmarshalMap(m.do(frame))
	if err != nil {
		return "", err
	}
	return reply.Map("load").Str("jid"), nil
}
