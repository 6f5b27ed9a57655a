package webquery

import (
	"encoding/xml"
	"io"
	"mime"
	"strings"

	"brine/modules/host/web"
	"brine/modules/loader"
	"brine/modules/renderers/saltyaml"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"
)

// text is the body as a text: by the charset of a text, else in UTF-8. With decode_body=False it stays bytes.
func (q *query) text(a web.Answer) (any, error) {
	kind, params, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	if charset := strings.ToLower(params["charset"]); strings.HasPrefix(kind, "text/") && charset != "" {
		switch charset {
		case "iso-8859-1", "latin-1", "latin1":
			var b strings.Builder
			for _, c := range a.Body {
				b.WriteRune(rune(c))
			}
			return b.String(), nil
		case "utf-8", "utf8", "us-ascii", "ascii":
		default:
			return nil, loader.Raise("LookupError", "unknown encoding: %s", charset)
		}
	}
	if q.given.Has("decode_body") && !q.given.Bool("decode_body") {
		return a.Body, nil
	}
	if bad := python.UTF8Error(a.Body); bad != "" {
		return nil, loader.Raise("UnicodeDecodeError", "%s", bad)
	}
	return string(a.Body), nil
}

// decode adds the body as data. plain tells whether it is told as text.
func (q *query) decode(a web.Answer, body any, out *payload.Map, plain bool) (bool, error) {
	kind, _ := q.given.Value("decode_type").(string)
	if kind == "" || kind == "auto" {
		said := a.Header.Get("Content-Type")
		if said == "" {
			said = "application/json"
		}
		kind = "plain"
		for _, k := range []string{"yaml", "json", "xml"} {
			if strings.Contains(said, k) {
				kind = k
			}
		}
	}
	text := python.Str(body)
	if raw, ok := body.([]byte); ok {
		text = string(raw)
	}
	var data any
	var err error
	switch kind {
	case "json":
		if data, err = pyjson.Load(text); err != nil {
			err = loader.Raise("JSONDecodeError", "%s", err.Error())
		}
	case "yaml":
		data, err = saltyaml.Load(text)
	case "xml":
		data, err = xmlItems(text)
	case "plain":
		return true, nil
	default:
		out.Set("error", "Invalid decode_type specified. Valid decode types are: ('json', 'xml', 'yaml', 'plain')")
		return plain, nil
	}
	if err != nil {
		return plain, err
	}
	out.Set("dict", data)
	return plain, nil
}

// node is an element of XML.
type node struct {
	name string
	text any // before the first child; nil where there is none
	kids []*node
}

// xmlItems are the children of the root as dictionaries (salt/utils/xmlutil.py, to_dict).
func xmlItems(text string) (any, error) {
	root, err := parseXML(text)
	if err != nil {
		return nil, loader.Raise("ParseError", "%s", err.Error())
	}
	out := make([]any, len(root.kids))
	for i, kid := range root.kids {
		out[i] = kid.dict()
	}
	return out, nil
}

// maxXML is how deeply elements may lie in each other.
const maxXML = 500

func parseXML(text string) (*node, error) {
	d := xml.NewDecoder(strings.NewReader(text))
	open := []*node{{}}
	for {
		token, err := d.Token()
		if err == io.EOF && len(open) == 1 && len(open[0].kids) == 1 {
			return open[0].kids[0], nil
		}
		if err != nil {
			return nil, err
		}
		at := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			if len(open) > maxXML {
				return nil, io.ErrShortBuffer
			}
			n := &node{name: t.Name.Local}
			at.kids = append(at.kids, n)
			open = append(open, n)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(at.kids) == 0 && len(t) > 0 {
				before, _ := at.text.(string)
				at.text = before + string(t)
			}
		}
	}
}

// dict is Salt's _to_dict, with what it makes of names that come twice.
func (n *node) dict() *payload.Map {
	if len(n.kids) == 0 {
		return payload.M(n.name, n.text)
	}
	out := payload.NewMap(len(n.kids))
	for _, kid := range n.kids {
		old, twice := out.Get(kid.name)
		switch {
		case !twice && len(kid.kids) > 0:
			out.Set(kid.name, kid.dict())
		case !twice:
			out.Set(kid.name, kid.text)
		default:
			list, ok := old.([]any)
			if !ok {
				list = []any{old}
			}
			out.Set(kid.name, append(list, kid.dict()))
		}
	}
	return out
}
