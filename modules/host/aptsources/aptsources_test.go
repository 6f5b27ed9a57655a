package aptsources

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"deb http://a/d x main contrib", "deb http://a/d x main contrib"},
		{"#deb http://a/d x main", "# deb http://a/d x main"},
		{"deb [arch=amd64,i386 signed-by=/k] http://a x y # why", "deb [arch=amd64,i386 signed-by=/k] http://a x y # why"},
		{"deb [ arch=amd64 ] http://a/d x", "deb [arch=amd64] http://a/d x"},
		{"deb [trusted=no] http://a/d x", "deb http://a/d x"},
		{"deb [check-valid-until=no] http://a/d x", "deb [check-valid-until=no] http://a/d x"},
		{"deb cdrom:[Debian 12 _x_]/ x main", "deb cdrom:[Debian 12 _x_]/ x main"},
		{"# only a comment", "# only a comment"},
		{"", ""},
	} {
		e, err := Parse(tt.line, Main)
		if err != nil || e.String() != tt.want {
			t.Errorf("%q: got %q, %v, want %q", tt.line, e.String(), err, tt.want)
		}
	}
	if _, err := Parse("deb [arch=amd64] http://a/d", Main); err == nil {
		t.Error("a line without a suite is a repository")
	}
}

func TestSection(t *testing.T) {
	const text = "# head\nTypes: deb\nURIs: http://a/d\nSuites: x y\nComponents: main\nSigned-By:\n -----BEGIN\n .\n" +
		" abc\n# foot\n"
	e := NewSection(text).entry("a.sources")
	if diff := cmp.Diff([]string{"x", "y"}, e.Suites()); diff != "" || e.Type != "deb" {
		t.Error(e.Type, diff)
	}
	e.SetSuites([]string{"y"})
	e.SetDisabled(true)
	want := strings.Replace(text, "x y", "y", 1)
	want = strings.Replace(want, "Signed-By:\n", "Signed-By: ", 1)
	want = strings.Replace(want, " -----BEGIN", "-----BEGIN", 1)
	want = strings.Replace(want, "# foot", "Enabled: no\n# foot", 1)
	if diff := cmp.Diff(want, e.Section.String()); diff != "" {
		t.Error(diff)
	}
}

// TestSound: a value that would be further fields or sections is no value.
func TestSound(t *testing.T) {
	for _, value := range []string{"x\nTypes: deb", "x\n\nTypes: deb", "x\n \n y", "x\ry"} {
		e := NewDeb822("a.sources")
		if e.SetField("Suites", value); e.sound() == nil {
			t.Errorf("a suite may be %q", value)
		}
	}
	e := Entry{Type: "deb", URI: "http://a", Dist: "x\ndeb http://evil", Comps: []string{"main"}}
	if e.sound() == nil {
		t.Error("a suite may be a line more")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("deb [arch=amd64 signed-by=/k] http://a/d x main # c")
	f.Add("#deb cdrom:[x]/ y z")
	f.Add("deb [=] [ ] x")
	f.Fuzz(func(t *testing.T, line string) {
		e, err := Parse(line, Main)
		if err != nil || e.Invalid {
			return
		}
		again, err := Parse(e.String(), Main)
		if err == nil && !again.Invalid && again.String() != e.String() {
			t.Logf("%q became %q, then %q", line, e.String(), again.String())
		}
		NewSection(line).entry("x.sources").Suites()
	})
}
