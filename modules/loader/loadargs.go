package loader

import (
	"slices"
	"strings"

	"brine/modules/text/args"
	"brine/wire/payload"
	"brine/wire/python"
)

// LoadArgs splits the arg list of a publication into positional arguments and keywords for f, as a minion does:
// maps marked __kwarg__ and strings of the form name=value are keywords, and a function with **kwargs also gets
// every field of data as __pub_<field>. A keyword f cannot take is an InvocationError that names them all.
// The list itself is not changed. Source: salt/minion.py, load_args_and_kwargs.
//
// A job of a schedule has its arguments from there: its texts are texts, whatever their form, and it has fewer fields.
// A function that a reaction calls sees none: it was not asked for from afar, and cmd.run, for one, takes no shell
// then.
func LoadArgs(f *Func, list []any, data *payload.Map) ([]any, *payload.Map, error) {
	var (
		positional []any
		invalid    []string
		kw         = payload.NewMap(0)
	)
	for _, arg := range list {
		words, ok := keywordsOf(arg)
		if _, isText := arg.(string); !ok || isText && data.Has(scheduled) {
			positional = append(positional, arg)
			continue
		}
		for k, v := range words.All() {
			name, _ := k.(string)
			switch {
			case name == args.KwargMark, f.KWArgs && strings.HasPrefix(name, pubPrefix):
				// Unlike Salt: only the load says what is in it
			case f.KWArgs || f.param(name) >= 0:
				kw.Set(k, v)
			default:
				invalid = append(invalid, python.Str(k)+"="+python.Str(v))
			}
		}
	}
	if len(invalid) > 0 {
		return nil, nil, InvalidKeywords(invalid)
	}
	if f.KWArgs && !data.Has(FieldReaction) {
		for k, v := range data.All() {
			if name := python.Str(k); !data.Has(scheduled) || slices.Contains(scheduledFields, name) {
				kw.Set(pubPrefix+name, v)
			}
		}
	}
	return positional, kw, nil
}

// pubPrefix begins the keywords by which a function sees the fields of its load.
const pubPrefix = "__pub_"

// FieldReaction is a field that, beside scheduled, the job of a reaction has.
const FieldReaction = "reaction"

// scheduled is the field that jobs of a schedule have.
const scheduled = "schedule"

// scheduledFields are those that such a job shows to its function (salt/utils/schedule.py, handle_func).
var scheduledFields = []string{"id", "fun", "fun_args", scheduled, "jid", "metadata", "pid"}

// InvalidKeywords names keywords a function does not know, each as "name=value".
func InvalidKeywords(words []string) error {
	return InvocErr("The following keyword arguments are not valid: %s", strings.Join(words, ", "))
}

func keywordsOf(arg any) (*payload.Map, bool) {
	switch x := arg.(type) {
	case *payload.Map:
		return x, isKwargMap(x)
	case string:
		if name, value, ok := args.Keyword(x); ok {
			return payload.M(name, args.Yamlify(value)), true
		}
	}
	return nil, false
}

func isKwargMap(m *payload.Map) bool {
	mark, _ := m.Value(args.KwargMark).(bool)
	return mark
}
