package linux_shadow

import (
	"io/fs"
	"os"
	"strings"

	"brine/modules/execution/cmdmod"
	"brine/modules/host/accounts"
	"brine/modules/loader"
	"brine/wire/payload"
)

// passwords are the functions that change passwords.
func passwords() []loader.Func {
	return []loader.Func{
		loader.Fn("gen_password", generate, "Hash a password for /etc/shadow; without one, a random one.",
			"shadow.gen_password 'I_am_password'"),
		loader.Fn("set_password", setPassword, "Set the password of a user by its hash.",
			"shadow.set_password root '$1$UYCIxa628.9qXjpQCjM4a..'"),
		loader.Fn("del_password", removePassword, "Take the password of a user away.", "shadow.del_password username"),
		loader.Fn("lock_password", lock, "Lock the password of a user.", "shadow.lock_password username"),
		loader.Fn("unlock_password", unlock, "Unlock the password of a user.", "shadow.unlock_password username"),
	}
}

type clear struct {
	Password  any `arg:"password"`
	Salt      any `arg:"crypt_salt=None"`
	Algorithm any `arg:"algorithm=sha512"`
}

func generate(c *loader.Call, a clear) (any, error) {
	return c.Call("random.shadow_hash", []any{a.Salt, a.Password, a.Algorithm}, nil)
}

type hashed struct {
	Name     string `arg:"name"`
	Password string `arg:"password"`
	// Usermod wants the program usermod. Unlike Salt: the password never stands in a command line, so it means nothing.
	Usermod bool `arg:"use_usermod=False"`
	under
}

// setPassword hands a line to chpasswd. Unlike Salt, which writes the file of a running system without its lock.
func setPassword(c *loader.Call, a hashed) (any, error) {
	if strings.ContainsAny(a.Name, ":\n") || strings.ContainsAny(a.Password, ":\n") {
		return nil, loader.ExecErr("A user's name and the hash of a password contain no colon and no end of a line")
	}
	_, known, err := accounts.UserNamed(c.Ctx, "", a.Name)
	if err != nil || !known {
		return false, err
	}
	if info, err := os.Stat(a.file()); err != nil || info.Mode()&fs.ModeType != 0 {
		return payload.NewMap(0), nil
	}
	program, err := cmdmod.Found(c, "chpasswd")
	if err != nil {
		return nil, err
	}
	_, err = cmdmod.Run(c, a.rooted(program, "-e"), payload.M("stdin", a.Name+":"+a.Password+"\n",
		"output_loglevel", "quiet"))
	if err != nil {
		return nil, err
	}
	after, err := a.named().look()
	return err == nil && after.Value("passwd") == a.Password, err
}

func (a hashed) named() named { return named{a.Name, a.under} }

// passwd runs it with an option and the name of a user, and looks at the user again.
func (a named) passwd(c *loader.Call, option string) (*payload.Map, error) {
	if err := cmdmod.Operand(a.Name); err != nil {
		return nil, err
	}
	argv := append(a.rooted("passwd"), option, a.Name)
	if _, err := cmdmod.Run(c, argv, payload.M("output_loglevel", "quiet")); err != nil {
		return nil, err
	}
	return a.look()
}

func removePassword(c *loader.Call, a named) (bool, error) {
	after, err := a.passwd(c, "-d")
	return err == nil && after.Value("name") == a.Name && hash(after) == "", err
}

func lock(c *loader.Call, a named) (bool, error)   { return a.locked(c, true, "-l") }
func unlock(c *loader.Call, a named) (bool, error) { return a.locked(c, false, "-u") }

// locked makes the password locked, or not.
func (a named) locked(c *loader.Call, want bool, option string) (bool, error) {
	now, err := a.look()
	if err != nil || now.Value("name") == "" {
		return false, err
	}
	if strings.HasPrefix(hash(now), "!") == want {
		return true, nil
	}
	after, err := a.passwd(c, option)
	return err == nil && strings.HasPrefix(hash(after), "!") == want, err
}
