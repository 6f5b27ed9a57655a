package control

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"brine/wire/ipc"
	"brine/wire/payload"

	"github.com/google/go-cmp/cmp"
)

// serve is a daemon that answers with handle.
func serve(t *testing.T, handle func(request *payload.Map) (*payload.Map, error)) *Daemon {
	t.Helper()
	dir := t.TempDir()
	server := ipc.NewControlServer(ipc.ControlOptions{Path: filepath.Join(dir, Socket)})
	if err := server.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(ctx, func(_ context.Context, _ ipc.Peer, q *payload.Map) (*payload.Map, error) {
			return handle(q)
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-served; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	return At(dir)
}

// answering is a daemon with handlers.
func answering(t *testing.T, h Handlers) *Daemon {
	return serve(t, func(q *payload.Map) (*payload.Map, error) {
		head := ReadHead(q)
		if head.Check() != nil {
			return Refusal(), nil
		}
		got, err := h[head.Command](t.Context(), q)
		if err != nil {
			return nil, err
		}
		return Reply(got), nil
	})
}

// TestBothEnds: questions and answers are the same at both ends, for each form of answer.
func TestBothEnds(t *testing.T) {
	h := Handlers{}
	number, hop := int64(3), int64(-7)
	trace := Trace{Job: Job{JID: "1", Fun: "test.ping", Minions: &number}, Began: 5, Late: []string{"web2"},
		Open: []string{}, Missing: []string{},
		Hops: []Hop{{Hop: "asked", State: "done", Where: "m"}, {Minion: "web1", Hop: "sent", AfterUS: &hop}}}
	On(h, func(_ context.Context, q GetTrace) (Trace, error) {
		if q.Minion != "web1" {
			return Trace{}, errors.New("no such minion: " + q.Minion)
		}
		return trace, nil
	})
	On(h, func(_ context.Context, q GetGone) ([]string, error) { return q.IDs[1:], nil })
	On(h, func(_ context.Context, q GetJobEnd) (string, error) { return "end of " + q.JID, nil })
	On(h, func(_ context.Context, q KeepJob) (Done, error) {
		return Done(q.Load.Str("fun") == "x.y" && q.ID == "a"), nil
	})
	On(h, func(_ context.Context, q GetJobLoad) (*payload.Map, error) { return nil, nil })
	On(h, func(_ context.Context, q GetBundle) (*payload.Map, error) {
		return payload.M("seconds", q.Seconds), nil
	})
	On(h, func(context.Context, GetHistory) ([]any, error) { return []any{payload.M("n", int64(1))}, nil })
	d := answering(t, h)
	if !d.Here() || At(t.TempDir()).Here() {
		t.Error("which daemon is here is not seen")
	}
	got, err := Ask(t.Context(), d, GetTrace{JID: "1", Minion: "web1"})
	if raw := got.Raw; raw == nil || raw.Str("fun") != "test.ping" {
		t.Errorf("raw: %v", raw)
	}
	got.Raw = nil
	if d := cmp.Diff(trace, got); d != "" || err != nil {
		t.Error(d, err)
	}
	var remote *ipc.RemoteError
	if _, err := Ask(t.Context(), d, GetTrace{Minion: "x"}); !errors.As(err, &remote) ||
		remote.Text != "no such minion: x" {
		t.Errorf("refused: %v", err)
	}
	ids, err := Ask(t.Context(), d, GetGone{IDs: []string{"a", "b", "c"}})
	if d := cmp.Diff([]string{"b", "c"}, ids); d != "" || err != nil {
		t.Error(d, err)
	}
	if end, err := Ask(t.Context(), d, GetJobEnd{JID: "7"}); end != "end of 7" || err != nil {
		t.Error(end, err)
	}
	if done, err := Ask(t.Context(), d, KeepJob{ID: "a", Load: payload.M("fun", "x.y")}); !done || err != nil {
		t.Error(done, err)
	}
	if m, err := Ask(t.Context(), d, GetJobLoad{}); m != nil || err != nil {
		t.Error(m, err)
	}
	if m, err := Ask(t.Context(), d, GetBundle{Seconds: 9}); err != nil || !m.Equal(payload.M("seconds", int64(9))) {
		t.Error(m, err)
	}
	if list, err := Ask(t.Context(), d, GetHistory{}); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
}

// TestUnknownIsKept: a daemon of the same version may send more fields than this end knows, or fewer.
func TestUnknownIsKept(t *testing.T) {
	more := payload.M("jid", "1", "new", "thing", "reasons", []any{payload.M("minion", "web1", "code", int64(5), "more",
		true), "no map"})
	d := serve(t, func(*payload.Map) (*payload.Map, error) { return Reply(more).Set("beside", 1), nil })
	got, err := Ask(t.Context(), d, GetWhy{JID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []Reason{{Minion: "web1"}}; got.JID != "1" || got.Minions != nil || !reflect.DeepEqual(got.Reasons,
		want) || got.Raw.Str("new") != "thing" {
		t.Errorf("got %+v", got)
	}
	if back, ok := Encode(got).(*payload.Map); !ok || !back.Equal(got.Raw) {
		t.Errorf("on its way on: %v", back)
	}
	h := Handlers{}
	On(h, func(_ context.Context, q GetGone) ([]string, error) { return []string{q.JID}, nil })
	if got, err := h["jobs.gone"](t.Context(), payload.M("jid", "5", "ids", "no list", "since", 7)); err != nil ||
		len(got.([]any)) != 1 {
		t.Errorf("a question that says more: %v, %v", got, err)
	}
}

// TestAnswersThatCannotBeRead: an answer of another shape does not read as an empty one.
func TestAnswersThatCannotBeRead(t *testing.T) {
	var result any
	d := serve(t, func(*payload.Map) (*payload.Map, error) { return Reply(result), nil })
	for _, result = range []any{nil, "text", []any{}, int64(1)} {
		if _, err := Ask(t.Context(), d, GetWhy{}); !errors.Is(err, ErrAnswer) {
			t.Errorf("reasons of %v: %v", result, err)
		}
	}
	for _, result = range []any{"text", []any{}, int64(1)} {
		if _, err := Ask(t.Context(), d, GetJobLoad{}); !errors.Is(err, ErrAnswer) {
			t.Errorf("load of %v: %v", result, err)
		}
	}
	for _, result = range []any{"text", payload.M(), int64(1)} {
		if _, err := Ask(t.Context(), d, GetGone{}); !errors.Is(err, ErrAnswer) {
			t.Errorf("ids of %v: %v", result, err)
		}
	}
}

// TestVersions: each end refuses another version and says which end is older, and nothing is done.
func TestVersions(t *testing.T) {
	for _, tt := range []struct {
		reply *payload.Map
		want  string // "": no error
	}{
		{payload.M("result", "x"), "the daemon is older"}, // from a time without versions
		{payload.M("v", 0, "result", "x"), "the daemon is older"},
		{payload.M("v", Version+1), "the daemon is newer"},
		{payload.M("v", Version, "result", "x"), ""},
	} {
		d := serve(t, func(*payload.Map) (*payload.Map, error) { return tt.reply, nil })
		_, err := Ask(t.Context(), d, GetJobEnd{})
		var version *VersionError
		if errors.As(err, &version) != (tt.want != "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%v: got %v, want %q", tt.reply, err, tt.want)
		}
	}
	for _, v := range []any{nil, int64(0), int64(Version + 1), "1"} {
		if ReadHead(payload.M("cmd", "x", "v", v)).Check() == nil {
			t.Errorf("a tool of version %v was heard", v)
		}
	}
	if err := ReadHead(Pack(GetHelp{})).Check(); err != nil {
		t.Errorf("a tool of this version was refused: %v", err)
	}
	if Refusal().Has("result") || Refusal().Value("v") != int64(Version) {
		t.Errorf("refusal: %v", Refusal())
	}
}

// TestDeadline: the daemon gets the deadline of the tool.
func TestDeadline(t *testing.T) {
	var seen []Head
	d := serve(t, func(q *payload.Map) (*payload.Map, error) {
		seen = append(seen, ReadHead(q))
		if len(seen) == 2 && !q.Has("until") {
			t.Error("no deadline was told")
		}
		return Reply("x"), nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, ctx := range []context.Context{t.Context(), ctx} {
		if _, err := Ask(ctx, d, GetJobEnd{}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []Head{{Command: "jobs.end_time", Version: 1}, {Command: "jobs.end_time",
		Version: 1}}; !reflect.DeepEqual(seen, want) {
		t.Errorf("got %+v", seen)
	}
	if !ReadHead(payload.M("until", time.Now().Add(-time.Hour).UnixMicro())).Late {
		t.Error("a time that is over is not seen")
	}
}
