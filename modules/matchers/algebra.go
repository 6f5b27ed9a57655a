package matchers

// maxParens is how deep parentheses may stand in each other; Python's parser has the same bound.
const maxParens = 200

// token is an operator word, or an operand when op is "".
type token[T any] struct {
	op  string
	val T
}

// algebra are the three operations of compound targets on truth values or sets of ids.
type algebra[T any] struct {
	and, or func(a, b T) T
	not     func(a T) T
}

// expression evaluates a compound target whose words have been looked up: "not" binds tighter than "and", "and"
// tighter than "or". A "not" right after an operand means "and not"; two "not" in a row are an error, as in Salt.
// Unlike Salt: an operand right before a parenthesis is an error even where Python would not come to evaluate it.
type expression[T any] struct {
	algebra[T]
	tokens    []token[T]
	pos       int
	depth     int
	autoClose bool // the end of the text closes open parentheses: masters allow it, minions do not
	empty     *T   // what "( )" stands for; nil: it is an error
}

func (e *expression[T]) eval() (T, error) {
	v, err := e.orExpr()
	if err == nil && e.pos < len(e.tokens) {
		err = targetErr("Invalid compound target: unexpected word")
	}
	return v, err
}

func (e *expression[T]) peek() string {
	if e.pos >= len(e.tokens) {
		return "end"
	}
	return e.tokens[e.pos].op
}

func (e *expression[T]) orExpr() (T, error) {
	v, err := e.andExpr()
	for err == nil && e.peek() == "or" {
		e.pos++
		var w T
		if w, err = e.andExpr(); err == nil {
			v = e.or(v, w)
		}
	}
	return v, err
}

func (e *expression[T]) andExpr() (T, error) {
	v, err := e.notExpr()
	for err == nil && (e.peek() == "and" || e.peek() == "not") {
		if e.peek() == "and" {
			e.pos++
		}
		var w T
		if w, err = e.notExpr(); err == nil {
			v = e.and(v, w)
		}
	}
	return v, err
}

func (e *expression[T]) notExpr() (T, error) {
	if e.peek() != "not" {
		return e.operand()
	}
	e.pos++
	v, err := e.operand()
	if err != nil {
		return v, err
	}
	return e.not(v), nil
}

func (e *expression[T]) operand() (v T, err error) {
	switch e.peek() {
	case "":
		v = e.tokens[e.pos].val
		e.pos++
		return v, nil
	case "(":
		return e.parenthesis()
	case "end":
		return v, targetErr("Invalid compound target: unexpected end")
	}
	return v, targetErr("Invalid compound target: unexpected %q", e.peek())
}

func (e *expression[T]) parenthesis() (v T, err error) {
	if e.depth++; e.depth > maxParens {
		return v, targetErr("Invalid compound target: too many nested parentheses")
	}
	defer func() { e.depth-- }()
	e.pos++
	if e.peek() == ")" && e.empty != nil {
		e.pos++
		return *e.empty, nil
	}
	if v, err = e.orExpr(); err != nil {
		return v, err
	}
	switch {
	case e.peek() == ")":
		e.pos++
	case e.peek() != "end" || !e.autoClose:
		return v, targetErr("Invalid compound target: missing right parenthesis")
	}
	return v, nil
}

// truth is the algebra of a minion.
func truth() algebra[bool] {
	return algebra[bool]{
		and: func(a, b bool) bool { return a && b },
		or:  func(a, b bool) bool { return a || b },
		not: func(a bool) bool { return !a },
	}
}

func matchCompound(f *Facts, tgt any, _ string) (bool, error) {
	words, err := compoundWords(tgt, f.Nodegroups)
	hit, evalErr := evalCompound(f, words)
	return hit, joinErr(err, evalErr)
}

// minionEngines are the matchers behind the letters of a compound target.
var minionEngines = map[string]minionMatcher{
	"":  matchGlob,
	"G": matchGrains(ModeGlob),
	"P": matchGrains(ModeRegexp),
	"I": matchPillar(ModeGlob),
	"J": matchPillar(ModeRegexp),
	"L": matchList,
	"S": matchIPCIDR,
	"E": matchPCRE,
	"T": matchResource,
	"M": matchManaging,
}

// evalCompound looks every word up, then combines the answers. Words that cannot be looked up at all spoil the
// whole target; a grain word without delimiter or a bad address is merely false.
func evalCompound(f *Facts, words []string) (bool, error) {
	e := expression[bool]{algebra: truth(), empty: new(bool)}
	own := *f
	own.limit = forMinion()
	var soft error
	for _, word := range words {
		if own.limit.look(); own.limit.reason() != nil {
			return false, own.limit.reason()
		}
		if isOperator(word) {
			e.tokens = append(e.tokens, token[bool]{op: word})
			continue
		}
		a := parseAtom(word)
		match, ok := minionEngines[a.engine]
		if a.engine == "R" && f.Range != nil {
			match, ok = matchRange, true
		}
		if !ok {
			return false, targetErr("Unrecognized target engine %q for target expression %q", a.engine, word)
		}
		hit, err := match(&own, a.pattern, a.delimiter)
		if err != nil && a.engine == "E" {
			return false, err
		}
		soft = joinErr(soft, err)
		e.tokens = append(e.tokens, token[bool]{val: hit})
	}
	hit, err := e.eval()
	return hit && err == nil, joinErr(soft, err)
}
