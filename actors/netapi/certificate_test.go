package netapi

import (
	"crypto/x509"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"brine/wire/wiretest"
)

// TestCertificateIsRenewed: new files take effect without a restart. Unusable files change nothing.
func TestCertificateIsRenewed(t *testing.T) {
	dir := t.TempDir()
	opt := Listen{Certificate: filepath.Join(dir, "crt"), Key: filepath.Join(dir, "key"),
		Logger: slog.New(slog.DiscardHandler)}
	c := newCertificate(opt)
	if _, err := c.config(); err == nil {
		t.Error("no error without files")
	}
	wiretest.Certificate(t, opt.Certificate, opt.Key, 1)
	if _, err := c.config(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	serial := func() int64 {
		now = now.Add(2 * lookEvery)
		leaf, err := x509.ParseCertificate(c.current(now).Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("first: %d", got)
	}
	if err := os.WriteFile(opt.Certificate, []byte("half of a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := serial(); got != 1 {
		t.Errorf("with a broken file: %d", got)
	}
	wiretest.Certificate(t, opt.Certificate, opt.Key, 2)
	if got := serial(); got != 2 {
		t.Errorf("renewed: %d", got)
	}
}
