package top

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// onKey handles a key on any page.
func (m *model) onKey(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	switch {
	case key == "ctrl+c":
		return tea.Quit
	case key == "ctrl+z":
		return tea.Suspend
	case m.typing:
		m.onTyped(key, msg.Text)
		return nil
	case m.page == pageHelp:
		m.page = m.from
		return nil
	case key == "?" || key == "h" || key == "f1":
		m.from, m.page = m.page, pageHelp
		return nil
	case key == "q":
		if m.page == pageActor {
			m.page = pageList
			return nil
		}
		return tea.Quit
	}
	if done, cmd := m.onClockKey(key); done {
		return cmd
	}
	if m.page == pageActor {
		return m.onActorKey(key)
	}
	return m.onListKey(key)
}

// onClockKey handles the keys that control the time of the looks.
func (m *model) onClockKey(key string) (done bool, cmd tea.Cmd) {
	switch key {
	case "p", "space":
		m.paused = !m.paused
		if !m.paused && !m.asking {
			return true, m.ask()
		}
	case "+", "=":
		m.opt.Every = max(m.opt.Every/2, shortest)
	case "-":
		m.opt.Every = min(m.opt.Every*2, longest)
	case "ctrl+l":
		return true, tea.ClearScreen
	default:
		return false, nil
	}
	if m.asking || m.paused {
		return true, nil
	}
	return true, m.wait()
}

// onTyped handles a key while the user types the filter.
func (m *model) onTyped(key, text string) {
	switch key {
	case "enter", "down", "up", "tab":
		m.typing = false
	case "esc":
		m.typing = false
		m.setFilter("")
	case "backspace":
		_, size := utf8.DecodeLastRuneInString(m.filter)
		m.setFilter(m.filter[:len(m.filter)-size])
	case "ctrl+u", "ctrl+w":
		m.setFilter("")
	default:
		if text != "" {
			m.setFilter(m.filter + clean(text))
		}
		if key == "space" && text == "" {
			m.setFilter(m.filter + " ")
		}
	}
}

func (m *model) onListKey(key string) tea.Cmd {
	if d, ok := m.step(key); ok {
		m.move(d)
		return nil
	}
	switch key {
	case "enter", "right":
		if r := m.row(m.cursor); r != nil && !r.root {
			m.page, m.actor = pageActor, actorPage{key: r.key}
		}
	case "/", "ctrl+f":
		m.typing = true
	case "esc":
		m.busyOnly = false
		m.setFilter("")
	case "z":
		m.busyOnly = !m.busyOnly
		m.list()
	case "s", "S":
		m.cycle(key == "S")
	case "i":
		m.reverse = !m.reverse
		m.list()
	default:
		if slices.Contains(sortKeys(), key) {
			m.sortBy(key)
		}
	}
	return nil
}

// sortKeys are the keys that sort, in the order of the columns.
func sortKeys() []string {
	keys := []string{sortTree, sortName}
	for _, c := range append(columns(), tails()...) {
		if c.key != "" {
			keys = append(keys, c.key)
		}
	}
	return keys
}

// sortBy sorts by a column. The same key again reverses the order.
func (m *model) sortBy(key string) {
	m.reverse = key == m.sort && key != sortTree && !m.reverse
	m.sort = key
	m.list()
}

// cycle changes to the next way of sorting.
func (m *model) cycle(back bool) {
	keys := sortKeys()
	i, d := slices.Index(keys, m.sort), 1
	if back {
		d = len(keys) - 1
	}
	m.reverse = false
	m.sort = keys[(i+d)%len(keys)]
	m.list()
}

// step is the distance that a movement key goes.
func (m *model) step(key string) (lines int, ok bool) {
	const far = 1 << 30
	half := max(m.body()-1, 1)
	switch key {
	case "up", "k":
		return -1, true
	case "down", "j":
		return 1, true
	case "pgup", "ctrl+b":
		return -half, true
	case "pgdown", "ctrl+d":
		return half, true
	case "home", "g":
		return -far, true
	case "end", "G", "shift+g":
		return far, true
	}
	return 0, false
}

func (m *model) move(d int) {
	if len(m.shown) == 0 {
		return
	}
	i := min(max(m.position()+d, 0), len(m.shown)-1)
	m.cursor = m.shown[i].key
}

func (m *model) onActorKey(key string) tea.Cmd {
	if d, ok := m.step(key); ok {
		m.actor.offset = max(m.actor.offset+d, 0) // the end is known only when the page is drawn
		return nil
	}
	switch key {
	case "esc", "left", "backspace", "enter":
		m.page = pageList
	case "n", "tab":
		m.neighbor(1)
	case "N", "shift+n", "shift+tab":
		m.neighbor(-1)
	case "s":
		return m.askStack()
	}
	return nil
}

// neighbor shows the next actor of the list.
func (m *model) neighbor(d int) {
	m.move(d)
	if r := m.row(m.cursor); r != nil && r.root {
		m.move(d)
	}
	if r := m.row(m.cursor); r != nil && !r.root {
		m.actor = actorPage{key: r.key}
	}
}

func (m *model) askStack() tea.Cmd {
	if m.actor.asking {
		return nil
	}
	m.actor.asking = true
	ctx, source, key := m.ctx, m.opt.Source, m.actor.key
	return func() tea.Msg {
		text, err := source.Stack(ctx, key)
		return stacked{key, text, err}
	}
}

// everyText is the time between two looks, as in the footer.
func everyText(d time.Duration) string { return strings.TrimSuffix(d.String(), "0s") }
