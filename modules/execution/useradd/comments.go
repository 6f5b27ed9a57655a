package useradd

import (
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/accounts"
	"brine/modules/loader"
	"brine/wire/python"
)

// parts is how many parts a comment of a user has; the last one may contain commas.
const parts = 5

// comments are the functions that change a part of the comment of a user.
func comments() []loader.Func {
	return []loader.Func{
		loader.Fn("chfullname", func(c *loader.Call, a fullName) (bool, error) {
			return changeComment(c, a.Name, 0, a.Value, a.under)
		}, "Change the full name of a user.", "user.chfullname foo \"Foo Bar\""),
		loader.Fn("chroomnumber", func(c *loader.Call, a roomNumber) (bool, error) {
			return changeComment(c, a.Name, 1, a.Value, a.under)
		}, "Change the room number of a user.", "user.chroomnumber foo 123"),
		loader.Fn("chworkphone", func(c *loader.Call, a workPhone) (bool, error) {
			return changeComment(c, a.Name, 2, a.Value, a.under)
		}, "Change the work phone of a user.", "user.chworkphone foo 7735550123"),
		loader.Fn("chhomephone", func(c *loader.Call, a homePhone) (bool, error) {
			return changeComment(c, a.Name, 3, a.Value, a.under)
		}, "Change the home phone of a user.", "user.chhomephone foo 7735551234"),
		loader.Fn("chother", func(c *loader.Call, a otherPart) (bool, error) {
			return changeComment(c, a.Name, 4, a.Value, a.under)
		}, "Change what else the comment of a user says.", "user.chother foobar other=x"),
	}
}

type (
	fullName struct {
		Name  string `arg:"name"`
		Value any    `arg:"fullname"`
		under
	}
	roomNumber struct {
		Name  string `arg:"name"`
		Value any    `arg:"roomnumber"`
		under
	}
	workPhone struct {
		Name  string `arg:"name"`
		Value any    `arg:"workphone"`
		under
	}
	homePhone struct {
		Name  string `arg:"name"`
		Value any    `arg:"homephone"`
		under
	}
	otherPart struct {
		Name  string `arg:"name"`
		Value any    `arg:"other"`
		under
	}
)

// changeComment sets one part of the comment of a user, and tells whether that has the value then. Part 0 is the full
// name.
func changeComment(c *loader.Call, name string, part int, v any, root under) (bool, error) {
	value := loader.Text(v)
	now, err := commentOf(c, name, root)
	if err != nil {
		return false, err
	}
	if now[part] == value {
		return true, nil
	}
	now[part] = value
	argv, err := usermod(c, name, root)
	if err != nil {
		return false, err
	}
	text := strings.TrimRight(strings.Join(now, ","), ",")
	if _, err := cmdmod.Run(c, append(argv, "-c", text, name), nil); err != nil {
		return false, err
	}
	after, err := commentOf(c, name, root)
	return err == nil && after[part] == value, err
}

// commentOf are the parts of the comment of a user, in their order.
func commentOf(c *loader.Call, name string, root under) ([]string, error) {
	u, known, err := accounts.UserNamed(c.Ctx, root.dir(), name)
	if err == nil && !known {
		err = loader.Raise("KeyError", "%s", python.Repr("getpwnam(): name not found: "+python.Repr(name)))
	}
	return split(u.Gecos), err
}

// split are the parts of a comment, all of them.
func split(gecos string) []string {
	out := strings.SplitN(gecos, ",", parts)
	for len(out) < parts {
		out = append(out, "")
	}
	return out
}
