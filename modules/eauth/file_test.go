package eauth

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brine/wire/payload"
)

// passwordFile is an attempt against a file with the given lines. The hashes of these tests are those of openssl
// passwd, of Python's crypt and of hashlib.
func passwordFile(t *testing.T, text, user, password string, settings ...any) *attempt {
	t.Helper()
	file := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	conf := payload.M(append([]any{"^filename", file}, settings...)...)
	return &attempt{Service: service(t, nil), conf: conf, user: user, password: password}
}

func TestFileText(t *testing.T) {
	const three = "46|dean|goneFishing\n7|gene|d4ccff6b2cc0a9f6d21b0b4a6a4ae0b4\n"
	cells := []any{"^username_field", int64(2), "^password_field", "3", "^field_separator", "|"}
	for _, tt := range []struct {
		name, text, user, password string
		settings                   []any
		want, fault                bool
	}{
		{"plain", three, "dean", "goneFishing", cells, true, false},
		{"wrong", three, "dean", "x", cells, false, false},
		{"nobody", three, "zoe", "goneFishing", cells, false, false},
		{"unknown hash", "ann:x", "ann", "x", []any{"^hashtype", "rot13"}, false, true},
		{"unknown type", "ann:x", "ann", "x", []any{"^filetype", "xml"}, false, true},
		{"a line lacks the field", "dean\n", "dean", "", nil, false, true},
		{"the first line decides", "ann:a\nann:b\n", "ann", "b", nil, false, false},
		{"a user of two lines", "ann:a\nzoe:b\n", "x\nzoe", "b", nil, false, false},
		{"a user with the separator", "ann:a:b\n", "ann:a", "b", nil, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkFile(t, passwordFile(t, tt.text, tt.user, tt.password, tt.settings...), tt.want, tt.fault)
		})
	}
	for kind, stored := range map[string]string{
		"md5":    "d76b98d06bed033b7a1aa69a2c55c2c3",
		"sha1":   "6dbb779fd96cd347fc1d8145b3887c8b2cbcb258",
		"sha224": "e3944b8d7d4ae622365c64ed624dd36b6c0edf6074345a958d83dc12",
		"sha256": "5ff0e82e56c3cf647e81f5134d3e4f839875efb69bf4d271298e11e032da5db5",
		"sha384": "f4b23e2d02cc59b4fe0d1893b1d11309bb2650c88498de6b8ee9627ebbe1349e687a32c7751783a82946a0df86bd9223",
		"sha512": "da0f46990f3d9a7222911d8f674b19792623347d3e4d4a516127d610dfde0dd4" +
			"0001a228ffc64252ea67f70a9e7d81610f3c4f2123ba54f7c7f93a539577db93",
	} {
		checkFile(t, passwordFile(t, "ann:"+stored, "ann", "OpenSesame", "^hashtype", kind), true, false)
		checkFile(t, passwordFile(t, "ann:"+stored, "ann", stored, "^hashtype", kind), false, false)
	}
}

func checkFile(t *testing.T, a *attempt, want, fault bool) {
	t.Helper()
	in, err := authFile(t.Context(), a)
	if (in != nil) != want || (err != nil) != fault {
		t.Errorf("got %v, %v; want in %v, an error %v", in, err, want, fault)
	}
	if err != nil && (strings.Contains(err.Error(), a.password) && a.password != "" && len(a.password) > 1) {
		t.Errorf("the error shows a password: %v", err)
	}
}

func TestFileApache(t *testing.T) {
	const (
		htpasswd = "# users\n\nann:$apr1$abcdefgh$xhHCybg2MTmSrhs9rcUoD/\nbob:OpenSesame\n zoe:x\nann:OpenSesame\n"
		htdigest = "dean:other:00000000000000000000000000000000\ndean:realm:f1b975ede06bcc23ccd6a8819be16e9d\n"
	)
	realm := []any{"^filetype", "htdigest", "^realm", "realm"}
	pw := []any{"^filetype", "htpasswd"}
	for _, tt := range []struct {
		name, text, user, password string
		settings                   []any
		want, fault                bool
	}{
		{"apr1", htpasswd, "ann", "OpenSesame", pw, true, false},
		{"plain", htpasswd, "bob", "OpenSesame", pw, true, false},
		{"wrong", htpasswd, "bob", "opensesame", pw, false, false},
		{"nobody", htpasswd, "eve", "OpenSesame", pw, false, false},
		{"a comment is no user", htpasswd + "#eve:x\n", "#eve", "x", pw, false, false},
		{"a line too short", htpasswd + "broken\n", "ann", "OpenSesame", pw, false, true},
		{"a line too long", htpasswd + "a:b:c\n", "ann", "OpenSesame", pw, false, true},
		{"a user of two lines", htpasswd, "x\nbob", "OpenSesame", pw, false, false},
		{"a user with a colon", "a:b\n", "a:b", "", pw, false, false},
		{"an empty password", "ann:\n", "ann", "", pw, false, false},
		{"digest", htdigest, "dean", "OpenSesame", realm, true, false},
		{"digest, wrong", htdigest, "dean", "x", realm, false, false},
		{"digest of another realm", htdigest, "dean", "OpenSesame", []any{"^filetype", "htdigest", "^realm", "third"},
			false, false},
		{"digest without a realm", htdigest, "dean", "OpenSesame", []any{"^filetype", "htdigest"}, false, true},
		{"a colon in the user of a digest", htdigest, "dean:realm", "OpenSesame", realm, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checkFile(t, passwordFile(t, tt.text, tt.user, tt.password, tt.settings...), tt.want, tt.fault)
		})
	}
}

func TestHtpasswdHashes(t *testing.T) {
	long := strings.Repeat("p", 130)
	for _, tt := range []struct{ stored, password string }{
		{"$apr1$abcdefgh$xhHCybg2MTmSrhs9rcUoD/", "OpenSesame"},
		{"$apr1$xy$43..WIhbfuznGvwoCyUek/", ""},
		{"$apr1$saltsalt$UG2rtCVdCD8C07Y.I1M4B.", long},
		{"$1$abcdefgh$O0k8DkWNf6umvBsxtnkCI.", "OpenSesame"},
		{"$1$saltsalt$yk0IKvd9MHUVydUjO0Rc/.", long},
		{"$5$abcdefgh$qBbrrVHRQIH1GGchza5V2DfDwUte5nBKe2oxe19LNK8", "OpenSesame"},
		{"$5$saltsaltsalt$WRhkehhwNOQKX0i.FP.aY95Jy9FZhPVjAq09rAEONT/", long},
		{"$5$rounds=1200$abcdefghijklmnop$lebMpDsO.8zPRaRBsS3B8Bib0HH49m12wsRREB2fQjB", "OpenSesame"},
		{"$6$abcdefgh$zE1hvMAlpK.GoaLBeiEz4inIeUmFdXwQV9vM7g7XMkwnHAgjatjzwPWLtdvAMfzQX.AOVy0Nvecaw7fiQMY4J.",
			"OpenSesame"},
		{"$6$saltsaltsalt$6s27dnLoOnIKYrH3p6vQqpUtUfYIcjJHa0LsvItWl5NXVy8rmqZma9OOus85pAkg6XWhbmgWLsNvWA3GdAXy6/",
			long},
		{"$6$rounds=1200$abcdefghijklmnop$XM2BwtB6pOKkBS2SLKcQVXYHOWo3.K0vxx15smLzN2aHQCu1IZoWW." +
			"m6UhrBRrKbmUkxm7s3A29JoIKzeB1Wn1", "OpenSesame"},
		{"$2b$05$abcdefghijklmnopqrstuuOxBIk28OHx01w9TLxCax/ROqtDBIKGG", "OpenSesame"},
		{"$2y$05$abcdefghijklmnopqrstuuOxBIk28OHx01w9TLxCax/ROqtDBIKGG", "OpenSesame"},
		{"$2a$05$abcdefghijklmnopqrstuuOxBIk28OHx01w9TLxCax/ROqtDBIKGG", "OpenSesame"},
		{"{SHA}bbt3n9ls00f8HYFFs4h8iyy8slg=", "OpenSesame"},
		{"OpenSesame", "OpenSesame"},
	} {
		if ok, err := verify(tt.stored, tt.password); !ok || err != nil {
			t.Errorf("%s: got %v, %v", tt.stored, ok, err)
		}
		for _, wrong := range []string{tt.password + "x", "opensesame", tt.stored + " "} {
			if ok, _ := verify(tt.stored, wrong); ok {
				t.Errorf("%s: %q comes in", tt.stored, wrong)
			}
		}
		if ok, _ := verify(tt.stored, tt.stored); ok && tt.stored != tt.password {
			t.Errorf("%s: who types the hash comes in", tt.stored)
		}
	}
}

// TestHashesOfNoKind: an entry that nobody can check lets nobody in, and no entry makes the machine work for minutes.
func TestHashesOfNoKind(t *testing.T) {
	for _, stored := range []string{"abaTeonmxobmo", "$argon2id$v=19$x", "{SSHA}x",
		"$2b$31$abcdefghijklmnopqrstuuOxBIk28OHx01w9TLxCax/ROqtDBIKGG", "$5$rounds=999999999$a$b", "$6$rounds=x$a$b",
		"$2", "$2b$05$short"} {
		for _, password := range []string{"OpenSesame", stored, ""} {
			if ok, err := verify(stored, password); ok || err == nil {
				t.Errorf("%s with %q: got %v, %v", stored, password, ok, err)
			}
		}
	}
	for _, stored := range []string{"", "$5$a", "$6$", "$5$a$", "$1$", "$apr1$", "{SHA}"} {
		if ok, _ := verify(stored, ""); ok {
			t.Errorf("%q and an empty password: comes in", stored)
		}
	}
	huge := strings.Repeat("x", payload.MaxPassword)
	if ok, err := verify("$6$abcdefgh$x", huge); ok || err != nil {
		t.Errorf("a huge password: got %v, %v", ok, err)
	}
}
