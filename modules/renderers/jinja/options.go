package jinja

import (
	"encoding/json"
	"strings"

	"brine/modules/renderers/jinja/syntax"
)

const header = "#jinja2:"

// headerOptions takes the line "#jinja2: {...}" off the text and returns its options. It may stand behind a line with
// the names of renderers.
func (e *Engine) headerOptions(text string) (map[string]any, string) {
	before, rest := "", text
	if strings.HasPrefix(text, "#!") && !strings.HasPrefix(text, "#!/") {
		i := strings.IndexByte(text, '\n') + 1
		if i == 0 {
			return nil, text
		}
		before, rest = text[:i], text[i:]
	}
	if !strings.HasPrefix(rest, header) {
		return nil, text
	}
	line, after, _ := strings.Cut(rest, "\n")
	var opts map[string]any
	if json.Unmarshal([]byte(line[len(header):]), &opts) != nil || opts == nil {
		return nil, text
	}
	return opts, before + after
}

// syntaxOptions joins the options of Env and those of a template's own first line.
func (e *Engine) syntaxOptions(own map[string]any) syntax.Options {
	o := syntax.Options{
		HasFilter: func(name string) bool { return e.filters[name] != nil },
		HasTest:   func(name string) bool { return e.tests[name] != nil },
	}
	for k, v := range e.opt.Env.All() {
		if name, ok := k.(string); ok {
			setOption(&o, name, v)
		}
	}
	for name, v := range own {
		setOption(&o, name, v)
	}
	return o
}

func setOption(o *syntax.Options, name string, v any) {
	text, isText := v.(string)
	on, isBool := v.(bool)
	name = strings.ToLower(name)
	if to := map[string]*string{
		"block_start_string": &o.BlockStart, "block_end_string": &o.BlockEnd,
		"variable_start_string": &o.VariableStart, "variable_end_string": &o.VariableEnd,
		"comment_start_string": &o.CommentStart, "comment_end_string": &o.CommentEnd,
		"line_statement_prefix": &o.LineStatementPrefix, "line_comment_prefix": &o.LineCommentPrefix,
		"newline_sequence": &o.NewlineSequence,
	}[name]; to != nil && isText {
		*to = text
	}
	if to := map[string]*bool{
		"trim_blocks": &o.TrimBlocks, "lstrip_blocks": &o.LstripBlocks, "keep_trailing_newline": &o.KeepTrailingNewline,
	}[name]; to != nil && isBool {
		*to = on
	}
}
