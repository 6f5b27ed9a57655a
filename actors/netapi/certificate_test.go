package netapi

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// writeCertificate writes a certificate with a serial number, and its key.
func writeCertificate(t *testing.T, opt Listen, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "x"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string]*pem.Block{opt.Certificate: {Type: "CERTIFICATE", Bytes: der}, opt.Key: {Type: "PRIVATE KEY", Bytes: raw}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCertificateIsRenewed: new files are used without a restart; files that cannot be used change nothing.
func TestCertificateIsRenewed(t *testing.T) {
	dir := t.TempDir()
	opt := Listen{Certificate: filepath.Join(dir, "crt"), Key: filepath.Join(dir, "key"), Logger: slog.New(slog.DiscardHandler)}
	c := newCertificate(opt)
	if _, err := c.config(); err == nil {
		t.Error("no error without files")
	}
	writeCertificate(t, opt, 1)
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
	writeCertificate(t, opt, 2)
	if got := serial(); got != 2 {
		t.Errorf("renewed: %d", got)
	}
}
