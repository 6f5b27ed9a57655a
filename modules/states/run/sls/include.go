package sls

import (
	"context"
	"slices"
	"strings"

	"brine/modules/states/run/high"
	"brine/wire/payload"
	"brine/wire/python"
)

// include carries out one entry of a list of includes: a name, or {environment: name}.
func (s *oneSLS) include(ctx context.Context, item any) {
	env, name := s.env, item
	if m, ok := item.(*payload.Map); ok && m.Len() > 0 {
		last := m.Keys()[m.Len()-1]
		env, name = python.Str(last), m.Value(last)
	}
	sls, isText := name.(string)
	if !isText { // Unlike Salt: it fails with a traceback
		s.errorf("Include Declaration in SLS %s holds %s, which is not formed as a string", s.sls, python.Str(name))
		return
	}
	if !s.has(ctx, env) {
		s.errorf("Nonexistent saltenv '%s' found in include of '%s' within SLS '%s:%s'", env, sls, s.env, s.sls)
		return
	}
	sls, ok := s.absolute(sls)
	if !ok {
		s.errorf("Attempted relative include of '%s' within SLS '%s:%s' goes beyond top level package ", sls, s.env,
			s.sls)
		return
	}
	if !s.wanted.Has(env) && len(s.filter(ctx, env, sls)) == 0 {
		s.errorf("Unknown include: Specified SLS %s: %s is not available on the salt master in saltenv(s): %s ", env,
			sls, env)
		return
	}
	targets := s.filter(ctx, s.env, sls)
	if len(targets) == 0 {
		targets = []string{sls}
	}
	for _, target := range targets {
		if !s.rendered[env+":"+target] && s.fault == nil {
			s.takeIn(ctx, target, env)
		}
	}
}

// absolute is the name that a relative one means: each dot in front of it is a level up from the SLS.
func (s *oneSLS) absolute(name string) (string, bool) {
	rest := strings.TrimLeft(name, ".")
	levels := len(name) - len(rest)
	if levels == 0 {
		return name, true
	}
	parts := strings.Split(s.sls, ".")
	if s.init {
		parts = append(parts, "init")
	}
	if levels > len(parts) {
		return name, false
	}
	return strings.Join(append(parts[:len(parts)-levels], rest), "."), true
}

// takeIn renders an SLS that this one includes, and merges it.
func (s *oneSLS) takeIn(ctx context.Context, sls, env string) {
	more, errs := s.render(ctx, sls, env, s.wanted)
	for id, v := range more.All() {
		if body, ok := v.(*payload.Map); ok && !high.Own(id) {
			from, _ := body.Value(high.IncludedKey).([]any)
			body.Set(high.IncludedKey, append(slices.Clone(from), s.sls))
		}
	}
	if more.Len() > 0 {
		s.errs = append(s.errs, merge(s.state, more)...)
	}
	s.errs = append(s.errs, errs...)
}
