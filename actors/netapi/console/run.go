package console

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"brine/modules/text/args"
	"brine/wire/control"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/shlex"
)

type (
	// Run is what is to be run.
	Run struct {
		Tgt     string `json:"tgt"`
		TgtType string `json:"tgt_type" doc:"glob without"`
		Fun     string `json:"fun"`
		Arg     string `json:"arg" doc:"as on a command line: words, name=value"`
	}
	// Started is a job that was published.
	Started struct {
		JID     string `json:"jid" doc:"empty when no minion matches the target"`
		Minions int    `json:"minions"`
	}
	// Functions are what can be called on a minion.
	Functions struct {
		Minion    string     `json:"minion" doc:"who was asked"`
		Functions []Function `json:"functions"`
	}
	// Function is one of them.
	Function struct {
		Name string `json:"name"`
		Args string `json:"args" doc:"in a line, with defaults"`
	}
)

// start publishes a job with the token of who asks, and does not wait for returns.
func (c *console) start(ctx context.Context, q request) (any, error) {
	in, _ := q.body.(Run)
	if strings.TrimSpace(in.Tgt) == "" || strings.TrimSpace(in.Fun) == "" {
		return nil, &problem{http.StatusBadRequest, "a target and a function are needed"}
	}
	words, err := shlex.Split(in.Arg)
	if err != nil {
		return nil, &problem{http.StatusBadRequest, "The arguments cannot be read: " + err.Error() + "."}
	}
	var tgt any = in.Tgt
	if in.TgtType == "list" {
		tgt = payload.AnyList(strings.FieldsFunc(in.Tgt, func(r rune) bool { return r == ',' || r == ' ' }))
	}
	kind := in.TgtType
	if kind == "" {
		kind = "glob"
	}
	got, err := c.call(ctx, q.who, payload.M("client", "local_async", "tgt", tgt, "tgt_type", kind, "fun",
		strings.TrimSpace(in.Fun), "arg", args.Parse(words, nil)))
	if err != nil {
		return nil, err
	}
	m, _ := got.(*payload.Map)
	if m == nil || m.Str("jid") == "" {
		return Started{}, nil
	}
	return Started{JID: m.Str("jid"), Minions: len(m.List("minions"))}, nil
}

// anyOf is a minion of a target, one that is connected where that is known.
func (c *console) anyOf(ctx context.Context, tgt, kind string) (string, error) {
	found, err := c.expand(ctx, tgt, kind)
	if err != nil {
		return "", err
	}
	if present, err := ask(ctx, c, control.GetPresent{}); err == nil {
		for _, id := range found.Minions {
			if present.Has(id) {
				return id, nil
			}
		}
	}
	if len(found.Minions) == 0 {
		return "", &problem{http.StatusNotFound, "no minion matches the target."}
	}
	return found.Minions[0], nil
}

// maxFunctions bounds what a minion may say.
const maxFunctions = 10000

// errNoFunctions is all that somebody learns who may not see the fleet: whom a target means is not for him to find out.
var errNoFunctions = &problem{http.StatusForbidden, "no functions of this target can be shown"}

// functions asks a minion which functions it has, with the token of who asks.
func (c *console) functions(ctx context.Context, q request) (any, error) {
	if may(q.who.Rules, rightFleet) {
		return c.functionsOf(ctx, q)
	}
	if kind := q.query("tgt_type"); kind != "glob" && kind != "list" { // others would tell him of grains and pillars
		return nil, errNoFunctions
	}
	answer, err := c.functionsOf(ctx, q)
	if err != nil {
		return nil, errNoFunctions
	}
	return answer, nil
}

func (c *console) functionsOf(ctx context.Context, q request) (any, error) {
	of, err := c.anyOf(ctx, q.query("tgt"), q.query("tgt_type"))
	if err != nil {
		return nil, err
	}
	got, err := c.call(ctx, q.who, payload.M("client", "local", "tgt", []any{of}, "tgt_type", "list", "fun",
		"sys.argspec", "arg", []any{"*"}))
	if err != nil {
		return nil, err
	}
	answer := Functions{Minion: of, Functions: []Function{}}
	m, _ := got.(*payload.Map)
	if m == nil || m.Map(of) == nil {
		return nil, &problem{http.StatusBadGateway, of + " did not say which functions it has."}
	}
	for k, v := range m.Map(of).All() {
		name, ok := k.(string)
		spec, isMap := v.(*payload.Map)
		if ok && isMap && len(answer.Functions) < maxFunctions {
			answer.Functions = append(answer.Functions, Function{name, signature(spec)})
		}
	}
	slices.SortFunc(answer.Functions, func(a, b Function) int { return strings.Compare(a.Name, b.Name) })
	return answer, nil
}

// signature is what sys.argspec tells of a function in a line: {args, defaults, varargs, kwargs}.
func signature(spec *payload.Map) string {
	names, defaults := spec.List("args"), spec.List("defaults")
	var parts []string
	for i, n := range names {
		part := text(n)
		if d := i - (len(names) - len(defaults)); d >= 0 {
			part += "=" + literal(defaults[d])
		}
		parts = append(parts, part)
	}
	if v := spec.Value("varargs"); v != nil && v != false {
		parts = append(parts, "*args")
	}
	if v := spec.Value("kwargs"); v != nil && v != false {
		parts = append(parts, "**kwargs")
	}
	return strings.Join(parts, " ")
}

// literal is a default as it would be typed.
func literal(v any) string {
	switch x := v.(type) {
	case nil, bool:
		return python.Str(x)
	case string:
		if x == "" {
			return `''`
		}
		return x
	}
	return text(v)
}
