package state

import (
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/states/run"
	"brine/modules/states/run/high"
	"brine/wire/payload"
	"brine/wire/python"
)

// Exit codes of functions that compile states (salt/defaults/exitcodes.py).
const (
	exitCompiler = 1
	exitFailure  = 2
	exitPillar   = 5
)

// answer sets the exit code that a value has, and gives it.
func answer(c *loader.Call, v any) any {
	switch _, isList := v.([]any); {
	case isList:
		c.SetRetcode(exitCompiler)
	case run.Succeeded(v):
		c.SetRetcode(0)
	default:
		c.SetRetcode(exitFailure)
	}
	return v
}

// refuse is a list of errors, with its exit code.
func refuse(c *loader.Call, errs []string) any {
	c.SetRetcode(exitCompiler)
	return payload.AnyList(errs)
}

// highOf compiles the SLS that are named as far as high data, and verifies it.
func highOf(c *loader.Call, a named) (s *session, data *payload.Map, errs []string, err error) {
	if conflict := conflicts(c, a.shown); conflict != nil {
		return nil, nil, conflict, nil
	}
	s, err = begin(c, a.KW, settings{test: testValue(c, a.Test, a.KW), setTest: true, base: true, override: true})
	if err != nil {
		return nil, nil, nil, err
	}
	env := python.Str(s.opts.Value("saltenv"))
	data, errs, err = s.High(c.Ctx, payload.M(env, splitInput(a.Mods)))
	if err == nil {
		errs = append(errs, high.Verify(data)...)
	}
	return s, data, errs, err
}

func showSLS(c *loader.Call, a named) (any, error) {
	_, data, errs, err := highOf(c, a)
	switch {
	case err != nil:
		return nil, err
	case len(errs) > 0:
		return refuse(c, errs), nil
	}
	return data, nil
}

func showLowSLS(c *loader.Call, a named) (any, error) {
	s, data, errs, err := highOf(c, a)
	if err != nil {
		return nil, err
	}
	if len(errs) > 0 {
		return refuse(c, errs), nil
	}
	chunks, errs := s.Chunks(data)
	if len(errs) > 0 {
		return refuse(c, errs), nil
	}
	return payload.AnyList(chunks), nil
}

// graph describes the calls of SLS files, as they are written, in the language of Graphviz.
func graph(c *loader.Call, a named) (any, error) {
	s, data, errs, err := highOf(c, a)
	switch {
	case err != nil:
		return nil, err
	case len(errs) > 0:
		return refuse(c, errs), nil
	}
	return s.Dot(data), nil
}

func slsExists(c *loader.Call, a named) (bool, error) {
	v, err := showSLS(c, a)
	_, isMap := v.(*payload.Map)
	return isMap, err
}

// ofIDs is what id_exists takes.
type ofIDs struct {
	IDs any `arg:"ids"`
	named
}

// idExists is false for SLS that do not compile. Unlike Salt: it fails with a traceback.
func idExists(c *loader.Call, a ofIDs) (bool, error) {
	v, err := showLowSLS(c, a.named)
	if err != nil {
		return false, err
	}
	var ids []any
	list, _ := v.([]any)
	for _, chunk := range list {
		if m, ok := chunk.(*payload.Map); ok {
			ids = append(ids, m.Value("__id__"))
		}
	}
	for _, id := range splitInput(a.IDs) {
		if !slices.Contains(ids, id) {
			return false, nil
		}
	}
	return true, nil
}

// listDisabled is what state.disable has kept in the grains.
func listDisabled(c *loader.Call, _ struct{}) (any, error) {
	if v, ok := c.Grain(disabledGrain); ok {
		return v, nil
	}
	return "", nil
}

func showTop(c *loader.Call, a shown) (any, error) {
	if conflict := conflicts(c, a); conflict != nil {
		return refuse(c, conflict), nil
	}
	s, err := begin(c, a.KW, settings{})
	if err != nil {
		return nil, err
	}
	matches, errs, err := s.Matches(c.Ctx)
	switch {
	case err != nil:
		return nil, err
	case len(errs) > 0:
		return refuse(c, errs), nil
	}
	return matches, nil
}

// compiledHigh compiles the highstate as far as high data.
func compiledHigh(c *loader.Call, a shown) (s *session, data *payload.Map, errs []string, err error) {
	s, err = begin(c, a.KW, settings{override: true})
	if err != nil {
		return nil, nil, nil, err
	}
	matches, errs, err := s.Matches(c.Ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	data, more, err := s.High(c.Ctx, matches)
	return s, data, append(errs, more...), err
}

func showHighstate(c *loader.Call, a shown) (any, error) {
	if conflict := conflicts(c, a); conflict != nil {
		return refuse(c, conflict), nil
	}
	_, data, errs, err := compiledHigh(c, a)
	switch {
	case err != nil:
		return nil, err
	case len(errs) > 0:
		return refuse(c, errs), nil
	}
	return answer(c, data), nil
}

// graphHighstate leaves the exit code at 0 with errors, as Salt does.
func graphHighstate(c *loader.Call, a shown) (any, error) {
	if conflict := conflicts(c, a); conflict != nil {
		return refuse(c, conflict), nil
	}
	s, data, errs, err := compiledHigh(c, a)
	switch {
	case err != nil:
		return nil, err
	case len(errs) > 0:
		return payload.AnyList(errs), nil
	}
	return s.Dot(data), nil
}

// lowstate compiles the highstate to chunks.
func lowstate(c *loader.Call, a shown) (chunks []*payload.Map, errs []string, err error) {
	s, err := begin(c, a.KW, settings{})
	if err != nil {
		return nil, nil, err
	}
	matches, errs, err := s.Matches(c.Ctx)
	if err != nil || matches == nil {
		return nil, errs, err
	}
	data, errs, err := s.High(c.Ctx, matches) // as Salt, what is wrong with the top files besides is not told
	if err != nil {
		return nil, nil, err
	}
	chunks, errs = s.Low(data, errs)
	return chunks, errs, nil
}

// showLowstate leaves the exit code at 0 with errors, as Salt does.
func showLowstate(c *loader.Call, a shown) (any, error) {
	if conflict := conflicts(c, a); conflict != nil {
		return refuse(c, conflict), nil
	}
	chunks, errs, err := lowstate(c, a)
	switch {
	case err != nil:
		return nil, err
	case len(errs) > 0:
		return payload.AnyList(errs), nil
	}
	return payload.AnyList(chunks), nil
}

func showStates(c *loader.Call, a shown) (any, error) {
	if conflict := conflicts(c, a); conflict != nil {
		return refuse(c, conflict), nil
	}
	chunks, errs, err := lowstate(c, a)
	switch {
	case err != nil:
		return nil, err
	case len(errs) > 0:
		return refuse(c, errs), nil
	}
	names := []any{}
	for _, chunk := range chunks {
		if sls := chunk.Value("__sls__"); !slices.Contains(names, sls) {
			names = append(names, sls)
		}
	}
	return names, nil
}

func showUsage(c *loader.Call, a shown) (any, error) {
	if conflict := conflicts(c, a); conflict != nil {
		return refuse(c, conflict), nil
	}
	s, err := begin(c, a.KW, settings{override: true, anyPillar: true})
	if err != nil {
		return nil, err
	}
	usage, errs, err := s.Usage(c.Ctx)
	switch {
	case err != nil:
		return nil, err
	case len(errs) > 0:
		return refuse(c, errs), nil
	}
	return answer(c, usage), nil
}

// splitInput is a list, or a text with commas as one.
func splitInput(v any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	out := []any{}
	for _, word := range strings.Split(python.Str(v), ",") {
		out = append(out, strings.TrimSpace(word))
	}
	return out
}
