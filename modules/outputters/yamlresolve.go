package outputters

import "brine/modules/text/pattern"

// What plain text YAML 1.1 reads as something other than text (yaml/resolver.py).
var (
	yamlBool = pattern.New(`^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$`)
	yamlReal = pattern.New(
		`^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)
	yamlWhole = pattern.New(
		`^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)
	yamlOther = pattern.New(`^(?:<<|~|null|Null|NULL||=|!|&|\*)$`)
	yamlDate  = pattern.New(
		`^(?:[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)$`)
)

// resolves tells whether plain text would be read as a boolean, a number, a date and so on. The first character
// rules most text out.
func resolves(s string) bool {
	if s == "" {
		return true
	}
	switch c := s[0]; {
	case c == '-' || c == '+' || c == '.' || c >= '0' && c <= '9':
		return yamlWhole.MatchString(s) || yamlReal.MatchString(s) || c >= '0' && yamlDate.MatchString(s)
	case c == '<', c == '~', c == '=', c == '!', c == '&', c == '*':
		return yamlOther.MatchString(s)
	case c == 'n' || c == 'N':
		return yamlOther.MatchString(s) || yamlBool.MatchString(s)
	case c == 'y' || c == 'Y' || c == 't' || c == 'T' || c == 'f' || c == 'F' || c == 'o' || c == 'O':
		return yamlBool.MatchString(s)
	}
	return false
}
