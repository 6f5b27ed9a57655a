package loop

import (
	"regexp"
	"strings"

	"brine/modules/execution/slsutil"
	"brine/modules/renderers"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

var identity = regexp.MustCompile(`\bis\s+(not\s+)?(True|False|None)\b`)

// holds tells whether an expression is true. Unlike Salt, where it is any line of Python, it is an expression as
// templates have them: the same comparisons, texts, numbers, lists, maps, items and methods.
func holds(c *states.Call, expression string, names *payload.Map) (bool, error) {
	expression = identity.ReplaceAllStringFunc(expression, strings.ToLower)
	out, err := slsutil.Templates(c.Call).Render(c.Ctx, renderers.Input{
		Data: "{% if (" + expression + ") %}yes{% endif %}", Saltenv: c.Saltenv, Context: names})
	return strings.TrimSpace(out) == "yes", err
}

// operators are the functions of Python's module operator that compare, as expressions.
var operators = map[string]string{
	"eq": "res == expected", "ne": "res != expected", "lt": "res < expected", "le": "res <= expected",
	"gt": "res > expected", "ge": "res >= expected", "contains": "expected in res",
	"is_": "res is sameas expected", "is_not": "res is not sameas expected",
}

// comparison is what a comparing function does: an execution function of two arguments, or an operator; nil where there
// is no such thing.
func comparison(c *states.Call, name string, expected any) func(v any) (bool, error) {
	if strings.Contains(name, ".") && c.Has(name) {
		return func(v any) (bool, error) {
			v, err := c.Salt(name, nil, v, expected)
			return python.Truth(v), err
		}
	}
	expression, ok := operators[strings.Trim(name, "_")]
	if !ok {
		if expression, ok = operators[name]; !ok {
			return nil
		}
	}
	return func(v any) (bool, error) { return holds(c, expression, payload.M("res", v, "expected", expected)) }
}
