package pillar

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// TestPostgres asks a real server.
func TestPostgres(t *testing.T) {
	opts := startPostgres(t)
	for _, tt := range askedOf(t, "postgres") {
		ext, err := pyjson.Load(tt.ext)
		if err != nil {
			t.Fatal(err)
		}
		if got := pillarWith(t, t.Context(), "web1", ext, opts); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.ext, got, tt.want)
		}
	}
}

// TestPostgresAttacks: an id is never SQL, no server holds up a compilation or fills the memory, and no error tells the
// password.
func TestPostgresAttacks(t *testing.T) {
	opts := startPostgres(t)
	all := payload.M("postgres", []any{"SELECT pillar, value FROM pillars WHERE minion = %s ORDER BY n"})
	for _, id := range []string{"x' OR '1'='1", "x'; DROP TABLE pillars; --", `\'; --`, "%s", "%", "$1", "x\"",
		"web1'--", "ü'"} {
		want := "{}"
		if id == "%" {
			want = "{str all=>str z}" // a row of its own
		}
		if got := pillarWith(t, t.Context(), id, all, opts); got != want {
			t.Errorf("%q got %s", id, got)
		}
	}
	if got := pillarWith(t, t.Context(), "web1", all, opts); got != "{str a=>str y|str b=>null}" {
		t.Errorf("after the attacks: %s", got)
	}
	write := payload.M("postgres", []any{"INSERT INTO pillars VALUES (%s, 'planted', 'x', 9) RETURNING pillar, value"})
	if got := pillarWith(t, t.Context(), "web3", write, opts); got != "{str planted=>str x}" {
		t.Errorf("a query that writes: %s", got)
	}
	if got := pillarWith(t, t.Context(), "web3", all, opts); got != "{}" {
		t.Errorf("what a query wrote has stayed: %s", got)
	}
	many := payload.M("postgres", []any{"SELECT n, repeat('x', 1000) FROM generate_series(1, 100000) AS n WHERE %s " +
		"!= ''"})
	if got := pillarWith(t, t.Context(), "web1", many, opts); !strings.Contains(got,
		"more than 16777216 bytes or 131072 rows") {
		t.Errorf("many bytes: %.200s", got)
	}
	slowly := payload.M("postgres", []any{"SELECT slowly(%s), 1"})
	late := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, late)
	defer cancel()
	if got := pillarWith(t, ctx, "slow1", slowly, opts); !strings.Contains(got, "too late") {
		t.Errorf("a query that hangs: %s", got)
	}
	if got := pillarWith(t, t.Context(), "fast", slowly, opts); got != "{str fast=>int 1}" {
		t.Errorf("another minion meanwhile: %s", got)
	}
	for _, wrong := range []*payload.Map{payload.M("pass", "secret's"), payload.M("user", "nobody'"),
		payload.M("db", "none"), payload.M("port", "x"), payload.M("port", int64(99999)),
		payload.M("host", filepath.Join(t.TempDir(), "none"))} {
		o := opts.Map("postgres").Clone()
		o.Update(wrong)
		got := pillarWith(t, t.Context(), "web1", all, payload.M("postgres", o))
		if !strings.Contains(got, "Failed to load ext_pillar postgres: ") || strings.Contains(got, pgPassword) ||
			strings.Contains(got, "secret's") || strings.Contains(got, "et=x") {
			t.Errorf("%v: got %s", wrong, got)
		}
	}
}

// TestPostgresSilent: a server that takes connections and says nothing ends with the time of the compilation.
func TestPostgresSilent(t *testing.T) {
	silent, err := net.Listen("unix", filepath.Join(t.TempDir(), ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, errors.New("too late"))
	defer cancel()
	opts := payload.M("postgres", payload.M("host", filepath.Dir(silent.Addr().String())))
	if got := pillarWith(t, ctx, "web1", payload.M("postgres", []any{"SELECT %s, 1"}), opts); !strings.Contains(got,
		"too late") {
		t.Errorf("got %s", got)
	}
}
