package ini_manage

import (
	"strings"

	"brine/wire/python"
)

// between is the separator as it is written. Unlike Salt: one of tabs stays, where Salt writes two spaces, which it does
// not read again.
func (b *block) between() string {
	switch inner := strings.TrimFunc(b.separator, python.IsSpace); {
	case strings.Trim(b.separator, " ") == "":
		return " "
	case inner == "":
		return b.separator
	case b.noSpaces:
		return inner
	default:
		return " " + inner + " "
	}
}

// write adds the lines of a block, then its sections.
func (b *block) write(out *strings.Builder) {
	between := b.between()
	var parts []*block
	for _, key := range b.keys {
		switch v := b.values[key].(type) {
		case *block:
			parts = append(parts, v)
		case string:
			if !comment.MatchString(key) {
				out.WriteString(key + between)
			}
			out.WriteString(v + "\n")
		}
	}
	for _, part := range parts {
		out.WriteString("\n[" + part.name + "]\n")
		part.write(out)
	}
}

// file is the whole file. It does not begin with an empty line.
func (b *block) file() string {
	var out strings.Builder
	b.write(&out)
	return strings.TrimPrefix(out.String(), "\n")
}
