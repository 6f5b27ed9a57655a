package top

import (
	"context"
	"fmt"
	"slices"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Verify tells what is wrong with a merged top.
func Verify(top Top) (errs []string) {
	for env, v := range top.All() {
		targets, _ := v.(*payload.Map)
		if _, isText := env.(string); !isText {
			errs = append(errs, fmt.Sprintf("Environment %s in top file is not formed as a string", python.Str(env)))
		}
		if env == any("") {
			errs = append(errs, "Empty saltenv statement in top file")
		}
		for target, v := range targets.All() {
			list, ok := v.([]any)
			if !ok {
				errs = append(errs, malformed(env, target, v))
				continue
			}
			errs = append(errs, verifyItems(env, list)...)
		}
	}
	return errs
}

func malformed(env, target, v any) string {
	return fmt.Sprintf("Malformed topfile: state declarations for matcher %s in saltenv %s are not formed as a list "+
		"(got %s)", python.Repr(target), python.Repr(env), python.Type(v))
}

func verifyItems(env any, list []any) (errs []string) {
	for _, item := range list {
		if item == any("") {
			errs = append(errs, fmt.Sprintf("Environment %s contains an empty sls index", python.Str(env)))
		}
		m, _ := item.(*payload.Map)
		for _, v := range m.All() {
			if !python.Truth(v) {
				errs = append(errs, fmt.Sprintf("Improperly formatted top file matcher in saltenv %s: %s file",
					python.StrOrdered(m), python.StrOrdered(v)))
			}
		}
	}
	return errs
}

// Matcher is what tells whose the SLS are.
type Matcher struct {
	// Means tells whether a target means the minion; items are what stands below the target.
	Means func(target any, items []any) (bool, error)
	// More are the SLS that others than the top files give, {environment: [SLS, ...]} (master_tops). nil: none.
	More *payload.Map
	// MoreFirst has them come first (master_tops_first).
	MoreFirst bool
}

// Matches are the SLS that the minion is to have, {environment: [SLS, ...]}.
func (t *Tops) Matches(ctx context.Context, top Top, by Matcher) (*payload.Map, error) {
	m := &matching{Tops: t, by: by, out: payload.NewMap(0)}
	for env, v := range top.All() {
		if t.opt.Saltenv != "" && env != any(t.opt.Saltenv) {
			continue
		}
		targets, _ := v.(*payload.Map)
		for target, data := range targets.All() {
			if err := m.target(ctx, env, target, data); err != nil {
				return nil, err
			}
		}
	}
	for env, v := range by.More.All() {
		more, _ := v.([]any)
		first, second := m.of(env), more
		if by.MoreFirst {
			first, second = second, first
		}
		m.out.Set(env, joinUnique(first, second))
	}
	return m.out, nil
}

func joinUnique(first, second []any) []any {
	out := slices.Clone(first)
	for _, v := range second {
		if !slices.ContainsFunc(first, func(known any) bool { return payload.Equal(known, v) }) {
			out = append(out, v)
		}
	}
	return out
}

type matching struct {
	*Tops
	by  Matcher
	out *payload.Map
}

func (m *matching) of(env any) []any {
	list, _ := m.out.Value(env).([]any)
	return list
}

func (m *matching) add(env any, more ...any) { m.out.Set(env, append(m.of(env), more...)) }

// target adds what a target gets, where it means the minion.
func (m *matching) target(ctx context.Context, env, target, data any) error {
	items, isList := data.([]any)
	switch data.(type) {
	case string:
		items = []any{data}
	default:
		if !isList { // Unlike Salt: it fails with a traceback
			return loader.Raise(RenderError, "%s", malformed(env, target, data))
		}
	}
	hit, err := m.by.Means(target, items)
	if err != nil || !hit {
		return err
	}
	m.add(env)
	for _, item := range items {
		switch item := item.(type) {
		case string:
			m.add(env, item)
		case *payload.Map:
			if err := m.item(ctx, env, item); err != nil {
				return err
			}
		case []any: // means nothing, as in Salt
		default: // Unlike Salt: it fails with a traceback
			return loader.Raise(RenderError, "Malformed topfile: %s among the state declarations for matcher %s in "+
				"saltenv %s is not formed as a string", python.Repr(item), python.Repr(target), python.Repr(env))
		}
	}
	return nil
}

// item is a map below a target: the name of a matcher, an SLS of another environment, or further targets.
func (m *matching) item(ctx context.Context, env any, item *payload.Map) error {
	item = item.Clone()
	if below, ok := item.Value("subfilter").(*payload.Map); ok {
		for target, data := range below.All() {
			if err := m.target(ctx, env, target, data); err != nil {
				return err
			}
		}
	}
	item.Delete("subfilter")
	if item.Len() == 0 {
		return nil
	}
	key := item.Keys()[item.Len()-1]
	name, isText := key.(string)
	if !isText {
		return nil
	}
	ok, err := m.available.Has(ctx, name)
	if ok {
		m.add(key, item.Value(key))
	}
	return err
}
