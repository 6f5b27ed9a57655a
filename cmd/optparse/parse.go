package optparse

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"brine/wire/python"
)

// Parse reads a command line without the program's name. The error is a *UsageError, or *Answered when help or
// the version was asked for.
func (p *Parser) Parse(argv []string) (*Values, error) {
	v := p.newValues()
	return v, p.ParseMore(v, argv)
}

// ParseMore reads a second command line over the values of the first: its options replace theirs, its words are
// appended. Unlike Salt: --args-stdin does not put options that stdin leaves out back to their defaults.
func (p *Parser) ParseMore(v *Values, argv []string) error {
	if p.twice != nil {
		return p.twice
	}
	fresh := map[string]bool{} // append options that this command line began anew
	for len(argv) > 0 {
		arg := argv[0]
		var err error
		switch {
		case arg == "--":
			v.Args = append(v.Args, argv[1:]...)
			return nil
		case strings.HasPrefix(arg, "--"):
			argv, err = p.longOption(v, fresh, argv)
		case len(arg) > 1 && arg[0] == '-':
			argv, err = p.shortOptions(v, fresh, argv)
		default:
			v.Args = append(v.Args, arg)
			argv = argv[1:]
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// longOption takes --name, --name=value or --name value from the front of argv and returns what is left.
func (p *Parser) longOption(v *Values, fresh map[string]bool, argv []string) ([]string, error) {
	name, value, explicit := strings.Cut(argv[0], "=")
	argv = argv[1:]
	flag, err := p.matchLong(name)
	if err != nil {
		return nil, err
	}
	o := p.long[flag]
	switch {
	case !o.Kind.takesValue() && explicit:
		return nil, p.Errorf("%s option does not take a value", flag)
	case o.Kind.takesValue() && !explicit && len(argv) == 0:
		return nil, p.Errorf("%s option requires 1 argument", flag)
	case o.Kind.takesValue() && !explicit:
		value, argv = argv[0], argv[1:]
	}
	return argv, p.apply(v, fresh, o, flag, value)
}

// matchLong finds the long option that name is or abbreviates.
func (p *Parser) matchLong(name string) (string, error) {
	if p.long[name] != nil {
		return name, nil
	}
	var hits []string
	for flag := range p.long {
		if strings.HasPrefix(flag, name) {
			hits = append(hits, flag)
		}
	}
	switch len(hits) {
	case 0:
		return "", p.Errorf("no such option: %s", name)
	case 1:
		return hits[0], nil
	}
	slices.Sort(hits)
	return "", p.Errorf("ambiguous option: %s (%s?)", name, strings.Join(hits, ", "))
}

// shortOptions takes -abc, -tVALUE or -t VALUE from the front of argv and returns what is left.
func (p *Parser) shortOptions(v *Values, fresh map[string]bool, argv []string) ([]string, error) {
	letters := argv[0][1:]
	argv = argv[1:]
	for letters != "" {
		_, n := utf8.DecodeRuneInString(letters)
		flag := "-" + letters[:n]
		letters = letters[n:]
		o := p.short[flag]
		if o == nil {
			return nil, p.Errorf("no such option: %s", flag)
		}
		if !o.Kind.takesValue() {
			if err := p.apply(v, fresh, o, flag, ""); err != nil {
				return nil, err
			}
			continue
		}
		value := letters
		if value == "" {
			if len(argv) == 0 {
				return nil, p.Errorf("%s option requires 1 argument", flag)
			}
			value, argv = argv[0], argv[1:]
		}
		return argv, p.apply(v, fresh, o, flag, value)
	}
	return argv, nil
}

// apply does what an option does; flag is how it was called.
func (p *Parser) apply(v *Values, fresh map[string]bool, o *Option, flag, text string) error {
	d := o.dest()
	switch o.Kind {
	case Help:
		return &Answered{Text: p.HelpText(), Help: p}
	case Version:
		return &Answered{Text: strings.ReplaceAll(p.Version, "%prog", p.Prog) + "\n"}
	case Flag:
		v.Set(d, true)
		return nil
	case Const:
		v.Set(d, o.Const)
		return nil
	case Append:
		var list []string
		if fresh[d] {
			list = v.Strs(d)
		}
		fresh[d] = true
		v.Set(d, append(slices.Clone(list), text))
		return nil
	}
	value, err := o.convert(text)
	if err != nil {
		return p.Errorf("option %s: %s", flag, err)
	}
	v.Set(d, value)
	return nil
}

// convert makes the value of an option of kind String, Int or Choice.
func (o *Option) convert(text string) (any, error) {
	switch {
	case o.Convert != nil:
		return o.Convert(text)
	case o.Kind == Int:
		n, ok := pythonInt(text)
		if !ok {
			return nil, errors.New("invalid integer value: " + python.Repr(text))
		}
		return n, nil
	case o.Kind == Choice && !slices.Contains(o.Choices, text):
		all := make([]string, len(o.Choices))
		for i, c := range o.Choices {
			all[i] = python.Repr(c)
		}
		return nil, errors.New("invalid choice: " + python.Repr(text) + " (choose from " + strings.Join(all,
			", ") + ")")
	}
	return text, nil
}

// pythonInt reads a number as optparse does: 0x is hexadecimal, 0b binary, any other leading 0 octal; blanks
// around it and single underscores between digits are allowed.
func pythonInt(text string) (int, bool) {
	base, digits := 10, text
	switch lower := strings.ToLower(text); {
	case strings.HasPrefix(lower, "0x"):
		base, digits = 16, text[2:]
	case strings.HasPrefix(lower, "0b"):
		base, digits = 2, cmp.Or(text[2:], "0")
	case strings.HasPrefix(lower, "0"):
		base = 8
		if strings.HasPrefix(lower, "0o") {
			digits = text[2:]
		}
	}
	digits = strings.TrimSpace(digits)
	if strings.HasPrefix(digits, "_") || strings.HasSuffix(digits, "_") || strings.Contains(digits, "__") {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(digits, "_", ""), base, 64)
	return int(n), err == nil
}
