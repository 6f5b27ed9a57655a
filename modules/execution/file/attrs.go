package file

import (
	"os"
	"strings"

	"brine/modules/host/program"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// attributes are the functions for what chattr sets.
func attributes() []loader.Func {
	return []loader.Func{
		loader.Fn("lsattr", lsattr, "Show the attributes of a file that chattr sets.", "file.lsattr foo1.txt"),
		loader.Fn("chattr", chattr, "Set or remove attributes of files.",
			"file.chattr foo1.txt foo2.txt operator=add attributes=ai",
			"file.chattr foo3.txt operator=remove attributes=i version=2"),
	}
}

// attrLetters are the attributes that lsattr may show and chattr set.
const attrLetters = "aAcCdDeijPsStTu"

func lsattr(c *loader.Call, a location) (any, error) {
	name, err := raw(a.Path)
	if err != nil || program.Which("lsattr") == "" {
		return nil, err
	}
	if _, err := os.Stat(name); err != nil {
		return nil, loader.InvocErr("File or directory does not exist: %s", name)
	}
	out, err := c.Call("cmd.run", []any{[]any{"lsattr", name}}, payload.M("ignore_retcode", true, "python_shell", false))
	if err != nil {
		return nil, err
	}
	found := payload.NewMap(0)
	for line := range strings.Lines(loader.Text(out)) {
		letters, file, ok := strings.Cut(strings.TrimRight(line, "\n"), " ")
		if !ok || strings.HasPrefix(line, "lsattr: ") {
			continue
		}
		list := []any{}
		for _, letter := range letters {
			if strings.ContainsRune(attrLetters, letter) {
				list = append(list, string(letter))
			}
		}
		found.Set(strings.TrimLeft(file, " "), list)
	}
	return found, nil
}

type changedAttrs struct {
	Files []any        `arg:"*files"`
	KW    *payload.Map `arg:"**kwargs"`
}

func chattr(c *loader.Call, a changedAttrs) (any, error) {
	operator, letters := a.KW.Value("operator"), a.KW.Value("attributes")
	sign := map[any]string{"add": "+", "remove": "-"}[operator]
	switch {
	case sign == "":
		return nil, loader.InvocErr("Need an operator: 'add' or 'remove' to modify attributes.")
	case letters == nil:
		return nil, loader.InvocErr("Need attributes: [aAcCdDeijPsStTu]")
	}
	argv := []any{"chattr", sign + python.Str(letters)}
	if flags := a.KW.Value("flags"); flags != nil {
		argv = append(argv, "-"+python.Str(flags))
	}
	if version := a.KW.Value("version"); version != nil {
		argv = append(argv, "-v", python.Str(version))
	}
	out, err := c.Call("cmd.run", []any{append(argv, a.Files...)}, payload.M("python_shell", false))
	return err == nil && !python.Truth(out), err
}

// attrsDiffer compares the attributes of a file with those that it should have: which are to be added and removed. e
// can be set, but not taken away. known is false where there is no lsattr.
func attrsDiffer(c *loader.Call, name string, want any) (now, add, remove string, known bool, err error) {
	v, err := lsattr(c, location{name})
	m, ok := v.(*payload.Map)
	if err != nil || !ok {
		return "", "", "", false, err
	}
	now = strings.Join(payload.Texts(m.List(name)), "")
	wanted := python.Str(want)
	for _, letter := range wanted {
		if !strings.ContainsRune(now, letter) && !strings.ContainsRune(add, letter) {
			add += string(letter)
		}
	}
	for _, letter := range now {
		if !strings.ContainsRune(wanted, letter) && letter != 'e' {
			remove += string(letter)
		}
	}
	return now, add, remove, true, nil
}

// attributes changes those of a file, or tells what would change.
func (p Perms) attributes(c *loader.Call, name string, s Standing, ret *Ret, test bool) error {
	if p.Attrs == nil || s.Dir || s.Link {
		return nil
	}
	now, add, remove, known, err := attrsDiffer(c, name, p.Attrs)
	if err != nil || !known || add == "" && remove == "" {
		return err
	}
	after := p.Attrs
	if !test {
		for _, x := range []struct{ operator, letters string }{{"add", add}, {"remove", remove}} {
			if x.letters == "" {
				continue
			}
			kw := payload.M("operator", x.operator, "attributes", x.letters)
			if _, err := chattr(c, changedAttrs{Files: []any{name}, KW: kw}); err != nil {
				return err
			}
		}
		is, add, remove, _, err := attrsDiffer(c, name, p.Attrs)
		if err != nil {
			return err
		}
		if add != "" || remove != "" {
			ret.Result, after = false, is
			ret.say("Failed to change attributes to " + python.Str(p.Attrs))
		}
	}
	if after != any(now) {
		ret.Changes.Set("attrs", payload.M("old", now, "new", after))
	}
	return nil
}
