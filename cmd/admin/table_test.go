package admin

import "testing"

func TestTable(t *testing.T) {
	tab := newTable("A", "LONG", "C")
	tab.add("grün", "", "x")
	tab.add("", "b\nc", "")
	tab.add("", "", "")
	want := "A     LONG  C\ngrün        x\n      b c\n\n"
	if got := tab.String(); got != want {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}
