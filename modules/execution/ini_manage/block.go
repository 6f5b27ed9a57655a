package ini_manage

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"brine/modules/loader"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/re"
)

// space is a character that \s of Python stands for.
const space = `[\s\v\x1c-\x1f\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]`

var (
	heading  = pattern.New(`(?m)^` + space + `*\[(.+?)\]` + space + `*$`)
	comment  = pattern.New(`^` + space + `*(#|;)`)
	indented = pattern.New(`^` + space + `+`)
	stray    = pattern.New(`[\n\v\f\r\x1c-\x1e\x{85}\x{2028}\x{2029}]($|[^ \t])`)
	lineEnds = pattern.New(`\r\n|[\n\v\f\r\x1c-\x1e\x{85}\x{2028}\x{2029}]`)
)

// block is a section, or the whole file: entries in their order. A value is a text or a *block. A comment, and a line
// that is nothing known, is an entry whose key begins with "#" and whose value is the line.
type block struct {
	name      string
	separator string // as it stood in the last line that was read
	reads     *re.Groups
	noSpaces  bool
	keys      []string
	values    map[string]any
}

func (d *Document) newBlock(name, separator string, reads *re.Groups) *block {
	return &block{name: name, separator: separator, reads: reads, noSpaces: d.form.NoSpaces, values: map[string]any{}}
}

// reader is the pattern of a line with a separator: indentation, name, separator, value. Like the reference it takes
// only the first character of the separator as it is.
func reader(separator string) (*re.Groups, error) {
	if separator == "" {
		return nil, loader.ExecErr("the separator of an ini file must not be empty")
	}
	g, err := re.CompileGroups(`^(\s*)(.+?)\s*(\`+separator+`)\s*(.*)\s*`, false, false)
	if err != nil {
		return nil, loader.ExecErr("%s is no separator: %v", python.Repr(separator), err)
	}
	return g, nil
}

// parse reads a text.
func (d *Document) parse(text string) error {
	reads, err := reader(d.form.Separator)
	if err != nil {
		return err
	}
	text = strings.TrimSuffix(lineEnds.ReplaceAllString(text, "\n"), "\n")
	d.root = d.newBlock(d.form.Path, d.form.Separator, reads)
	heads, contents := heading.FindAllStringSubmatch(text, -1), heading.Split(text, -1)
	if err := d.root.fill(contents[0]); err != nil {
		return err
	}
	for i, head := range heads {
		if d.root.separator != d.form.Separator {
			if reads, err = reader(d.root.separator); err != nil {
				return err
			}
		}
		part := d.newBlock(head[1], d.root.separator, reads)
		if err := part.fill(contents[i+1]); err != nil {
			return err
		}
		if err := d.root.join(part); err != nil {
			return err
		}
	}
	return nil
}

// join adds a section that was read. One that was there before takes its entries.
func (b *block) join(part *block) error {
	if before, ok := b.values[part.name].(*block); ok {
		for _, key := range part.keys {
			if _, err := before.put(key, part.values[key]); err != nil {
				return err
			}
		}
		return nil
	}
	part.separator = b.separator
	b.set(part.name, part)
	return nil
}

// fill reads the lines of a section.
func (b *block) fill(text string) error {
	text = strings.Trim(text, "\n")
	if text == "" {
		return nil
	}
	var comments, unknown int
	indent := ""
	for line := range strings.SplitSeq(text, "\n") {
		if comment.MatchString(line) {
			comments++
			if _, err := b.put(fmt.Sprint("#comment", comments), line); err != nil {
				return err
			}
			continue
		}
		if deep := strings.ReplaceAll(indented.FindString(line), "\t", "    "); deep > indent && len(b.keys) > 0 {
			last := b.keys[len(b.keys)-1]
			if before, ok := b.values[last].(string); ok {
				b.values[last] = before + "\n" + line
				continue
			}
		}
		parts, err := b.split(line)
		switch {
		case err != nil:
			return err
		case parts == nil:
			unknown++
			_, err = b.put(fmt.Sprint("#unknown", unknown), line)
		default:
			indent, b.separator = strings.ReplaceAll(parts[0], "\t", "    "), parts[2]
			_, err = b.put(parts[1], parts[3])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// split reads a line of a name and a value; nil: it is none.
func (b *block) split(line string) ([]string, error) {
	runes := []rune(line)
	spans, err := b.reads.Find(runes, 0)
	if err != nil {
		return nil, loader.ExecErr("a line of %d characters cannot be read: %v", utf8.RuneCountInString(line), err)
	}
	if spans == nil {
		return nil, nil
	}
	out := make([]string, 4)
	for i := range out {
		out[i] = string(runes[spans[i+1].Start:spans[i+1].End])
	}
	return out, nil
}

func (b *block) has(key string) bool { _, ok := b.values[key]; return ok }

func (b *block) get(key string) (any, bool) {
	v, ok := b.values[key]
	return v, ok
}

func (b *block) set(key string, v any) {
	if !b.has(key) {
		b.keys = append(b.keys, key)
	}
	b.values[key] = v
}

func (b *block) delete(key string) {
	if b.has(key) {
		delete(b.values, key)
		b.keys = slices.DeleteFunc(b.keys, func(k string) bool { return k == key })
	}
}

// update sets entries, and gives what changed.
func (b *block) update(wanted *payload.Map) (*payload.Map, error) {
	changes := payload.NewMap(0)
	for k, v := range wanted.All() {
		key := keyOf(k)
		if strings.Contains(key, "\n") || comment.MatchString(key) {
			return nil, loader.InvocErr("%s is no name in an ini file: it is a comment, or more than one line",
				python.Repr(key))
		}
		part, isMap := v.(*payload.Map)
		if before, ok := b.values[key].(*block); ok {
			if !isMap {
				return nil, loader.ExecErr("'%s' is a section of the file: it cannot be an option", key)
			}
			inner, err := before.update(part)
			if err != nil {
				return nil, err
			}
			if inner.Len() > 0 {
				changes.Set(key, inner)
			}
			continue
		}
		var value any = python.Str(v)
		if !isMap && stray.MatchString(python.Str(v)) {
			return nil, loader.InvocErr("the value of '%s' has a line that is not indented: it would be an entry of its own",
				key)
		}
		if isMap {
			sub := &block{name: key, separator: b.separator, reads: b.reads, noSpaces: b.noSpaces, values: map[string]any{}}
			if _, err := sub.update(part); err != nil {
				return nil, err
			}
			value = sub
		}
		change, err := b.put(key, value)
		if err != nil {
			return nil, err
		}
		if change != nil {
			changes.Set(key, change)
		}
	}
	return changes, nil
}

// put sets an entry, a new option in the place of a comment that had it. It gives the change, nil for none.
func (b *block) put(key string, v any) (*payload.Map, error) {
	before, there := b.get(key)
	if there && before == v {
		return nil, nil
	}
	if _, isBlock := v.(*block); !there && !isBlock {
		if err := b.uncomment(key); err != nil {
			return nil, err
		}
	}
	b.set(key, v)
	var old any
	if there {
		old = toldOf(before)
	}
	return payload.M("before", old, "after", toldOf(v)), nil
}

// uncomment makes room for an option: the first comment that holds it gives up its place.
func (b *block) uncomment(key string) error {
	at := -1
	for i, k := range b.keys {
		line, ok := b.values[k].(string)
		if !ok || !strings.Contains(k, "#comment") {
			continue
		}
		parts, err := b.split(strings.TrimLeft(line, "#"))
		if err != nil {
			return err
		}
		if parts != nil && parts[1] == key {
			at = i
			break
		}
	}
	if at >= 0 {
		delete(b.values, b.keys[at])
		b.keys[at] = key
	} else {
		b.keys = append(b.keys, key)
	}
	b.values[key] = ""
	return nil
}

// told is a block as a map, without comments, with blocks in it.
func (b *block) told() *payload.Map {
	out := payload.NewMap(len(b.keys))
	for _, key := range b.keys {
		if plain(key) {
			out.Set(key, toldOf(b.values[key]))
		}
	}
	return out
}

func toldOf(v any) any {
	if b, ok := v.(*block); ok {
		return b.told()
	}
	return v
}
