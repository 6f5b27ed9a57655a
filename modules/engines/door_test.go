package engines

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/payload"

	"golang.org/x/sys/unix"
)

// behind is the configuration of a program behind the door.
func behind(path, more string) string {
	return fmt.Sprintf("[{mine: {program: [%q]%s}}]", path, more)
}

// TestDoor: a program is told what it is and what happens, and says what is to be fired, logged and called.
func TestDoor(t *testing.T) {
	heard := filepath.Join(t.TempDir(), "heard")
	d := newFake(t)
	d.call = func(client, fun string, args []any, kw *payload.Map) (any, error) {
		if fun == "no.such" {
			return nil, errors.New("'no.such' is not available.")
		}
		return payload.M("client", client, "fun", fun, "args", args, "kwargs", kw), nil
	}
	r := begin(t, d, behind(shell(t, `read first
echo "$first" > `+heard+`
echo '{"kind": "event", "tag": "ready", "data": {"a": 1}}'
read event; echo "$event" >> `+heard+`
read event; echo "$event" >> `+heard+`
echo '{"kind": "call", "id": 7, "client": "runner", "fun": "manage.up", "args": [1, "x"], "kwargs": {"k": null}}'
read result; echo "$result" >> `+heard+`
echo '{"kind": "call", "id": "b", "fun": "no.such"}'
read result; echo "$result" >> `+heard+`
echo '{"kind": "call", "id": 9, "fun": "x.y", "args": 3}'
read result; echo "$result" >> `+heard+`
echo '{"kind": "log", "level": "warning", "text": "careful"}'
echo 'plain words'
echo 'an error' >&2
echo '{"kind": "dance"}'
echo '{"tag": "short/form"}'
echo '{"kind": "event", "tag": 3}'
read wait
`), ", events: ['w/*'], token: secret, deep: {a: [1]}"))
	if got := r.next().String(); got != `ready {"a": 1}` {
		t.Errorf("got %s", got)
	}
	sink := <-r.listen
	put(t, sink, "not/wanted", payload.M("_stamp", "s"))
	put(t, sink, "w/1", payload.M("b", []byte("text"), "_stamp", "s"))
	put(t, sink, "w/2", payload.M("b", []byte{0xff}, "_stamp", "s"))
	if got := r.next().String(); got != `short/form {}` {
		t.Errorf("got %s", got)
	}
	r.logs(`level=WARN msg=careful`)
	r.logs(`level=INFO msg="plain words"`)
	r.logs(`level=WARN msg="an error"`)
	r.logs(`a message of unknown kind`)
	r.logs(`an event needs a tag`)
	b, err := os.ReadFile(heard)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind": "start", "protocol": 1, "engine": "mine", "role": "master", "id": "m1", "options": {"token": "secret", "deep": {"a": [1]}}}
{"kind": "event", "tag": "w/1", "data": {"b": "text", "_stamp": "s"}}
{"kind": "event", "tag": "w/2", "data": {"b": {"base64": "/w=="}, "_stamp": "s"}}
{"kind": "result", "id": 7, "return": {"client": "runner", "fun": "manage.up", "args": [1, "x"], "kwargs": {"k": null}}}
{"kind": "result", "id": "b", "error": "'no.such' is not available."}
{"kind": "result", "id": 9, "error": "a call needs fun, and, if any, args that are an array and kwargs that are an object"}
`
	if string(b) != want {
		t.Errorf("it heard\n%s, want\n%s", b, want)
	}
}

// TestDoorEnds: whatever ends a program ends the engine, and all of its group.
func TestDoorEnds(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"in order", "", "has ended with exit code 0"},
		{"by a signal", "kill -9 $$", "has ended with exit code -9"},
		{"a line without end", "exec tr '\\0' x < /dev/zero", errLongLine.Error()},
		{"calls whose results nobody reads", `while :; do echo '{"kind": "call", "fun": "a.b"}'; done`,
			errManyCalls.Error()},
		{"its output stays open", "exit 4", "has ended with exit code 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "pids")
			d := newFake(t)
			d.call = func(string, string, []any, *payload.Map) (any, error) { return strings.Repeat("x", 100_000), nil }
			r := begin(t, d, behind(shell(t, "sleep 1000 &\necho $! > "+file+"\n"+tt.text+"\n"), ""))
			if err := r.ended(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			r.gone(file)
		})
	}
	for text, want := range map[string]string{
		"[{x: {program: [/nowhere/at/all]}}]":                "no such file",
		"[{x: {program: [/bin/true], user: nobody-at-all}}]": "no such user",
	} {
		if err := begin(t, newFake(t), text).ended(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestDoorStops: a program that is deaf to SIGTERM ends with its engine, and so does one that has closed its output.
func TestDoorStops(t *testing.T) {
	for _, text := range []string{"trap '' TERM\n", "exec >&- 2>&-\n"} {
		file := filepath.Join(t.TempDir(), "pids")
		r := begin(t, newFake(t),
			behind(shell(t, "echo '{\"tag\": \"here\"}'\n"+text+"sleep 1000 &\necho $! $$ > "+file+".new; mv "+file+
				".new "+file+"\nwhile :; do sleep 1000; done\n"), ""))
		r.next()
		r.eventually("it runs", func() error { _, err := os.Stat(file); return err })
		r.stop()
		_ = r.ended()
		r.gone(file)
	}
}

// TestDoorDeaf: a program that does not read holds up nobody and no memory; what it did not get is counted. It may be
// told in several pieces: some events can be lost before the program has been told its first.
func TestDoorDeaf(t *testing.T) {
	const all, queued = 20_000, 1000 // 200 MB, of which the queue and a pipe hold less than a twentieth
	dir := t.TempDir()
	wake, heard := filepath.Join(dir, "wake"), filepath.Join(dir, "heard")
	r := begin(t, newFake(t), behind(shell(t, "while [ ! -e "+wake+" ]; do sleep 0.02; done\nexec cat > "+heard+"\n"),
		", events: ['*']"))
	sink := <-r.listen
	data := payload.M("text", strings.Repeat("x", 10_000), "_stamp", "s")
	for range all {
		put(t, sink, "a", data)
	}
	put(t, sink, "end", payload.M("_stamp", "s"))
	if err := os.WriteFile(wake, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var b []byte
	r.eventually("it hears the last event", func() (err error) {
		if b, err = os.ReadFile(heard); err == nil && !bytes.Contains(b, []byte(`"tag": "end"`)) {
			err = fmt.Errorf("it has heard %d bytes", len(b))
		}
		return err
	})
	got, lost := bytes.Count(b, []byte(`"tag": "a"`)), 0
	for line := range bytes.Lines(b) {
		var n int
		if _, err := fmt.Sscanf(string(line[:min(len(line), 100)]), `{"kind": "lost", "count": %d}`, &n); err == nil {
			lost += n
		}
	}
	if got+lost != all || got > queued {
		t.Errorf("it got %d events and was told that %d were lost, of %d", got, lost, all)
	}
}

// TestDoorSurroundings: a program finds a small environment, its directory and no open files but its own three.
func TestDoorSurroundings(t *testing.T) {
	t.Setenv("BRINE_MASTER__TOKEN", "secret")
	t.Setenv("NOTIFY_SOCKET", "/run/x")
	t.Setenv("MY_SECRET", "secret")
	left, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer left.Close()
	if _, err := unix.FcntlInt(left.Fd(), unix.F_SETFD, 0); err != nil { // as a C library leaves one
		t.Fatal(err)
	}
	r := begin(t, newFake(t), behind(shell(t, `env=$(env | cut -d= -f1 | sort | tr '\n' ' ')
open=
for f in 3 4 5 6 7 8 9 11 12 13 14 15; do [ ! -e /proc/$$/fd/$f ] || open="$open$f "; done
echo '{"tag": "x", "data": {"env": "'"$env"'", "own": "'"$OWN"'", "cwd": "'"$PWD"'", "files": "'"$open"'"}}'
read wait
`), ", env: {OWN: 1}, cwd: /tmp"))
	data := r.next().data
	for name := range strings.FieldsSeq(data.Str("env")) {
		if !strings.Contains(" "+strings.Join(inherited, " ")+" OWN PWD OLDPWD SHLVL _ ", " "+name+" ") {
			t.Errorf("it finds %s in its environment", name)
		}
	}
	if data.Str("own") != "1" || data.Str("cwd") != "/tmp" || data.Str("files") != "" {
		t.Errorf("got %s", jsonOf(data))
	}
}

// TestDoorChatter: a program that writes without end does not fill the log.
func TestDoorChatter(t *testing.T) {
	r := begin(t, newFake(t), behind(shell(t, "exec yes words"), ""))
	r.logs("lines of a program were left out of the log")
	r.stop()
	_ = r.ended()
	if n := strings.Count(r.log.String(), "msg=words"); n > 50*chatterMost {
		t.Errorf("%d lines in the log", n)
	}
}
