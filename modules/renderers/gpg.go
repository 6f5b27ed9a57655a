package renderers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"brine/modules/host/program"
	"brine/wire/payload"
	"brine/wire/python"
)

// GPG decrypts messages with the keys of a directory (salt/renderers/gpg.py). The program is gpg.
type GPG struct {
	KeyDir      func() string // gpg_keydir, or gpgkeys beside the configuration
	MustSucceed bool          // a message that cannot be decrypted is an error, not left as it is
	Log         func(level slog.Level, text string)
}

var gpgMessage = regexp.MustCompile(`(?s)-----BEGIN PGP MESSAGE-----.*?-----END PGP MESSAGE-----`)

// gpgPatience bounds one run of gpg, which asks nobody anything.
const gpgPatience = time.Minute

func (g GPG) render(ctx context.Context, in Input) (any, error) {
	if program.Which("gpg") == "" {
		return nil, renderError("GPG unavailable")
	}
	newlines, _ := in.KW.Get("translate_newlines")
	return g.decrypt(ctx, in.Data, python.Truth(newlines))
}

// Decrypt replaces the messages in data.
func (g GPG) Decrypt(ctx context.Context, data any) (any, error) {
	return g.render(ctx, Input{Data: data})
}

// decrypt goes through data; what it returns shares nothing that was changed with it.
func (g GPG) decrypt(ctx context.Context, v any, newlines bool) (any, error) {
	switch x := v.(type) {
	case string:
		return g.text(ctx, []byte(x), newlines)
	case []byte:
		return g.text(ctx, x, newlines)
	case payload.Bytes:
		return g.text(ctx, []byte(x), newlines)
	case []any:
		out := make([]any, len(x))
		for i, item := range x {
			var err error
			if out[i], err = g.decrypt(ctx, item, newlines); err != nil {
				return nil, err
			}
		}
		return out, nil
	case *payload.Map:
		out := payload.NewMap(x.Len())
		for key, value := range x.All() {
			plain, err := g.decrypt(ctx, value, newlines)
			if err != nil {
				return nil, err
			}
			out.Set(key, plain)
		}
		return out, nil
	}
	return v, nil
}

// text replaces the messages in a text. With one at least, line ends at its end are dropped: they are those of a block
// in YAML.
func (g GPG) text(ctx context.Context, text []byte, newlines bool) (any, error) {
	if newlines {
		text = bytes.ReplaceAll(text, []byte(`\n`), []byte("\n"))
	}
	var failure error
	found := false
	out := gpgMessage.ReplaceAllFunc(text, func(message []byte) []byte {
		found = true
		if failure != nil {
			return nil
		}
		plain, err := g.message(ctx, bytes.ReplaceAll(message, []byte(`\n`), []byte("\n")))
		failure = err
		return plain
	})
	if failure != nil {
		return nil, failure
	}
	if found {
		out = bytes.TrimRight(out, "\n")
	}
	if utf8.Valid(out) {
		return string(out), nil
	}
	return out, nil
}

// message decrypts one message.
func (g GPG) message(ctx context.Context, message []byte) ([]byte, error) {
	dir := g.KeyDir()
	dropDeadLocks(dir)
	input := string(message)
	ran, err := program.Run(ctx, program.Spec{Argv: []string{"gpg", "--homedir", dir, "--status-fd", "2", "--no-tty",
		"-d"},
		Input: &input, Timeout: gpgPatience})
	switch {
	case err != nil:
		return nil, fmt.Errorf("gpg --homedir %s: %w", dir, err)
	case ran.TimedOut:
		return nil, renderError("gpg --homedir %s did not end within %s", dir, gpgPatience)
	case len(ran.Stdout) > 0:
		return ran.Stdout, nil
	}
	text := fmt.Sprintf("Could not decrypt cipher %s, received: %s", python.Repr(message), python.Repr(ran.Stderr))
	if g.MustSucceed {
		return nil, renderError("%s", text)
	}
	if g.Log != nil {
		g.Log(slog.LevelWarn, text)
	}
	return message, nil
}

// gpgLock is the name of a file by which gpg locks its directory; it ends in a process id.
var gpgLock = regexp.MustCompile(`^\.#lk[0-9a-fA-Fx]+\..+\.(\d+)$`)

// dropDeadLocks removes locks of processes that are gone, for gpg waits for them. What cannot be read or removed stays.
func dropDeadLocks(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		found := gpgLock.FindStringSubmatch(entry.Name())
		if found == nil {
			continue
		}
		pid, err := strconv.Atoi(found[1])
		if err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// KeyDirOf is where gpg's keys are by the options of a daemon.
func KeyDirOf(opts *payload.Map) string {
	if dir := opts.Str("gpg_keydir"); dir != "" {
		return dir
	}
	dir := opts.Str("config_dir")
	if dir == "" {
		dir = filepath.Dir(opts.Str("conf_file"))
	}
	return strings.TrimRight(dir, "/") + "/gpgkeys"
}
