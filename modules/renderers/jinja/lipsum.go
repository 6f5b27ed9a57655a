package jinja

import (
	"math/rand/v2"
	"strings"

	"brine/modules/renderers/jinja/py"
)

// latin are the words of lipsum's text.
const latin = `ac ad aliqua aliquip amet anim ante aute auctor bibendum cillum commodo consectetur consequat culpa cupidatat
deserunt dolor dolore donec duis ea eget eiusmod elit enim erat esse est et ex excepteur exercitation fugiat id in incididunt
ipsum irure labore laboris laborum leo lorem magna mi minim mollit nec nisi non nostrud nulla nunc occaecat officia orci pariatur
proident qui quis reprehenderit sed sint sit sunt tempor tortor ullamco urna ut velit veniam vitae voluptate`

var lipsumSig = py.Sig("generate_lorem_ipsum", "n= html= min= max=", int64(5), true, int64(20), int64(100))

// lipsum makes n paragraphs of random text of min to max-1 words, in <p> where html is true.
func lipsum(w *py.Work, a py.Args) (any, error) {
	got, err := lipsumSig.Bind(a)
	if err != nil {
		return nil, err
	}
	n, err := py.Whole(got[0])
	if err != nil {
		return nil, err
	}
	html, err := py.Truth(got[1])
	if err != nil {
		return nil, err
	}
	words := strings.Fields(latin)
	var parts []string
	for range max(n, 0) {
		length, err := randrange(got[2], got[3])
		if err != nil {
			return nil, err
		}
		text, err := paragraph(w, words, length)
		if err != nil {
			return nil, err
		}
		if html {
			text = "<p>" + text + "</p>"
		}
		parts = append(parts, text)
		if err := w.Grow(64 + len(text)); err != nil {
			return nil, err
		}
	}
	if html {
		return py.Markup(strings.Join(parts, "\n")), nil
	}
	return strings.Join(parts, "\n\n"), nil
}

// randrange is a number from low to high-1.
func randrange(low, high any) (int64, error) {
	from, err := bound(low, "arg 1")
	if err != nil {
		return 0, err
	}
	to, err := bound(high, "stop")
	if err != nil {
		return 0, err
	}
	if to <= from || to-from < 0 {
		return 0, py.Errorf("ValueError", "empty range for randrange() (%d, %d, %d)", from, to, to-from)
	}
	return from + rand.Int64N(to-from), nil
}

// bound is a whole number, or one that is equal to one.
func bound(v any, which string) (int64, error) {
	if n, err := py.Whole(v); err == nil {
		return n, nil
	}
	whole, err := py.ToInt(v)
	if err != nil {
		return 0, err
	}
	if same, err := py.Equal(py.Free(), whole, v); err != nil || !same {
		return 0, py.Errorf("ValueError", "non-integer %s for randrange()", which)
	}
	return py.Whole(whole)
}

// paragraph has commas every few words and ends sentences after ten to twenty or a little more.
func paragraph(w *py.Work, words []string, length int64) (string, error) {
	var b strings.Builder
	last, comma, stop, start := "", int64(0), int64(0), true
	for i := range max(length, 0) {
		word := words[rand.IntN(len(words))]
		for word == last {
			word = words[rand.IntN(len(words))]
		}
		last = word
		if start {
			word, start = py.Capitalize(word), false
		}
		if i-3-rand.Int64N(5) > comma {
			comma, stop = i, stop+2
			word += ","
		}
		if i-10-rand.Int64N(10) > stop {
			comma, stop, start = i, i, true
			word += "."
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
		if err := w.Grow(2*len(word) + 64); err != nil {
			return "", err
		}
	}
	text := b.String()
	if !strings.HasSuffix(text, ".") {
		text = strings.TrimSuffix(text, ",") + "."
	}
	return text, nil
}
