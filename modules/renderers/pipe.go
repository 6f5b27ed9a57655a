package renderers

import (
	"log/slog"
	"slices"
	"strings"

	"brine/modules/loader"
)

// step is a renderer in a pipe.
type step struct{ name, arguments string }

// oldNames are pipes with a name of their own, the way they were written once.
var oldNames = map[string]string{
	"yaml_jinja": "jinja|yaml", "yaml_mako": "mako|yaml", "yaml_wempy": "wempy|yaml",
	"json_jinja": "jinja|json", "json_mako": "mako|json", "json_wempy": "wempy|json",
	"yamlex_jinja": "jinja|yamlex",
}

// firstLine is where a pipe may be named. Of a text that is no file Salt looks at the first word only.
func firstLine(template, text string) (string, error) {
	if template != InString {
		line, _, _ := strings.Cut(text, "\n")
		return line, nil
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		return "", loader.Raise("IndexError", "list index out of range")
	}
	return words[0], nil
}

// pipe lists the renderers that a first line names, or else those of standard. One that the configuration forbids is
// left out; if one does not exist there is no pipe at all.
func (s *Set) pipe(line, standard string) []step {
	pipe := standard
	if strings.HasPrefix(line, "#!") && !strings.HasPrefix(line, "#!/") {
		pipe = strings.TrimSpace(line)[len("#!"):]
	}
	parts := strings.Split(pipe, "|")
	if old, ok := oldNames[pipe]; ok {
		parts = strings.Split(old, "|")
	}
	var steps []step
	for _, part := range parts {
		name, arguments, _ := strings.Cut(strings.TrimSpace(part), " ")
		if len(s.opt.Whitelist) > 0 && !slices.Contains(s.opt.Whitelist, name) || slices.Contains(s.opt.Blacklist,
			name) {
			s.log(slog.LevelWarn, "The renderer %q is disallowed by configuration and will be skipped.", name)
			continue
		}
		if s.byName[name] == nil {
			s.log(slog.LevelError, "The renderer %q is not available", pipe)
			return nil
		}
		steps = append(steps, step{name, strings.TrimSpace(arguments)})
	}
	return steps
}
