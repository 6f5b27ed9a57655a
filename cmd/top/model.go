package top

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Ways to sort that are no column's key.
const (
	sortTree = "t"
	sortName = "n"
)

// page is what fills the screen.
type page int

const (
	pageList page = iota
	pageActor
	pageHelp
)

// Messages of the screen.
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

// model is the screen: what was seen, and what its user wants to see of it.
type model struct {
	ctx context.Context
	opt Options

	width, height int

	look   *Look // nil before the first
	err    error // of the last try
	rows   []*row
	trends map[string]*trend
	looks  int
	turn   int // of the clock: ticks of an older one do not count
	asking bool

	page     page
	from     page // that help was called from
	sort     string
	reverse  bool
	filter   string
	typing   bool
	busyOnly bool
	paused   bool

	shown  []*row // of the list, after sorting and filtering
	cursor string // key of the selected row
	offset int    // of the first line on the screen

	actor actorPage
}

func newModel(ctx context.Context, opt Options) *model {
	return &model{ctx: ctx, opt: opt, trends: map[string]*trend{}, sort: sortTree, width: 80, height: 24}
}

// now is the time of what is shown: it stands still while the screen is paused.
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

// wait lets the time between two looks pass.
func (m *model) wait() tea.Cmd {
	m.turn++
	turn := m.turn
	return tea.Tick(m.opt.Every, func(time.Time) tea.Msg { return ticked{turn} })
}

// Update takes one message.
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

// take compares a look with the one before and lists it.
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

// list sorts and filters, and keeps the cursor where it was.
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

// chosen are the rows that filter and busyOnly leave; in the tree with those above them.
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

// position is the place of the cursor in the list, -1 when its row is not there.
func (m *model) position() int {
	return slices.IndexFunc(m.shown, func(r *row) bool { return r.key == m.cursor })
}

// row is the row of a key, nil when it has gone.
func (m *model) row(key string) *row {
	if i := slices.IndexFunc(m.rows, func(r *row) bool { return r.key == key }); i >= 0 {
		return m.rows[i]
	}
	return nil
}

// setFilter filters by a text. The cursor goes to the first row that matches: those above it are there for the tree.
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
