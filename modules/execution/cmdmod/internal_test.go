package cmdmod

import (
	"testing"

	"brine/wire/payload"
)

// The wanted texts are those of bytes.decode("utf-8", "replace") in Python 3.11.
func TestDecode(t *testing.T) {
	for _, tt := range []struct {
		in, encoding, want string
		clean              bool
	}{
		{"abc", "", "abc", true},
		{"\xffa\xe2\x82", "", "\uFFFDa\uFFFD", false},
		{"\xe2\x82x\xf0\x9f\x98", "utf-8", "\uFFFDx\uFFFD", false},
		{"\xed\xa0\x80", "", "\uFFFD\uFFFD\uFFFD", false},
		{"\xc0\x80", "", "\uFFFD\uFFFD", false},
		{"\xf4\x90\x80\x80", "", "\uFFFD\uFFFD\uFFFD\uFFFD", false},
		{"\xe0\x80", "", "\uFFFD\uFFFD", false},
		{"\xe4", "latin-1", "ä", true},
		{"a\xe4", "ascii", "a\uFFFD", false},
	} {
		got, clean, err := decodeAs([]byte(tt.in), tt.encoding)
		if err != nil || got != tt.want || clean != tt.clean {
			t.Errorf("decode %q as %q: got %q %v %v, want %q", tt.in, tt.encoding, got, clean, err, tt.want)
		}
	}
}

func FuzzReplaceInvalid(f *testing.F) {
	f.Add([]byte("a\xff\xe2\x82"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, _, _ := decodeAs(b, "")
		for _, r := range got {
			_ = r
		}
		if again, clean, _ := decodeAs([]byte(got), ""); !clean || again != got {
			t.Errorf("%q is no text", got)
		}
	})
}

func TestChrootLine(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		kw   *payload.Map
		want string
	}{
		{payload.M("cmd", "echo 'a b'"), "chroot  " + dir + ` /bin/sh -c 'echo '"'"'a b'"'"''`},
		{payload.M("cmd", []any{"echo", int64(1)}, "runas", "u"),
			"chroot --userspec u: " + dir + " /bin/sh -c 'echo 1'"},
		{payload.M("cmd", "ls", "runas", "u", "group", "g"), "chroot --userspec u:g " + dir + " /bin/sh -c ls"},
	} {
		o := common(tt.kw)
		if got := chrootLine(o.Cmd, o.RunAs, o.Group, dir); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

func TestShellVersion(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       *payload.Map
	}{
		{"bash", "GNU bash, version 5.2.15(1)-release (x86_64)",
			payload.M("installed", true, "path", "/p", "version_raw", "5.2.15(1)-release", "version", "5.2.15")},
		{"python", "Python 3.11.7\n",
			payload.M("installed", true, "path", "/p", "version_raw", "3.11.7", "version", "3.11.7")},
		{"zsh", "zsh 5 (x)", payload.M("installed", true, "path", "/p", "version_raw", "5", "version", "5.0")},
		{"php", "nonsense", payload.M("installed", nil, "path", "/p",
			"error", "The version regex pattern for shell php, could not find the version string",
			"stdout", "nonsense")},
	} {
		if got := shellVersion(tt.name, "/p", shellProbes()[tt.name].pattern, tt.text); !got.Equal(tt.want) {
			t.Errorf("%s: got %v", tt.name, got)
		}
	}
}
