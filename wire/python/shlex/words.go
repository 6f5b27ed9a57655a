package shlex

import "strings"

// Words cuts a text at white space as Python's shlex.shlex does with whitespace_split, without comments and not as a
// shell of POSIX: quotes stay. quotes are those that hold white space together at the beginning of a word. It is what
// salt.utils.stringutils.build_whitespace_split_regex stands on.
func Words(text, quotes string) ([]string, error) {
	const blanks = " \t\r\n"
	var out []string
	for {
		text = strings.TrimLeft(text, blanks)
		if text == "" {
			return out, nil
		}
		end := strings.IndexAny(text, blanks)
		if strings.IndexByte(quotes, text[0]) >= 0 {
			end = strings.IndexByte(text[1:], text[0])
			if end < 0 {
				return nil, ErrNoClosingQuote
			}
			end += 2
		}
		if end < 0 {
			end = len(text)
		}
		out, text = append(out, text[:end]), text[end:]
	}
}
