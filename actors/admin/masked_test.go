package admin

import (
	"strings"
	"testing"

	"brine/modules/outputters"
	"brine/wire/payload"
)

// TestMaskedValue: texts in a bundle contain no passwords, wherever they are. Other values stay unchanged.
func TestMaskedValue(t *testing.T) {
	const secret = "hunter2hunter2"
	profile := []byte("\x1f\x8b\xff password=" + secret)
	v := payload.M("deaths", []any{payload.M("reason", "open Server=db;UID=sa;Pwd="+secret+": refused", "n", int64(7))},
		"text", []byte("redis://:"+secret+"@h"))
	got, _ := maskedValue(v).(*payload.Map)
	if text := outputters.JSON(payload.M("deaths", got.Value("deaths"))) + string(
		got.Value("text").([]byte)); strings.Contains(text, secret) || strings.Count(text, "(masked)") != 2 ||
		!strings.Contains(text, `"n": 7`) {
		t.Errorf("got %s", text)
	}
	if kept, _ := maskedValue(profile).([]byte); string(kept) != string(profile) {
		t.Error("a profile was changed")
	}
	if !strings.Contains(v.List("deaths")[0].(*payload.Map).Str("reason"), secret) {
		t.Error("what was given is changed")
	}
}
