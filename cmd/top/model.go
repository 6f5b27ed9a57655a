package top

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// These ways of sorting belong to no column.
const (
	sortTree = "t"
	sortName = "n"
)

// page names the content of the screen.
type page int

const (
	pageList page = iota
	pageActor
	pageHelp
)

// These are the messages of the screen.
type (
	looked struct {
		look *Look
		err  error
	}
	ticked  struct{ turn int }
	stacked struct {
		key, text string
		err       error
	}
)

// model is the screen: the looks, and the user's choices.
type model struct {
	ctx context.Context
	opt Options

	width, height int

	look   *Look // nil before the first
	err    error // of the last attempt
	rows   []*row
	trends map[string]*trend
	looks  int
	turn   int // number of the clock: ticks of an older clock do not count
	asking bool

	page     page
	from     page // the page from which help was opened
	sort     string
	reverse  bool
	filter   string
	typing   bool
	busyOnly bool
	paused   bool

	shown  []*row // the list after sorting and filtering
	cursor string // key of the selected row
	offset int    // of the first visible line

	actor actorPage
}

func newModel(ctx context.Context, opt Options) *model {
	return &model{ctx: ctx, opt: opt, trends: map[string]*trend{}, sort: sortTree, width: 80, height: 24}
}

// now is the time of the shown look. It stands still while the screen is paused.
func (m *model) now() time.Time { return m.look.At }

// Init asks for the first look.
func (m *model) Init() tea.Cmd { return m.ask() }

func (m *model) ask() tea.Cmd {
	m.asking = true
	ctx, source := m.ctx, m.opt.Source
	return func() tea.Msg {
		look, err := source.Look(ctx)
		return looked{look, err}
	}
}

// wait waits for the time between two looks.
func (m *model) wait() tea.Cmd {
	m.turn++
	turn := m.turn
	return tea.Tick(m.opt.Every, func(time.Time) tea.Msg { return ticked{turn} })
}

// Update handles one message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case looked:
		return m, m.onLooked(msg)
	case ticked:
		if msg.turn == m.turn && !m.paused && !m.asking {
			return m, m.ask()
		}
	case stacked:
		m.actor.onStacked(msg)
	case tea.KeyPressMsg:
		return m, m.onKey(msg)
	case tea.PasteMsg:
		if m.typing {
			m.setFilter(m.filter + clean(msg.Content))
		}
	}
	return m, nil
}

func (m *model) onLooked(msg looked) tea.Cmd {
	m.asking = false
	m.err = msg.err
	if msg.err == nil {
		m.take(msg.look)
	}
	return m.wait()
}

// take compares a look with the last one and lists it.
func (m *model) take(look *Look) {
	before := make(map[string]*row, len(m.rows))
	for _, r := range m.rows {
		before[r.key] = r
	}
	var took time.Duration
	if m.look != nil {
		took = look.At.Sub(m.look.At)
	}
	m.look, m.rows = look, rows(look)
	m.looks++
	for _, r := range m.rows {
		r.compare(before[r.key], took)
		r.trend = m.trends[r.key]
		if r.trend == nil {
			r.trend = &trend{}
			m.trends[r.key] = r.trend
		}
		r.trend.add(r.rate, r.share, m.looks)
	}
	for key, t := range m.trends {
		if t.seen < m.looks-trendLength {
			delete(m.trends, key)
		}
	}
	m.list()
}

// list sorts and filters the rows, and keeps the cursor on its row.
func (m *model) list() {
	if m.look == nil {
		return
	}
	was := m.position()
	m.shown = m.chosen()
	if m.sort != sortTree {
		slices.SortStableFunc(m.shown, m.order())
		if m.reverse {
			slices.Reverse(m.shown)
		}
	}
	if len(m.shown) > 0 && m.position() < 0 {
		m.cursor = m.shown[min(max(was, 0), len(m.shown)-1)].key
	}
}

// chosen returns the rows that pass filter and busyOnly. In the tree it adds the rows above them.
func (m *model) chosen() []*row {
	keep := make(map[*row]bool, len(m.rows))
	for _, r := range m.rows {
		if !r.matches(m.filter) || m.busyOnly && (r.idle() || r.root) {
			continue
		}
		keep[r] = true
		for up := r.parent; up != nil && m.sort == sortTree; up = up.parent {
			keep[up] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(m.rows), func(r *row) bool {
		return !keep[r] || r.root && m.sort != sortTree
	})
}

// order compares two rows by the column that sorts.
func (m *model) order() func(a, b *row) int {
	for _, c := range append(columns(), tails()...) {
		if c.key == m.sort && c.less != nil {
			return c.less
		}
	}
	return func(a, b *row) int { return strings.Compare(a.key, b.key) }
}

// position is the index of the cursor's row in the list, or -1.
func (m *model) position() int {
	return slices.IndexFunc(m.shown, func(r *row) bool { return r.key == m.cursor })
}

// row finds the row of a key, or returns nil.
func (m *model) row(key string) *row {
	if i := slices.IndexFunc(m.rows, func(r *row) bool { return r.key == key }); i >= 0 {
		return m.rows[i]
	}
	return nil
}

// setFilter sets the filter. The cursor moves to the first row that matches, because the rows above it only
// complete the tree.
func (m *model) setFilter(text string) {
	m.filter = text
	m.list()
	if r := m.row(m.cursor); r == nil || text == "" || !r.root && r.matches(text) {
		return
	}
	if i := slices.IndexFunc(m.shown, func(r *row) bool { return !r.root && r.matches(text) }); i >= 0 {
		m.cursor = m.shown[i].key
	}
}
