//go:build interop

package elasticsearch_return

import (
	"errors"
	"testing"

	"brine/modules/returners/returnertest"
	"brine/wire/payload"
)

// Real Salt asks Elasticsearch for what is recorded.
func TestElasticBesideSalt(t *testing.T) {
	judge := returnertest.RealSalt(t)
	r := startElastic(t)
	seen := cases(t, r, func(opts *payload.Map, fun string, args ...any) error {
		if _, failed := judge.Call(t, opts, fun, args...); failed != "" {
			return errors.New(failed)
		}
		return nil
	})
	returnertest.Same(t, returnertest.Record(t, "elasticsearch.json", seen).([]any), seen, 20)
	returnertest.Same(t, seen, cases(t, startElastic(t), onBrine(t)), 20)
}
