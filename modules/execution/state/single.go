package state

import (
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/states/run/high"
	"brine/modules/states/run/low"
	"brine/wire/payload"
	"brine/wire/python"
)

// alone are the functions that apply what is not in an SLS.
func alone() []loader.Func {
	return []loader.Func{
		loader.Fn("single", single, "Apply one state: a function, a name and its arguments.",
			"state.single pkg.installed name=vim").Shows("highstate"),
		loader.Fn("low", applyLow, "Apply one chunk of low data.",
			`state.low '{"state": "pkg", "fun": "installed", "name": "vi"}'`),
		loader.Fn("high", applyHigh, "Apply high data.", `state.high '{"vim": {"pkg": ["installed"]}}'`),
		loader.Fn("template", template, "Apply a template file of the minion, which may not include others.",
			"state.template '<Path to template on the minion>'").Shows("highstate"),
		loader.Fn("template_str", templateStr, "Apply a text as a template, which may not include others.",
			"state.template_str '<Template String>'").Shows("highstate"),
	}
}

type (
	singleArgs struct {
		Fun   string       `arg:"fun"`
		Name  any          `arg:"name"`
		Test  any          `arg:"test=None"`
		Queue any          `arg:"queue=None"`
		KW    *payload.Map `arg:"**kwargs"`
	}
	lowArgs struct {
		Data  *payload.Map `arg:"data"`
		Queue any          `arg:"queue=None"`
		KW    *payload.Map `arg:"**kwargs"`
	}
	highArgs struct {
		Data  *payload.Map `arg:"data"`
		Test  any          `arg:"test=None"`
		Queue any          `arg:"queue=None"`
		KW    *payload.Map `arg:"**kwargs"`
	}
	templateArgs struct {
		Tem   string       `arg:"tem"`
		Queue any          `arg:"queue=None"`
		KW    *payload.Map `arg:"**kwargs"`
	}
)

// own are keywords of the functions of this module that no state gets.
var own = []string{"saltenv", "pillarenv", "pillar", "pillar_enc", "concurrent", "localconfig", "terse"}

func single(c *loader.Call, a singleArgs) (any, error) {
	if conflict, err := turn(c, a.Queue, a.KW); conflict != nil || err != nil {
		return conflict, err
	}
	module, fun, ok := strings.Cut(a.Fun, ".")
	if !ok {
		c.SetRetcode(exitCompiler)
		return "Invalid function passed", nil
	}
	fun, _, _ = strings.Cut(fun, ".")
	s, refused, err := anyPillar(c, a.Test, a.KW)
	if s == nil || err != nil {
		return refused, err
	}
	chunk := payload.NewMap(a.KW.Len())
	for key, v := range a.KW.All() {
		if name := python.Str(key); !strings.HasPrefix(name, "__pub_") && !slices.Contains(own, name) || name == "saltenv" {
			chunk.Set(key, v)
		}
	}
	chunk.Set("state", module).Set("fun", fun).Set("__id__", a.Name).Set("name", a.Name)
	if errs := s.verified(c, chunk); errs != nil {
		return refuse(c, errs), nil
	}
	ret, err := s.carry(c, []*low.Step{{Chunk: chunk}}, nil, how{})
	if err == nil {
		answer(c, ret)
	}
	return ret, err
}

// applyLow sets the exit code by the result. Unlike Salt, where it is always 1, as the values of a single return are no
// maps.
func applyLow(c *loader.Call, a lowArgs) (any, error) {
	if conflict, err := turn(c, a.Queue, a.KW); conflict != nil || err != nil {
		return conflict, err
	}
	s, refused, err := anyPillar(c, nil, a.KW)
	if s == nil || err != nil {
		return refused, err
	}
	chunk := a.Data.Clone()
	if errs := s.verified(c, chunk); errs != nil {
		return refuse(c, errs), nil
	}
	if !chunk.Has("__id__") {
		chunk.Set("__id__", chunk.Value("name"))
	}
	v, err := s.carry(c, []*low.Step{{Chunk: chunk}}, nil, how{})
	results, isMap := v.(*payload.Map)
	if err != nil || !isMap {
		return v, err
	}
	answer(c, results)
	return results.Value(low.Tag(chunk)), nil
}

func applyHigh(c *loader.Call, a highArgs) (any, error) {
	if conflict, err := turn(c, a.Queue, a.KW); conflict != nil || err != nil {
		return conflict, err
	}
	s, refused, err := anyPillar(c, a.Test, a.KW)
	if s == nil || err != nil {
		return refused, err
	}
	if a.Data == nil {
		return nil, &loader.ArgumentError{Message: "data must be a dictionary"}
	}
	ret, err := s.carryOut(c, deepCopy(a.Data), how{})
	if err == nil {
		answer(c, ret)
	}
	return ret, err
}

func template(c *loader.Call, a templateArgs) (any, error) {
	if !strings.HasSuffix(a.Tem, ".sls") {
		a.Tem += ".sls"
	}
	return a.applied(c, a.Tem, func(s *session) (any, error) { return render(s.call, a.Tem, "", "base") })
}

func templateStr(c *loader.Call, a templateArgs) (any, error) {
	return a.applied(c, "<template-str>", func(s *session) (any, error) { return renderText(s.call, a.Tem) })
}

// applied renders a single template and applies it.
func (a templateArgs) applied(c *loader.Call, what string, render func(*session) (any, error)) (any, error) {
	if conflict, err := turn(c, a.Queue, a.KW); conflict != nil || err != nil {
		return conflict, err
	}
	s, refused, err := anyPillar(c, nil, a.KW)
	if s == nil || err != nil {
		return refused, err
	}
	v, err := render(s)
	if err != nil {
		return nil, err
	}
	data, isMap := v.(*payload.Map)
	switch {
	case !isMap && python.Truth(v):
		return refuse(c, []string{"Template " + what + " does not render to a dictionary"}), nil
	case data.Len() == 0:
		c.SetRetcode(exitFailure)
		return payload.NewMap(0), nil
	}
	for _, key := range []string{"include", "exclude", "extends"} {
		if data.Has(key) {
			return refuse(c, []string{"The '" + key + "' declaration found on '" + what +
				"' is invalid when rendering single templates"}), nil
		}
	}
	high.Pad(data)
	for _, body := range data.All() {
		if m, ok := body.(*payload.Map); ok && what == a.Tem {
			m.Set(high.SLSKey, what).Set(high.EnvKey, loader.Text(a.KW.Value("saltenv")))
		}
	}
	ret, err := s.carryOut(c, data, how{})
	if err == nil {
		answer(c, ret)
	}
	return ret, err
}

// verified tells what is wrong with a chunk before it is run.
func (s *session) verified(c *loader.Call, chunk *payload.Map) []string {
	_, errs := s.performer(c).Verify(chunk)
	return errs
}
