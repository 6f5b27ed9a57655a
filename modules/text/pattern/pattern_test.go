package pattern

import (
	"slices"
	"testing"
)

func TestPattern(t *testing.T) {
	p := New(`([a-z])(\d)`)
	if !p.MatchString("x a1") || p.MatchString("A1") {
		t.Error("MatchString")
	}
	if got := p.FindString("x a1 b2"); got != "a1" {
		t.Errorf("FindString %q", got)
	}
	if got := p.FindStringSubmatch("x a1 b2"); !slices.Equal(got, []string{"a1", "a", "1"}) {
		t.Errorf("FindStringSubmatch %q", got)
	}
	if got := p.FindAllString("a1 b2 c3", 2); !slices.Equal(got, []string{"a1", "b2"}) {
		t.Errorf("FindAllString %q", got)
	}
	if got := p.FindAllStringSubmatch("a1 b2", -1); len(got) != 2 || got[1][2] != "2" {
		t.Errorf("FindAllStringSubmatch %q", got)
	}
	if got := p.ReplaceAllString("a1 b2", "$2$1"); got != "1a 2b" {
		t.Errorf("ReplaceAllString %q", got)
	}
	if got := p.Split("xa1yb2z", -1); !slices.Equal(got, []string{"x", "y", "z"}) {
		t.Errorf("Split %q", got)
	}
}

// TestLate makes sure that nothing is compiled before it is needed.
func TestLate(t *testing.T) {
	p := New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a bad expression passed")
		}
	}()
	p.MatchString("")
}
