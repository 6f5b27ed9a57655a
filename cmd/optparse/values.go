package optparse

import "iter"

// Values holds the result of a command line: every declared destination, with its default if no option set it.
type Values struct {
	Args  []string // the arguments that are no options
	dests []string // in the order of declaration, each once
	value map[string]any
	given map[string]bool
}

func (p *Parser) newValues() *Values {
	v := &Values{value: map[string]any{}, given: map[string]bool{}}
	for _, o := range p.all() {
		if o.Kind == Help || o.Kind == Version {
			continue
		}
		d := o.dest()
		old, known := v.value[d]
		if !known {
			v.dests = append(v.dests, d)
		}
		def := o.Default
		if def == nil && o.Kind == Flag {
			def = false
		}
		if old == nil {
			v.value[d] = def
		}
	}
	return v
}

// Get returns the value of a destination, or nil.
func (v *Values) Get(dest string) any { return v.value[dest] }

// Str returns a text, or "" if the destination has none.
func (v *Values) Str(dest string) string { s, _ := v.value[dest].(string); return s }

// Int returns a number, or 0 if the destination has none.
func (v *Values) Int(dest string) int {
	switch n := v.value[dest].(type) {
	case int:
		return n
	case int64:
		return int(n)
	}
	return 0
}

// Bool tells whether the value is true, in Python's sense for numbers and texts.
func (v *Values) Bool(dest string) bool {
	switch x := v.value[dest].(type) {
	case bool:
		return x
	case string:
		return x != ""
	case int, int64:
		return v.Int(dest) != 0
	}
	return false
}

// Strs returns the list of an Append option.
func (v *Values) Strs(dest string) []string { s, _ := v.value[dest].([]string); return s }

// Given tells whether the command line, or Set, named the destination.
func (v *Values) Given(dest string) bool { return v.given[dest] }

// Set gives a destination a value as if the command line did.
func (v *Values) Set(dest string, value any) {
	if _, known := v.value[dest]; !known {
		v.dests = append(v.dests, dest)
	}
	v.value[dest], v.given[dest] = value, true
}

// Default changes the value of a destination without marking it as given.
func (v *Values) Default(dest string, value any) {
	given := v.given[dest]
	v.Set(dest, value)
	v.given[dest] = given
}

// All lists destinations and values in the order of declaration.
func (v *Values) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for _, d := range v.dests {
			if !yield(d, v.value[d]) {
				return
			}
		}
	}
}
