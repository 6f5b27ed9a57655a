package outputters

import (
	"encoding/base64"
	"iter"
	"math/big"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// FlowStyle says which collections of a YAML text are written in brackets.
type FlowStyle uint8

// FlowNever is default_flow_style=False, FlowAlways True, FlowLeaves None: collections without others in them.
const (
	FlowNever FlowStyle = iota
	FlowAlways
	FlowLeaves
)

// DumpYAML writes v as Salt's safe_dump does (PyYAML's C emitter with allow_unicode): keys sorted, lines folded
// at 80. Empty collections are always in brackets. indent outside 2 to 9 is 2.
func DumpYAML(v any, flow FlowStyle, indent int) string {
	return DumpYAMLBy(v, YAMLOptions{Flow: flow, Indent: indent})
}

// YAMLOptions are options of PyYAML's dump. The zero value of each is safe_dump's default, but for Flow.
type YAMLOptions struct {
	Flow          FlowStyle
	Indent, Width int
	KeepOrder     bool // of keys
	Ordered       bool // ordered maps keep the order of their keys where the others do not
	ASCII         bool // other letters as escapes
	ExplicitStart bool // "---" first
}

// DumpYAMLBy is DumpYAML with all options.
func DumpYAMLBy(v any, o YAMLOptions) string {
	e := newEmitter(o.Indent)
	e.ascii = o.ASCII
	if o.Width > 2*e.step {
		e.width = o.Width
	}
	n := represent(v, o)
	if o.ExplicitStart {
		e.indicator("---", true, false, false)
	}
	e.document(n)
	return e.out.String()
}

// yamlOut is the outputter (salt/output/yaml_out.py).
func yamlOut(data any, o *Options) (string, error) {
	switch o.Indent.Kind {
	case IndentNull, IndentPretty:
		return "", errShape // Python cannot compare these with a number
	case IndentNumber:
		if o.Indent.N < 0 {
			return DumpYAML(data, FlowAlways, 0), nil
		}
		return DumpYAML(data, FlowNever, o.Indent.N), nil
	}
	return DumpYAML(data, FlowNever, 0), nil
}

// yamlNode is a value as YAML writes it: a scalar, a sequence (items) or a mapping (items in pairs).
type yamlNode struct {
	kind    yamlKind
	text    string // of a scalar
	plainOK bool   // the plain text reads back as the right type
	binary  bool   // !!binary, in literal style
	tag     string // what stands before a collection: !!set; may be empty
	flow    bool
	items   []*yamlNode
}

type yamlKind uint8

const (
	yamlScalar yamlKind = iota
	yamlSequence
	yamlMapping
)

// represent turns a value into a node (yaml/representer.py, SafeRepresenter).
func represent(v any, o YAMLOptions) *yamlNode {
	switch x := v.(type) {
	case nil:
		return &yamlNode{text: "null", plainOK: true}
	case bool:
		return &yamlNode{text: strings.ToLower(python.Repr(x)), plainOK: true}
	case int64, uint64:
		return &yamlNode{text: python.Repr(x), plainOK: true}
	case *big.Int:
		return &yamlNode{text: x.String(), plainOK: true}
	case float64:
		return &yamlNode{text: yamlFloat(x), plainOK: true}
	case string:
		return &yamlNode{text: x, plainOK: !resolves(x)}
	case payload.Bytes:
		return &yamlNode{text: base64Lines([]byte(x)), binary: true}
	case []byte:
		return &yamlNode{text: base64Lines(x), binary: true}
	case payload.Time:
		return &yamlNode{text: yamlTime(x), plainOK: true}
	case []any:
		n := &yamlNode{kind: yamlSequence}
		for _, item := range x {
			n.items = append(n.items, represent(item, o))
		}
		n.setFlow(o.Flow)
		return n
	case payload.Set:
		m := payload.NewMap(len(x))
		for _, item := range x {
			m.Set(item, nil)
		}
		n := represent(m, o)
		n.tag = "!!set"
		return n
	case *payload.Map:
		n := &yamlNode{kind: yamlMapping}
		for key, value := range itemsOf(x, o.KeepOrder || o.Ordered && x.Ordered()) {
			n.items = append(n.items, represent(key, o), represent(value, o))
		}
		n.setFlow(o.Flow)
		return n
	}
	return &yamlNode{text: "NULL", plainOK: true} // what Salt writes for objects it has no form for
}

// itemsOf lists a map in its own order or sorted.
func itemsOf(m *payload.Map, keepOrder bool) iter.Seq2[any, any] {
	if keepOrder {
		return m.All()
	}
	return func(yield func(any, any) bool) {
		list, _ := sorted(m)
		for _, e := range list {
			if !yield(e.key, e.value) {
				return
			}
		}
	}
}

func (n *yamlNode) setFlow(flow FlowStyle) {
	n.flow = flow == FlowAlways
	if flow == FlowLeaves {
		n.flow = true
		for _, item := range n.items {
			if item.kind != yamlScalar || item.binary {
				n.flow = false
			}
		}
	}
}

func yamlFloat(f float64) string {
	switch s := python.Float(f); s {
	case "nan", "inf":
		return "." + s
	case "-inf":
		return "-.inf"
	default:
		if !strings.Contains(s, ".") {
			s = strings.Replace(s, "e", ".0e", 1)
		}
		return s
	}
}

// yamlTime is datetime.isoformat(" ").
func yamlTime(t payload.Time) string {
	if t.Nanosecond()/1000 == 0 {
		return t.Format("2006-01-02 15:04:05")
	}
	return t.Format("2006-01-02 15:04:05.000000")
}

// base64Lines is Python's base64.encodebytes: lines of 76 characters, each with its end.
func base64Lines(b []byte) string {
	const lineLen = 76
	text := base64.StdEncoding.EncodeToString(b)
	var out strings.Builder
	for len(text) > 0 {
		n := min(lineLen, len(text))
		out.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	return out.String()
}
