package top

// helpLines draws the page of keys.
func (m *model) helpLines() []string {
	lines := []string{m.paint(bold, " Keys"), ""}
	put := func(key, text string) {
		lines = append(lines, "  "+m.paint(accent, fit(key, 14, false))+fit(text, max(m.width-16, 0), false))
	}
	put("↑ ↓ PgUp PgDn", "select, or scroll an actor's page; also j k g G")
	put("enter", "open the selected actor, esc goes back")
	put("n N s", "on an actor's page: the next one, the previous; its goroutines")
	put("/", "filter by words in path, state, message, note; esc drops it")
	put("z", "only actors that are busy, wait or have died")
	put("s S i", "sort by the next or previous column, invert the order")
	put("t", "the tree again")
	sorts, pair := []string{"n  name"}, ""
	for _, c := range append(columns(), tails()...) {
		if c.key != "" {
			sorts = append(sorts, c.key+"  "+c.help)
		}
	}
	for i, s := range sorts {
		if i%2 == 0 {
			pair = fit(s, 31, false)
			if i < len(sorts)-1 {
				continue
			}
			s = ""
		}
		key := ""
		if i < 2 {
			key = "sort by"
		}
		put(key, pair+s)
	}
	put("p, space", "pause, go on")
	put("+ -", "look more or less often")
	put("q, ctrl+c", "quit")
	lines = append(lines, "", m.paint(bold, " Columns"), "",
		"  "+fit("RST restarts, WAIT messages in the mailbox, OLDEST the age of the first,", max(m.width-2, 0), false),
		"  "+fit("MSG/S and BUSY since the last look, P99 of the times in handlers", max(m.width-2, 0), false))
	return lines
}
