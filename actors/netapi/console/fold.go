package console

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"brine/modules/outputters"
	"brine/wire/payload"
)

// Fold is a row of the table output: minions with equal returns.
type Fold struct {
	Minions []string `json:"minions" doc:"sorted; the first hundred"`
	Count   int      `json:"count"`
	Retcode int64    `json:"retcode"`
	Lines   [][]Span `json:"lines"`
	Cut     bool     `json:"cut" doc:"the rest is not sent"`
}

// Span is a piece of a line in one colour.
type Span struct {
	Text  string `json:"t"`
	Color string `json:"c,omitempty" doc:"red, green, yellow, blue, magenta, cyan, white or black, and bold"`
}

const (
	maxFolds   = 300
	maxOutput  = 64 << 10 // bytes of one fold
	maxShaped  = 1 << 20  // limit in bytes of JSON for the use of an outputter; a larger return is shown as plain text
	maxOutputs = 4 << 20  // approximate bytes of all folds
	maxNamed   = 100
)

// folded groups the returns of a job, {id: {return, retcode, out}}. Equal returns make one row.
func folded(returns *payload.Map) rows {
	type group struct {
		ids []string
		ret *payload.Map
	}
	groups := map[string]*group{}
	plain := map[string]string{}
	for k, v := range returns.All() {
		id, ok := k.(string)
		ret, isMap := v.(*payload.Map)
		if !ok {
			continue
		}
		if !isMap || !ret.Has("return") { // older answers contain only the value itself
			ret = payload.M("return", v)
		}
		value := outputters.JSON(ret.Value("return"))
		sum := sha256.New()
		_, _ = fmt.Fprint(sum, whole(ret, "retcode"), " ", str(ret, "out"), " ")
		_, _ = io.WriteString(sum, value) // a hash accepts all writes
		key := hex.EncodeToString(sum.Sum(nil)[:12])
		if groups[key] == nil {
			groups[key] = &group{ret: ret}
			if len(value) > maxShaped {
				plain[key] = strings.Clone(value[:maxOutput+1])
			}
		}
		groups[key].ids = append(groups[key].ids, strings.ToValidUTF8(id, "�"))
	}
	now, limit := rows{}, min(maxOutput, max(maxOutput/16, maxOutputs/max(1, len(groups))))
	for _, key := range slices.Sorted(maps.Keys(groups))[:min(len(groups), maxFolds)] { // the same groups each time
		g := groups[key]
		slices.Sort(g.ids)
		now[key] = fold(g.ids, g.ret, plain[key], limit)
	}
	return now
}

// fold shows a return as salt would, up to limit bytes. Of a return that is too large it shows the beginning as
// plain text.
func fold(ids []string, ret *payload.Map, out string, limit int) Fold {
	f := Fold{Minions: ids[:min(len(ids), maxNamed)], Count: len(ids), Retcode: whole(ret, "retcode")}
	if out == "" {
		out = shaped(ids, ret, int(f.Retcode))
	}
	if f.Cut = len(out) > limit; f.Cut {
		out = out[:limit]
	}
	f.Lines = spans(strings.ToValidUTF8(out, "�"))
	return f
}

// shaped prints a return with its outputter.
func shaped(ids []string, ret *payload.Map, retcode int) string {
	name := outputters.Choose("", str(ret, "out"), false, str(ret, "fun"))
	label := ids[0]
	if len(ids) > 1 {
		label = fmt.Sprintf("%s and %d more", ids[0], len(ids)-1)
	}
	out, err := outputters.Format(name, payload.M(label, ret.Value("return")),
		outputters.Options{Color: true, Terminal: true, Minions: true, Retcode: retcode})
	if err != nil && out == "" {
		out = outputters.JSON(ret.Value("return"))
	}
	return out
}

// spans splits a text for a terminal into pieces by colour.
func spans(out string) [][]Span {
	lines := [][]Span{}
	color := ""
	for line := range strings.Lines(out) {
		row := []Span{}
		for rest := strings.TrimRight(line, "\n"); rest != ""; {
			at := strings.Index(rest, "\x1b[")
			if at < 0 {
				row = append(row, Span{rest, color})
				break
			}
			if at > 0 {
				row = append(row, Span{rest[:at], color})
			}
			code, after, ok := strings.Cut(rest[at+2:], "m")
			if !ok {
				break
			}
			color, rest = colorOf(code, color), after
		}
		lines = append(lines, row)
	}
	return lines
}

// colorOf is the colour that the code between ESC[ and m turns on. A code without a colour changes nothing.
func colorOf(code, was string) string {
	names := map[string]string{"30": "black", "31": "red", "32": "green", "33": "yellow", "34": "blue", "35": "magenta",
		"36": "cyan", "37": "white"}
	color, bold := was, ""
	for _, part := range strings.Split(code, ";") {
		switch name, ok := names[part]; {
		case ok:
			color = name
		case part == "1":
			bold = " bold"
		case part == "0", part == "", part == "39":
			color = ""
		}
	}
	if color == "" {
		return strings.TrimSpace(bold)
	}
	return color + bold
}
