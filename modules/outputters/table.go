package outputters

import (
	"strings"
	"unicode"

	"brine/wire/payload"
	"brine/wire/python"
)

// tableStyle holds the options of the table outputter, with Salt's defaults.
type tableStyle struct {
	o               *Options
	hasHeader       bool
	separateRows    bool
	rowDelimiter    string
	delim           string
	prefix, suffix  string
	justify         string
	width           int
	rowsKey, labels string
	title           string
	out             []string
}

// table shows lists as tables with a frame (salt/output/table_out.py). Maps lead to the lists within them,
// scalars show nothing.
func table(data any, o *Options) (string, error) {
	t := &tableStyle{o: o, hasHeader: true, separateRows: true, rowDelimiter: "-", delim: " | ",
		prefix: "| ", suffix: " |", justify: "center", width: 50}
	t.configure(o.Table)
	if t.title != "" && t.rowsKey != "" {
		// As in Salt, where colour and title changed places.
		t.out = append(t.out, t.title+o.color(white)+o.color(endColor)+"\n")
	}
	indent, _ := o.Table.Int("nested_indent")
	if err := t.display(data, int(indent)); err != nil {
		return "", err
	}
	return strings.Join(t.out, "\n"), nil
}

func (t *tableStyle) configure(opts *payload.Map) {
	for key, to := range map[string]*string{
		"row_delimiter": &t.rowDelimiter, "delim": &t.delim, "prefix": &t.prefix, "suffix": &t.suffix,
		"justify": &t.justify, "rows_key": &t.rowsKey, "labels_key": &t.labels, "title": &t.title,
	} {
		if v, ok := opts.Get(key); ok && v != nil {
			*to = str(v)
		}
	}
	for key, to := range map[string]*bool{"has_header": &t.hasHeader, "separate_rows": &t.separateRows} {
		if v, ok := opts.Value(key).(bool); ok {
			*to = v
		}
	}
	if n, ok := opts.Int("width"); ok {
		t.width = int(n)
	}
}

func (t *tableStyle) display(v any, indent int) error {
	switch x := v.(type) {
	case []any:
		if t.rowsKey == "" {
			return t.rows(x, nil, indent)
		}
	case *payload.Map:
		return t.displayMap(x, indent)
	}
	return nil
}

func (t *tableStyle) displayMap(m *payload.Map, indent int) error {
	list, ok := sorted(m)
	if !ok {
		return errShape
	}
	if t.rowsKey != "" && !m.Has(t.rowsKey) {
		for _, e := range list {
			if err := t.display(e.value, indent); err != nil {
				return err
			}
		}
		return nil
	}
	for _, e := range list {
		if t.rowsKey != "" && e.key != any(t.rowsKey) {
			continue
		}
		if err := t.displayEntry(m, e, indent); err != nil {
			return err
		}
	}
	return nil
}

func (t *tableStyle) displayEntry(m *payload.Map, e entry, indent int) error {
	if t.rowsKey == "" {
		t.out = append(t.out, t.o.line(indent, darkGray, "", str(e.key), ":"),
			t.o.line(indent, darkGray, "", mapRule, ""))
	}
	list, ok := e.value.([]any)
	if !ok {
		return t.display(e.value, indent+4)
	}
	var labels any
	if t.labels != "" {
		labels = m.Value(t.labels)
	}
	return t.rows(list, labels, indent)
}

// rows shows one list: rows of one type, maps with their keys as a header, texts as a single column.
func (t *tableStyle) rows(rows []any, labels any, indent int) error {
	if len(rows) == 0 || !oneType(rows) {
		return nil
	}
	header, err := labelTexts(labels)
	if err != nil {
		return err
	}
	var cells [][]string
	for i, row := range rows {
		var line []string
		switch x := row.(type) {
		case *payload.Map:
			var titles []string
			if titles, line, err = mapRow(x); err == nil && i == 0 && len(header) == 0 {
				header = titles
			}
		case string:
			line = []string{x}
		case []any:
			line, err = textCells(x)
		default:
			return errShape
		}
		if err != nil {
			return err
		}
		cells = append(cells, line)
	}
	if len(header) > 0 {
		cells = append([][]string{header}, cells...)
	}
	return t.frame(cells, indent+4, t.hasHeader && len(header) > 0)
}

func oneType(rows []any) bool {
	for _, r := range rows[1:] {
		if python.Type(r) != python.Type(rows[0]) {
			return false
		}
	}
	return true
}

func labelTexts(labels any) ([]string, error) {
	switch x := labels.(type) {
	case *payload.Map:
		list, ok := sorted(x)
		if !ok {
			return nil, errShape
		}
		var values []any
		for _, e := range list {
			values = append(values, e.value)
		}
		return textCells(values)
	case []any:
		return textCells(x)
	}
	return nil, nil
}

// textCells takes texts only: other values cannot be wrapped.
func textCells(row []any) ([]string, error) {
	out := make([]string, len(row))
	for i, v := range row {
		s, ok := v.(string)
		if !ok {
			return nil, errShape
		}
		out[i] = s
	}
	return out, nil
}

func mapRow(m *payload.Map) (titles, cells []string, err error) {
	list, ok := sorted(m)
	if !ok {
		return nil, nil, errShape
	}
	for _, e := range list {
		titles = append(titles, title(strings.ReplaceAll(str(e.key), "_", " ")))
		cells = append(cells, str(e.value))
	}
	return titles, cells, nil
}

// title is Python's str.title.
func title(s string) string {
	inWord := false
	return strings.Map(func(r rune) rune {
		letter := unicode.IsLetter(r)
		defer func() { inWord = letter }()
		if inWord {
			return unicode.ToLower(r)
		}
		return unicode.ToTitle(r)
	}, s)
}

// frame lays the cells out. A row is as high as its lowest cell and as wide as the narrowest row.
func (t *tableStyle) frame(cells [][]string, indent int, header bool) error {
	logical := make([][][]string, len(cells))
	var widths []int
	for i, row := range cells {
		if len(row) == 0 {
			return errShape
		}
		logical[i] = t.wrapRow(row)
		for _, line := range logical[i] {
			widths = widen(widths, line)
		}
	}
	justify, ok := justifier(t.justify)
	if !ok {
		return errShape
	}
	rule := t.o.line(indent, lightGray, "", strings.Repeat(t.rowDelimiter, t.lineWidth(widths)), "")
	if t.separateRows {
		t.out = append(t.out, rule)
	}
	for _, lines := range logical {
		for _, line := range lines {
			parts := make([]string, len(widths))
			for i, w := range widths {
				parts[i] = justify(line[i], w)
			}
			text := t.prefix + strings.Join(parts, t.delim) + t.suffix
			t.out = append(t.out, t.o.line(indent, white, "", text, ""))
		}
		if t.separateRows || header {
			t.out = append(t.out, rule)
			header = false
		}
	}
	return nil
}

// widen fits the column widths to one more line; columns that not every line has fall away.
func widen(widths []int, line []string) []int {
	if widths == nil {
		widths = make([]int, len(line))
	}
	widths = widths[:min(len(widths), len(line))]
	for i := range widths {
		widths[i] = max(widths[i], runeLen(line[i]))
	}
	return widths
}

func (t *tableStyle) lineWidth(widths []int) int {
	n := runeLen(t.prefix) + runeLen(t.suffix) + runeLen(t.delim)*(len(widths)-1)
	for _, w := range widths {
		n += w
	}
	return n
}

// wrapRow wraps each cell and keeps as many lines as every cell has.
func (t *tableStyle) wrapRow(row []string) [][]string {
	wrapped := make([][]string, len(row))
	height := -1
	for i, cell := range row {
		wrapped[i] = strings.Split(t.wrap(cell), "\n")
		if height < 0 || len(wrapped[i]) < height {
			height = len(wrapped[i])
		}
	}
	lines := make([][]string, height)
	for n := range lines {
		for i := range wrapped {
			lines[n] = append(lines[n], wrapped[i][n])
		}
	}
	return lines
}

// wrap breaks text at blanks where a line would reach the width.
func (t *tableStyle) wrap(text string) string {
	words := strings.Split(text, " ")
	line := words[0]
	for _, word := range words[1:] {
		first, _, _ := strings.Cut(word, "\n")
		sep := " "
		if runeLen(line[strings.LastIndex(line, "\n")+1:])+runeLen(first) >= t.width {
			sep = "\n"
		}
		line += sep + word
	}
	return line
}

// justifier returns Python's str.center, str.ljust or str.rjust.
func justifier(name string) (func(s string, width int) string, bool) {
	blanks := func(n int) string { return strings.Repeat(" ", max(n, 0)) }
	switch strings.ToLower(name) {
	case "center":
		return func(s string, width int) string {
			pad := max(width-runeLen(s), 0)
			left := pad/2 + pad&width&1
			return blanks(left) + s + blanks(pad-left)
		}, true
	case "left":
		return func(s string, width int) string { return s + blanks(width-runeLen(s)) }, true
	case "right":
		return func(s string, width int) string { return blanks(width-runeLen(s)) + s }, true
	}
	return nil, false
}
