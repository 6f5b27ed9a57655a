package daemon

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"brine/cmd/session"
	"brine/config"
	"brine/modules/absent"
	"brine/modules/pillar"
	"brine/wire/payload"
	"brine/wire/python"
)

// absences names the things that a daemon's options ask for and brine lacks: external pillars, and functions in
// schedules and mines. It also warns of secrets that pillar_opts gives to minions.
func absences(s *session.Session) (out []config.Notice) {
	c := s.Common
	say := func(key, text string) {
		out = append(out, config.Notice{Level: slog.LevelWarn, Text: fmt.Sprintf("Config option '%s': %s (%s)", key,
			text, c.Origin(key))})
	}
	notYet, unknown := pillar.Missing(c.Raw.Value("ext_pillar"))
	if len(notYet) > 0 {
		say("ext_pillar", "brine does not have the external pillars "+strings.Join(notYet,
			", ")+" yet: pillars say so, and states refuse them")
	}
	if len(unknown) > 0 {
		say("ext_pillar", "there are no external pillars "+strings.Join(unknown, ", ")+": they are left out")
	}
	kind := absent.Execution
	if s.Master != nil {
		kind = absent.Runner
		if names := config.SecretOptions(c.Raw); python.Truth(c.Raw.Value("pillar_opts")) {
			say("pillar_opts", "every minion gets all options of this master in its pillar, unmasked; secrets are in "+
				oneOf(names))
		}
	}
	for _, key := range []string{"schedule", "mine_functions"} {
		for _, name := range functionsIn(key, c.Raw.Value(key)) {
			if text := absent.Sentence(kind, name); text != "" {
				say(key, strings.TrimSuffix(text, "."))
			}
		}
	}
	return out
}

// oneOf joins the names of options.
func oneOf(names []string) string {
	if len(names) == 0 {
		return "none whose name says so"
	}
	return strings.Join(names, ", ")
}

// functionsIn returns the names of functions in the option schedule or mine_functions, in order.
func functionsIn(key string, v any) (names []string) {
	m, _ := v.(*payload.Map)
	for name, entry := range m.All() {
		fun := python.Str(name)
		job, isMap := entry.(*payload.Map)
		if key == "schedule" {
			fun = job.Str("function")
		} else if isMap && job.Has("mine_function") {
			fun = job.Str("mine_function")
		}
		list, _ := entry.([]any)
		for _, one := range list { // an alias may be a list; one of its maps then holds the function
			if in, ok := one.(*payload.Map); ok && in.Has("mine_function") {
				fun = in.Str("mine_function")
			}
		}
		if fun != "" {
			names = append(names, fun)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
