package user

import (
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// wanted are the arguments of user.present.
type wanted struct {
	Name string `arg:"name"`
	account
	secret
	Shell  any  `arg:"shell=None"`
	Unique bool `arg:"unique=True"`
	System bool `arg:"system=False"`
	person
	LoginClass any `arg:"loginclass=None"`
	ages
	windows
	NoLogInit      bool `arg:"nologinit=False"`
	AllowUIDChange bool `arg:"allow_uid_change=False"`
	AllowGIDChange bool `arg:"allow_gid_change=False"`
	PasswordLock   any  `arg:"password_lock=None"`
	Local          bool `arg:"local=False"`
}

type account struct {
	UID            any  `arg:"uid=None"`
	GID            any  `arg:"gid=None"`
	UserGroup      any  `arg:"usergroup=None"`
	Groups         any  `arg:"groups=None"`
	OptionalGroups any  `arg:"optional_groups=None"`
	RemoveGroups   bool `arg:"remove_groups=True"`
	Home           any  `arg:"home=None"`
	CreateHome     bool `arg:"createhome=True"`
	PersistHome    bool `arg:"persist_home=False"`
}

type secret struct {
	Password        any  `arg:"password=None"`
	HashPassword    bool `arg:"hash_password=False"`
	EnforcePassword bool `arg:"enforce_password=True"`
	EmptyPassword   bool `arg:"empty_password=False"`
}

type person struct {
	FullName   any `arg:"fullname=None"`
	RoomNumber any `arg:"roomnumber=None"`
	WorkPhone  any `arg:"workphone=None"`
	HomePhone  any `arg:"homephone=None"`
	Other      any `arg:"other=None"`
}

type ages struct {
	Date      any `arg:"date=None"`
	MinDays   any `arg:"mindays=None"`
	MaxDays   any `arg:"maxdays=None"`
	InactDays any `arg:"inactdays=None"`
	WarnDays  any `arg:"warndays=None"`
	Expire    any `arg:"expire=None"`
}

// windows are arguments for hosts with Windows.
type windows struct {
	HomeDrive   any `arg:"win_homedrive=None"`
	Profile     any `arg:"win_profile=None"`
	LogonScript any `arg:"win_logonscript=None"`
	Description any `arg:"win_description=None"`
}

// unheard are warnings of arguments that mean nothing here. Unlike Salt, which says nothing of them.
func (a *wanted) unheard() []any {
	var out []any
	for _, given := range []struct {
		name  string
		value any
	}{{"loginclass", a.LoginClass}, {"win_homedrive", a.HomeDrive}, {"win_profile", a.Profile},
		{"win_logonscript", a.LogonScript}, {"win_description", a.Description}} {
		if python.Truth(given.value) {
			out = append(out, "The argument '"+given.name+"' means nothing on Linux")
		}
	}
	return out
}

// described are the parts of the comment of a user, with the names of their arguments and functions.
func (a *wanted) described() []struct {
	key   string
	value *any
} {
	return []struct {
		key   string
		value *any
	}{{"fullname", &a.FullName}, {"roomnumber", &a.RoomNumber}, {"workphone", &a.WorkPhone},
		{"homephone", &a.HomePhone}, {"other", &a.Other}}
}

// asTexts makes the parts of the comment texts, and says what is wrong with the first three of them. Unlike Salt: an
// end of a line is wrong in all of them; in Salt usermod refuses it.
func (a *wanted) asTexts() (wrong string) {
	for i, part := range a.described() {
		if *part.value == nil {
			continue
		}
		text := python.Str(*part.value)
		*part.value = text
		if i < 3 && wrong == "" && strings.Contains(text, ",") {
			wrong = "Unsupported char ',' in " + text
		}
	}
	return wrong
}

// schemes are the names of the hashes by what stands between the first two dollars of one.
var schemes = map[string]any{"1": "md5", "2a": "blowfish", "5": "sha256", "6": "sha512"}

// hash puts the hash in the place of a password that is given in clear text. A user who has a hash keeps its salt, so
// that the same password is no change.
func (a *wanted) hash(c *states.Call) error {
	if !python.Truth(a.Password) || !a.HashPassword {
		return nil
	}
	line, err := look(c, "shadow.info", a.Name, false)
	if err != nil {
		return err
	}
	var kw *payload.Map
	if parts := strings.SplitN(python.Str(line.Value("passwd")), "$", 5); len(parts) == 4 {
		kw = payload.M("crypt_salt", parts[2], "algorithm", schemes[parts[1]])
	}
	a.Password, err = c.Salt("shadow.gen_password", kw, a.Password)
	if err == nil && a.Password == "*0" {
		err = loader.ExecErr("The password of user %s cannot be hashed", a.Name)
	}
	return err
}
