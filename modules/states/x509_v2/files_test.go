package x509_v2_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"brine/modules/modtest"
	"brine/modules/states/statetest"
	"brine/wire/payload"
)

const tree = `ROOT/w/ca.key:
  x509.private_key_managed:
    - algo: ec
ROOT/w/ca.crt:
  x509.certificate_managed:
    - signing_private_key: ROOT/w/ca.key
    - CN: Test CA
    - basicConstraints: "critical CA:true"
    - keyUsage: "critical keyCertSign, cRLSign"
    - subjectKeyIdentifier: hash
ROOT/w/a.key:
  x509.private_key_managed:
    - algo: ec
    - passphrase: s3cret
ROOT/w/a.crt:
  x509.certificate_managed:
    - signing_private_key: ROOT/w/ca.key
    - signing_cert: ROOT/w/ca.crt
    - private_key: ROOT/w/a.key
    - private_key_passphrase: s3cret
    - CN: a.example.com
    - subjectAltName: "DNS:a.example.com, IP:10.0.0.1"
    - authorityKeyIdentifier: "keyid:always"
ROOT/w/a.csr:
  x509.csr_managed:
    - private_key: ROOT/w/ca.key
    - CN: a
ROOT/w/ca.crl:
  x509.crl_managed:
    - signing_private_key: ROOT/w/ca.key
    - signing_cert: ROOT/w/ca.crt
    - revoked: [{serial_number: 5, extensions: {CRLReason: keyCompromise}}]
`

// TestFiles: what the states make is right for OpenSSL, private, told without secrets, and made once.
func TestFiles(t *testing.T) {
	env, dir := statetest.Minion(t, payload.M("base/t.sls", tree), nil)
	for _, changes := range []bool{true, false} {
		v, _, err := modtest.Call(t, env, "state.apply", []any{"t"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ret, ok := v.(*payload.Map)
		if !ok {
			t.Fatal(v)
		}
		for tag, one := range ret.All() {
			m := one.(*payload.Map)
			if m.Value("result") != true || (m.Map("changes").Len() > 0) != changes {
				t.Errorf("%v: got %v, %v, %v", tag, m.Value("result"), m.Value("comment"), m.Map("changes"))
			}
			if text := m.Str("comment"); strings.Contains(text, "s3cret") || strings.Contains(text, "PRIVATE") {
				t.Errorf("%v tells a secret: %s", tag, text)
			}
		}
	}
	for _, name := range []string{"/w/ca.key", "/w/a.key"} {
		if info, err := os.Stat(dir + name); err != nil || info.Mode().Perm() != 0o400 {
			t.Errorf("%s: got %v, %v", name, info, err)
		}
	}
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("no openssl here")
	}
	for _, line := range []string{"verify -CAfile w/ca.crt w/a.crt", "pkey -in w/a.key -passin pass:s3cret -noout",
		"req -in w/a.csr -noout -verify", "crl -in w/ca.crl -noout -CAfile w/ca.crt"} {
		cmd := exec.CommandContext(t.Context(), "openssl", strings.Fields(line)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("openssl %s: %s", line, out)
		}
	}
}
