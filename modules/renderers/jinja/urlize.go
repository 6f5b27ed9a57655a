package jinja

import (
	"sort"
	"strings"
	"unicode/utf8"

	"brine/modules/renderers/jinja/py"
	"brine/modules/text/pattern"
)

var (
	webAddress = pattern.New(
		`(?i)^((https?://|www\.)(([\w%-]+\.)+)?([a-z]{2,63}|xn--[\w%]{2,59})|([\w%-]{2,63}\.)+(com|net|int|edu|gov|org|info|mil)|(https?://)((([\d]{1,3})(\.[\d]{1,3}){3})|(\[([\da-f]{0,4}:){2}([\da-f]{0,4}:?){1,6}])))(?::[\d]{1,5})?(?:[/?#]\S*)?$`)
	mail       = pattern.New(`^\S+@\w[\w.-]*\.\w+$`)
	leading    = pattern.New(`^([(<]|&lt;)+`)
	trailing   = pattern.New(`([)>.,\n]|&gt;)+$`)
	spacesIn   = pattern.New(`\s+`)
	schemeName = pattern.New(`^[\w.+-]{2,}:/{0,2}$`)
)

// linker makes links of addresses.
type linker struct {
	limit       int // shown length, below 0 without limit
	rel, target string
	schemes     []string
}

func urlize(r *run, a []any) (any, error) {
	s, err := py.Str(r.work, a[0])
	if err != nil {
		return nil, err
	}
	l := linker{limit: -1}
	if a[1] != nil {
		if l.limit, err = intOf(a[1]); err != nil {
			return nil, err
		}
	}
	nofollow, err := py.Truth(a[2])
	if err != nil {
		return nil, err
	}
	rels := map[string]bool{"noopener": true}
	if nofollow {
		rels["nofollow"] = true
	}
	if rel, ok := py.Text(a[4]); ok {
		for _, w := range strings.Fields(rel) {
			rels[w] = true
		}
	}
	var words []string
	for w := range rels {
		words = append(words, w)
	}
	sort.Strings(words)
	l.rel = ` rel="` + py.EscapeText(strings.Join(words, " ")) + `"`
	if target, ok := py.Text(a[3]); ok {
		l.target = ` target="` + py.EscapeText(target) + `"`
	}
	if a[5] != nil {
		items, err := py.Collect(r.work, a[5])
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			scheme, _ := py.Text(item)
			if !schemeName.MatchString(scheme) {
				return nil, argumentError("%s is not a valid URI scheme prefix.", quote(scheme))
			}
			l.schemes = append(l.schemes, scheme)
		}
	}
	if !isType[py.Markup](a[0]) {
		s = py.EscapeText(s)
	}
	out := l.text(s)
	if err := r.work.Grow(len(out)); err != nil {
		return nil, err
	}
	if r.s.room.autoescape {
		return py.Markup(out), nil
	}
	return out, nil
}

// text replaces the words of a text, white space stays.
func (l *linker) text(s string) string {
	gaps := spacesIn.FindAllString(s, -1)
	words := spacesIn.Split(s, -1)
	var b strings.Builder
	for i, w := range words {
		b.WriteString(l.word(w))
		if i < len(gaps) {
			b.WriteString(gaps[i])
		}
	}
	return b.String()
}

func (l *linker) word(w string) string {
	head := leading.FindString(w)
	middle := w[len(head):]
	tail := ""
	if strings.HasSuffix(middle, ")") || strings.HasSuffix(middle, ">") || strings.HasSuffix(middle, ".") ||
		strings.HasSuffix(middle, ",") || strings.HasSuffix(middle, "\n") || strings.HasSuffix(middle, "&gt;") {
		tail = trailing.FindString(middle)
		middle = middle[:len(middle)-len(tail)]
	}
	for _, pair := range [][2]string{{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}} {
		middle, tail = balanced(middle, tail, pair[0], pair[1])
	}
	return head + l.link(middle) + tail
}

// balanced moves closing brackets back that belong to ones inside.
func balanced(middle, tail, open, end string) (string, string) {
	n := strings.Count(middle, open)
	for range min(n, strings.Count(tail, end)) {
		i := strings.Index(tail, end) + len(end)
		middle += tail[:i]
		tail = tail[i:]
	}
	return middle, tail
}

func (l *linker) shown(s string) string {
	if l.limit >= 0 && utf8.RuneCountInString(s) > l.limit {
		return string([]rune(s)[:l.limit]) + "..."
	}
	return s
}

func (l *linker) link(s string) string {
	switch {
	case webAddress.MatchString(s):
		if strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://") {
			return `<a href="` + s + `"` + l.rel + l.target + `>` + l.shown(s) + `</a>`
		}
		return `<a href="https://` + s + `"` + l.rel + l.target + `>` + l.shown(s) + `</a>`
	case strings.HasPrefix(s, "mailto:") && mail.MatchString(s[len("mailto:"):]):
		return `<a href="` + s + `">` + s[len("mailto:"):] + `</a>`
	case strings.Contains(s, "@") && !strings.HasPrefix(s, "www.") && !strings.HasPrefix(s, "@") &&
		!strings.Contains(s, ":") && mail.MatchString(s):
		return `<a href="mailto:` + s + `">` + s + `</a>`
	}
	for _, scheme := range l.schemes {
		if s != scheme && strings.HasPrefix(s, scheme) {
			return `<a href="` + s + `"` + l.rel + l.target + `>` + s + `</a>`
		}
	}
	return s
}
