package jinja

import (
	"crypto/hmac"
	"crypto/md5" //nolint:gosec // the filter of that name
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the filter of that name
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"brine/modules/matchers"
	"brine/modules/renderers/jinja/py"
	"brine/modules/text/codecs"
	"brine/wire/python"
	"brine/wire/python/shlex"
)

// toBytes are the bytes of text, as Salt's to_bytes.
func toBytes(v any) (string, error) {
	if err := undefinedIn(v); err != nil {
		return "", err
	}
	if b, ok := v.(py.Bytes); ok {
		return string(b), nil
	}
	s, ok := py.Text(v)
	if !ok {
		return "", py.Errorf("TypeError", "expected str, bytes, or bytearray not <class '%s'>", py.TypeName(v))
	}
	return s, nil
}

// toBytesBy is the filter to_bytes: of several encodings the first that has all characters of the text is taken.
func toBytesBy(r *run, a []any) (any, error) {
	s, err := toBytes(a[0])
	if err != nil || a[1] == nil && a[2] == "strict" {
		return py.Bytes(s), err
	}
	if _, ok := a[0].(py.Bytes); ok {
		return a[0], nil
	}
	names, err := encodings(r, a[1])
	if err != nil {
		return nil, err
	}
	return encodeBy(s, names, a[2])
}

// encodings lists what the argument encoding of Salt's functions names; nil stands for UTF-8.
func encodings(r *run, v any) ([]any, error) {
	var names []any
	switch v := v.(type) {
	case nil:
		return []any{"utf-8"}, nil
	case *py.List, *py.Tuple:
		var err error
		if names, err = py.Collect(r.work, v); err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, py.Errorf("ValueError", "encoding cannot be empty")
		}
	default:
		names = []any{v}
	}
	return names, nil
}

func encodeBy(s string, names []any, handler any) (any, error) {
	h, ok := py.Text(handler)
	if !ok {
		return nil, py.Errorf("TypeError", "encode() argument 'errors' must be str, not %s", py.TypeName(handler))
	}
	var last error
	for _, v := range names {
		name, ok := py.Text(v)
		if !ok {
			return nil, py.Errorf("TypeError", "encode() argument 'encoding' must be str, not %s", py.TypeName(v))
		}
		b, err := codecs.Encode(s, name, h)
		if err == nil {
			return py.Bytes(b), nil
		}
		if last = py.Coded(err); !codecs.IsEncodeError(err) {
			break
		}
	}
	return nil, last
}

func digest(name string, mk func() hash.Hash) *builtin {
	return filter(name, "instr", func(_ *run, a []any) (any, error) {
		s, err := toBytes(a[0])
		h := mk()
		h.Write([]byte(s))
		return hex.EncodeToString(h.Sum(nil)), err
	})
}

// ofText makes a filter of a function on text.
func ofText(name, params string, f func(s string, a []any) (any, error), defaults ...any) *builtin {
	return filter(name, params, func(r *run, a []any) (any, error) {
		if err := undefinedIn(a[0]); err != nil {
			return nil, err
		}
		s, ok := py.Text(a[0])
		if !ok {
			return nil, py.Errorf("TypeError", "expected string or bytes-like object, got '%s'", py.TypeName(a[0]))
		}
		return f(s, a[1:])
	}, defaults...)
}

func saltTextFilters() map[string]*builtin {
	num := filter("to_num", "text", toNum)
	random := filter("random_hash", "size= hash_type=", randomHash, int64(9999999999), nil)
	return map[string]*builtin{
		"md5": digest("md5_digest", md5.New), "sha1": digest("sha1_digest", sha1.New),
		"sha256": digest("sha256_digest", sha256.New), "sha512": digest("sha512_digest", sha512.New),
		"hmac":          filter("hmac_signature", "string shared_secret challenge_hmac", hmacCheck),
		"hmac_compute":  filter("hmac_compute", "string shared_secret", hmacCompute),
		"base64_encode": filter("base64_b64encode", "instr", encode64),
		"base64_decode": filter("base64_b64decode", "instr", decode64),
		"uuid":          filter("uuid_", "val", uuid5),
		"to_bytes":      filter("to_bytes", "s encoding= errors=", toBytesBy, nil, "strict"),
		"to_num":        num, "str_to_num": num, "random_hash": random, "rand_str": random,
		"random_str": filter("random", "size=", randomStr, int64(32)),
		"is_hex": filter("is_hex", "value", func(_ *run, a []any) (any, error) {
			s, ok := py.Text(a[0])
			_, err := python.ParseInt(s, 16)
			return ok && err == nil, nil
		}),
		"contains_whitespace": ofText("contains_whitespace", "text", func(s string, _ []any) (any, error) {
			return strings.IndexFunc(s, unicode.IsSpace) >= 0, nil
		}),
		"human_to_bytes": filter("human_to_bytes", "size default_unit= handle_metric=", humanToBytes, "B",
			false),
		"to_snake_case": ofText("camel_to_snake_case", "camel_input", func(s string, _ []any) (any, error) {
			return snakeCase(s)
		}),
		"to_camelcase": filter("snake_to_camel_case", "snake_input uppercamel=", camelCase, false),
		"check_whitelist_blacklist": filter("check_whitelist_blacklist", "value whitelist= blacklist=", whiteBlack, nil,
			nil),
		"quote": filter("quote", "txt", quoted),
		"skip":  filter("skip_filter", "data", func(*run, []any) (any, error) { return "", nil }),
		"yaml_squote": filter("yaml_squote", "text", func(r *run, a []any) (any, error) {
			s, err := py.Str(r.work, a[0])
			return yamlSingle(s), err
		}),
		"yaml_dquote": filter("yaml_dquote", "text", func(r *run, a []any) (any, error) {
			s, err := py.Str(r.work, a[0])
			return py.YAMLQuote(s, true), err
		}),
		"yaml_encode": filter("yaml_encode", "data", yamlEncode),
		"path_join":   filter("join", "*parts **kwargs", pathJoin),
	}
}

func hmacOf(a []any) ([]byte, error) {
	msg, err := toBytes(a[0])
	if err != nil {
		return nil, err
	}
	key, err := toBytes(a[1])
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(msg))
	return h.Sum(nil), err
}

func hmacCheck(_ *run, a []any) (any, error) {
	sum, err := hmacOf(a)
	if err != nil {
		return nil, err
	}
	want, err := toBytes(a[2])
	return base64.StdEncoding.EncodeToString(sum) == want, err
}

func hmacCompute(_ *run, a []any) (any, error) {
	sum, err := hmacOf(a)
	return hex.EncodeToString(sum), err
}

func encode64(_ *run, a []any) (any, error) {
	s, err := toBytes(a[0])
	return base64.StdEncoding.EncodeToString([]byte(s)), err
}

func decode64(_ *run, a []any) (any, error) {
	s, err := toBytes(a[0])
	if err != nil {
		return nil, err
	}
	raw, err := python.DecodeBase64([]byte(s))
	if err != nil {
		return nil, py.Errorf("Error", "%s", err)
	}
	if !utf8.Valid(raw) {
		return py.Bytes(raw), nil
	}
	return string(raw), nil
}

// saltNamespace is the UUID below which Salt makes others.
const saltNamespace = "91633ebf1c865e33935a28061f4b480e"

func uuid5(_ *run, a []any) (any, error) {
	s, err := toBytes(a[0])
	if err != nil {
		return nil, err
	}
	ns, _ := hex.DecodeString(saltNamespace)
	h := sha1.New() //nolint:gosec // a UUID of version 5
	h.Write(ns)
	h.Write([]byte(s))
	u := h.Sum(nil)[:16]
	u[6] = u[6]&0x0f | 0x50
	u[8] = u[8]&0x3f | 0x80
	x := hex.EncodeToString(u)
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:], nil
}

func toNum(_ *run, a []any) (any, error) {
	n, err := py.ToInt(a[0])
	if err == nil || !forgiven(err, "ValueError") {
		return n, err
	}
	f, err := py.ToFloat(a[0])
	if forgiven(err, "ValueError") {
		return a[0], nil
	}
	return f, err
}

func randomBytes(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.Read(out) // never fails
	return out
}

func randomStr(r *run, a []any) (any, error) {
	n, err := intOf(a[0])
	if err != nil {
		return nil, err
	}
	if err := r.work.Grow(max(0, n)); err != nil {
		return nil, err
	}
	return base64.StdEncoding.EncodeToString(randomBytes(max(0, n)))[:max(0, n)], nil
}

func randomHash(r *run, a []any) (any, error) {
	kind := "md5"
	if s, ok := py.Text(a[1]); ok && s != "" {
		kind = s
	}
	b := r.engine.filters[kind]
	if b == nil || !strings.HasPrefix(kind, "sha") && kind != "md5" {
		return nil, py.Errorf("AttributeError", "module 'hashlib' has no attribute %s", quote(kind))
	}
	return b.do(r, []any{py.Bytes(randomBytes(16))})
}

func humanToBytes(r *run, a []any) (any, error) {
	s, err := py.Str(r.work, a[0])
	if err != nil {
		return nil, err
	}
	def, err := py.Str(r.work, a[1])
	if err != nil {
		return nil, err
	}
	metric, err := py.Truth(a[2])
	if err != nil {
		return nil, err
	}
	s = strings.TrimSpace(s)
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
		n++
	}
	unit := strings.ToLower(strings.TrimSpace(s[n:]))
	if unit == "" {
		unit = strings.ToLower(def)
	}
	var value any
	if value, err = python.ParseInt(s[:n], 10); err != nil {
		if value, err = python.ParseFloat(s[:n]); err != nil {
			return int64(0), nil
		}
	}
	if unit == "" {
		return int64(0), nil
	}
	const units = "bkmgtpezy"
	p := strings.IndexByte(units, unit[0])
	base, exp := int64(2), int64(10)
	switch {
	case p > 0 && len(unit) == 2 && unit[1] == 'b':
		if metric {
			base, exp = 10, 3
		}
	case unit == "b", p > 0 && (len(unit) == 1 || unit[1:] == "ib"):
	default:
		return int64(0), nil
	}
	factor, err := py.Binary(r.work, "**", base, exp*int64(p))
	if err != nil {
		return nil, err
	}
	if value, err = py.Binary(r.work, "*", value, factor); err != nil {
		return nil, err
	}
	return py.ToInt(value)
}

func snakeCase(s string) (any, error) {
	in := []rune(s)
	if len(in) == 0 {
		return nil, py.Errorf("IndexError", "string index out of range")
	}
	var b strings.Builder
	for i, c := range in {
		if i > 0 && unicode.IsUpper(c) && (unicode.IsLower(in[i-1]) || i != len(in)-1 && unicode.IsLower(in[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String(), nil
}

func camelCase(_ *run, a []any) (any, error) {
	s, err := expectText(a[0])
	if err != nil {
		return nil, err
	}
	upper, err := py.Truth(a[1])
	words := strings.Split(s, "_")
	for i := range words {
		if i > 0 || upper {
			words[i] = py.Capitalize(words[i])
		}
	}
	return strings.Join(words, ""), err
}

// patterns are a text or a list of texts.
func patterns(r *run, v any) ([]string, error) {
	ok, err := py.Truth(v)
	if err != nil || !ok {
		return nil, err
	}
	if s, ok := py.Text(v); ok {
		return []string{s}, nil
	}
	items, err := py.Collect(r.work, v)
	var out []string
	for _, item := range items {
		s, _ := py.Text(item)
		out = append(out, s)
	}
	return out, err
}

func whiteBlack(r *run, a []any) (any, error) {
	if err := undefinedIn(a[0]); err != nil {
		return nil, err
	}
	s, isText := py.Text(a[0]) // what is no text matches nothing
	white, err := patterns(r, a[1])
	if err != nil {
		return nil, err
	}
	black, err := patterns(r, a[2])
	if err != nil {
		return nil, err
	}
	matches := func(exprs []string) bool {
		for _, e := range exprs {
			if isText && matchers.ExprMatch(s, e) {
				return true
			}
		}
		return false
	}
	return (len(black) == 0 || !matches(black)) && (len(white) == 0 || matches(white)), nil
}

// quoted is shlex.quote: what is empty, or nothing at all, is a pair of quotes.
func quoted(_ *run, a []any) (any, error) {
	if a[0] == nil {
		return "''", nil
	}
	s, err := expectText(a[0])
	if err != nil {
		return nil, err
	}
	return shlex.Quote(s), nil
}

// yamlSingle writes text between single quotes as PyYAML does.
func yamlSingle(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for i := 0; i < len(s); {
		n := 0
		for i+n < len(s) && s[i+n] == '\n' {
			n++
		}
		if n > 0 {
			b.WriteString("\n" + strings.Repeat("\n", n))
			i += n
			continue
		}
		if s[i] == '\'' {
			b.WriteByte('\'')
		}
		b.WriteByte(s[i])
		i++
	}
	b.WriteByte('\'')
	return b.String()
}

func yamlEncode(r *run, a []any) (any, error) {
	switch x := a[0].(type) {
	case nil:
		return "null", nil
	case bool:
		return strconv.FormatBool(x), nil
	case string, py.Markup:
		s, _ := py.Text(x)
		return py.YAMLQuote(s, true), nil
	case *py.List, *py.Dict, *py.Tuple, *py.Set:
		return nil, py.Errorf("TypeError", "yaml_encode() only works with YAML scalar data; failed for <class '%s'>",
			py.TypeName(x))
	}
	return py.Str(r.work, a[0])
}

func pathJoin(r *run, a []any) (any, error) {
	parts := a[0].(*py.Tuple).Items
	var words []string
	for _, p := range parts {
		s, err := toBytes(p)
		if err != nil {
			return nil, err
		}
		words = append(words, s)
	}
	if len(words) == 0 {
		return "", nil
	}
	var out []string
	if words[0] != "" {
		out = append(out, words[0])
	}
	for _, w := range words[1:] {
		if w = strings.TrimLeft(w, "/"); w != "" {
			out = append(out, w)
		}
	}
	joined := strings.Join(out, "/")
	if strings.HasSuffix(words[0], "/") {
		joined = strings.TrimRight(words[0], "/") + "/" + strings.Join(out[1:], "/")
	}
	return normalPath(joined), r.work.Grow(len(joined))
}

// normalPath is os.path.normpath.
func normalPath(s string) string {
	if s == "" {
		return "."
	}
	rooted := strings.HasPrefix(s, "/")
	var out []string
	for p := range strings.SplitSeq(s, "/") {
		switch {
		case p == "" || p == ".":
		case p == ".." && len(out) > 0 && out[len(out)-1] != "..":
			out = out[:len(out)-1]
		case p == ".." && rooted:
		default:
			out = append(out, p)
		}
	}
	joined := strings.Join(out, "/")
	switch {
	case rooted:
		return "/" + joined
	case joined == "":
		return "."
	}
	return joined
}
