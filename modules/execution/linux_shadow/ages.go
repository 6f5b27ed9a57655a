package linux_shadow

import (
	"brine/modules/execution/cmdmod"
	"brine/modules/loader"
	"brine/wire/payload"
)

// ages are the functions that say how long a password, or the account, may be used.
func ages() []loader.Func {
	return []loader.Func{
		loader.Fn("set_inactdays", func(c *loader.Call, a inactive) (bool, error) {
			return chage(c, a.Name, "inact", a.Days, "-I", a.under, true)
		}, "Set how many days after a password has expired its user can change it.",
			"shadow.set_inactdays username 7"),
		loader.Fn("set_maxdays", func(c *loader.Call, a longest) (bool, error) {
			return chage(c, a.Name, "max", a.Days, "-M", a.under, true)
		}, "Set after how many days a password expires.", "shadow.set_maxdays username 90"),
		loader.Fn("set_mindays", func(c *loader.Call, a shortest) (bool, error) {
			return chage(c, a.Name, "min", a.Days, "-m", a.under, true)
		}, "Set how many days a password stays at least.", "shadow.set_mindays username 7"),
		loader.Fn("set_warndays", func(c *loader.Call, a warned) (bool, error) {
			return chage(c, a.Name, "warn", a.Days, "-W", a.under, true)
		}, "Set how many days before a password expires its user is warned.", "shadow.set_warndays username 7"),
		loader.Fn("set_date", func(c *loader.Call, a changed) (bool, error) {
			return chage(c, a.Name, "lstchg", a.Date, "-d", a.under, false)
		}, "Set the day of the last change of a password.", "shadow.set_date username 0"),
		loader.Fn("set_expire", func(c *loader.Call, a expiring) (bool, error) {
			return chage(c, a.Name, "expire", a.Expire, "-E", a.under, false)
		}, "Set the day from which on an account cannot be used; -1: none.",
			"shadow.set_expire username -1"),
	}
}

type (
	inactive struct {
		Name string `arg:"name"`
		Days any    `arg:"inactdays"`
		under
	}
	longest struct {
		Name string `arg:"name"`
		Days any    `arg:"maxdays"`
		under
	}
	shortest struct {
		Name string `arg:"name"`
		Days any    `arg:"mindays"`
		under
	}
	warned struct {
		Name string `arg:"name"`
		Days any    `arg:"warndays"`
		under
	}
	changed struct {
		Name string `arg:"name"`
		Date any    `arg:"date"`
		under
	}
	expiring struct {
		Name   string `arg:"name"`
		Expire any    `arg:"expire"`
		under
	}
)

// chage sets one value of a user. With check it tells whether the file has that value then, otherwise whether the
// program succeeded: a day can be given in other forms than the file has.
func chage(c *loader.Call, name, key string, v any, option string, root under, check bool) (bool, error) {
	user := named{name, root}
	before, err := user.look()
	if err != nil || before.Value("name") == "" {
		return false, err
	}
	if payload.Equal(before.Value(key), v) {
		return true, nil
	}
	if err := cmdmod.Operand(name); err != nil {
		return false, err
	}
	done, err := cmdmod.Succeeds(c, append(root.rooted("chage"), option, loader.Text(v), name)...)
	if err != nil || !check {
		return done, err
	}
	after, err := user.look()
	return err == nil && payload.Equal(after.Value(key), v), err
}
