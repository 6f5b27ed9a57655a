package sqlstore_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"brine/modules/returners"
	"brine/wire/payload"
	"brine/wire/wiretest"
)

// certificate writes a certificate for 127.0.0.1 that signs itself, and its key, readable for the server's user.
func certificate(t testing.TB, dir, name string) (cert, key string) {
	t.Helper()
	cert, key = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	wiretest.Certificate(t, cert, key, 1)
	if info, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	} else if owner, ok := ownerOf(info); ok {
		if err := os.Chown(key, owner, owner); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// ownerOf is the user of a file.
func ownerOf(info os.FileInfo) (uid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return int(stat.Uid), ok && os.Getuid() == 0
}

// protected writes with options for TLS, and holds what happens to want: "" for success, else a part of the error.
func protected(t *testing.T, opts *payload.Map, name, place string, want string, tls ...any) {
	t.Helper()
	m := opts.Map(place).Clone()
	m.Update(payload.M(tls...))
	_, err := hostOf(t, opts, place, m).call(name+".returner", cases()[0].ret)
	if want == "" && err != nil || want != "" && (err == nil || returners.Hopeless(err) ||
		!strings.Contains(err.Error(), want)) {
		t.Errorf("%s with %v: %v, want %q", name, tls, err, want)
	}
}

// TestConnectTimeout: a server that takes connections and says nothing is given up after connect_timeout.
func TestConnectTimeout(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	opts := payload.M("returner.pgjsonb", payload.M("host", "127.0.0.1", "port", port, "user", "u", "pass", "p", "db",
		"d"))
	protected(t, opts, "pgjsonb", "returner.pgjsonb", "timeout", "connect_timeout", 1)
}

// A server must be the one that the options name, and connections are protected when the options say so.
func TestTLS(t *testing.T) {
	t.Run("postgres", func(t *testing.T) {
		s := startPostgres(t)
		cert, key := certificate(t, s.dir, "server")
		other, _ := certificate(t, t.TempDir(), "other")
		for _, text := range []string{"ALTER SYSTEM SET ssl_cert_file = '" + cert + "'",
			"ALTER SYSTEM SET ssl_key_file = '" + key + "'", "ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()"} {
			if _, err := s.db.Exec(text); err != nil {
				t.Fatal(err)
			}
		}
		db, opts := pgDatabase(t, s, "pgjsonb")
		for on := ""; on != "on"; { // the server takes it over by and by
			conn := openAs(t, s.port, "boss", "postgres")
			if err := errors.Join(conn.QueryRow("SHOW ssl").Scan(&on), conn.Close()); err != nil {
				t.Fatal(err)
			}
			<-time.After(10 * time.Millisecond)
		}
		protected(t, opts, "pgjsonb", "returner.pgjsonb", "", "sslmode", "verify-full", "sslrootcert", cert)
		protected(t, opts, "pgjsonb", "returner.pgjsonb", "certificate", "sslmode", "verify-full", "sslrootcert", other)
		protected(t, opts, "pgjsonb", "returner.pgjsonb", "certificate", "sslmode", "verify-ca", "sslrootcert", other)
		protected(t, opts, "pgjsonb", "returner.pgjsonb", "", "sslmode", "require")
		protected(t, opts, "pgjsonb", "returner.pgjsonb", "", "sslmode", "require", "sslcert", cert, "sslkey", key)
		protected(t, opts, "pgjsonb", "returner.pgjsonb", "/none", "sslmode", "require", "sslcert", "/none", "sslkey",
			key)
		protected(t, opts, "pgjsonb", "returner.pgjsonb", "private key does not match", "sslmode", "require", "sslcert",
			other, "sslkey", key)
		var n int
		if err := db.QueryRow("SELECT count(*) FROM salt_returns").Scan(&n); err != nil || n != 3 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
	t.Run("mysql", func(t *testing.T) {
		keys, _ := unprivileged(t)
		cert, key := certificate(t, keys, "server")
		other, _ := certificate(t, t.TempDir(), "other")
		s := startMySQL(t, "--ssl-cert="+cert, "--ssl-key="+key, "--ssl-ca="+cert)
		_, opts := mysqlDatabase(t, s, "utf8")
		protected(t, opts, "mysql", "mysql", "", "ssl_ca", cert)
		protected(t, opts, "mysql", "mysql", "certificate", "ssl_ca", other)
		protected(t, opts, "mysql", "mysql", "", "ssl_cert", cert, "ssl_key", key)
	})
}
