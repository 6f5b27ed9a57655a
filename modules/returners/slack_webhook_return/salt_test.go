//go:build interop

package slack_webhook_return

import (
	"errors"
	"testing"

	"brine/modules/returners/returnertest"
	"brine/wire/payload"
)

// Real Salt posts to Slack what is recorded.
func TestSlackBesideSalt(t *testing.T) {
	judge := returnertest.RealSalt(t)
	r := returnertest.NewRecorder(t, answer)
	seen := cases(t, r, func(opts *payload.Map, fun string, arg any) error {
		if _, failed := judge.Call(t, opts, fun, arg); failed != "" {
			return errors.New(failed)
		}
		return nil
	})
	returnertest.Same(t, returnertest.Record(t, "slack.json", seen).([]any), seen, 15)
	returnertest.Same(t, seen, cases(t, r, onBrine(t)), 15)
}
