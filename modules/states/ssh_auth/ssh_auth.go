// Package ssh_auth is the state module ssh_auth: keys let others log in as a user, or do not. It stands on the
// execution module ssh. Answers to salt/states/ssh_auth.py.
package ssh_auth

import (
	"slices"
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/pattern"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module ssh_auth.
func Module() loader.Module {
	return loader.Module{File: "ssh_auth", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("present", present, "Let a key, or the keys of a file, log in as a user.",
				"AAAAB3NzaC1kc3MAAACBAL0sQ9fJ5bYTEyY==:", "  ssh_auth.present:", "    - user: root", "    - enc: ssh-dss"),
			states.Fn("absent", absent, "Let a key, or the keys of a file, not log in as a user.",
				"AAAAB3NzaC1kc3MAAACBAL0sQ9fJ5bYTEyY==: {ssh_auth.absent: [{user: root}]}"),
			states.Fn("manage", manage, "Let these keys, and no others, log in as a user.",
				"keys: {ssh_auth.manage: [{user: root}, {ssh_keys: [AAAAB3Nza]}]}"),
		}
	}}
}

type wanted struct {
	Name string `arg:"name"`
	User string `arg:"user"`
	described
	KW *payload.Map `arg:"**kwargs"`
}

type unwanted struct {
	Name string `arg:"name"`
	User string `arg:"user"`
	described
}

type described struct {
	Enc      any    `arg:"enc=ssh-rsa"`
	Comment  any    `arg:"comment=''"`
	Source   string `arg:"source=''"`
	Options  any    `arg:"options=None"`
	Config   any    `arg:"config=.ssh/authorized_keys"`
	HashType any    `arg:"fingerprint_hash_type=None"`
}

// whole is a key as it stands in a file: options, and from the type on the rest.
var whole = pattern.New(`^(.*?)\s?((?:sk-)?(?:ssh-|ecds)[\w@.-]+\s.+)\n?$`)

// read takes a name apart that is a whole line, or a key with a comment.
func (d *described) read(name string) (string, error) {
	if m := whole.FindStringSubmatch(name); m != nil {
		if m[1] != "" {
			d.Options = payload.AnyList(strings.Split(m[1], ","))
		}
		parts := splitN(m[2], 3)
		d.Enc = parts[0]
		if len(parts) == 3 {
			d.Comment = parts[2]
		}
		return parts[1], nil
	}
	parts := splitN(name, 2)
	if len(parts) == 0 {
		return "", loader.Raise("IndexError", "list index out of range")
	}
	if len(parts) == 2 {
		d.Comment = parts[1]
	}
	return parts[0], nil
}

// splitN splits at blanks into n words at most; the last one keeps its own.
func splitN(text string, n int) []string {
	var out []string
	for rest := strings.TrimLeft(text, blanks); rest != ""; rest = strings.TrimLeft(rest, blanks) {
		end := strings.IndexAny(rest, blanks)
		if end < 0 || len(out) == n-1 {
			return append(out, rest)
		}
		out, rest = append(out, rest[:end]), rest[end:]
	}
	return out
}

const blanks = " \t\n\r\v\f"

// keywords are the arguments of functions that say which file is meant.
func (d *described) keywords() *payload.Map {
	return payload.M("config", d.Config, "fingerprint_hash_type", d.HashType)
}

// status tells of a key whether it is there: add, update or exists.
func (d *described) status(c *states.Call, user, key string) (any, error) {
	options := d.Options
	if !python.Truth(options) {
		options = []any{}
	}
	return c.Salt("ssh.check_key", d.keywords(), user, key, d.Enc, d.Comment, options)
}

// source are the keys of the file with what is to be done about each; wrong says why there are none.
func (d *described) source(c *states.Call, user, doing string) (keys *payload.Map, wrong string, err error) {
	path, err := c.Salt("cp.cache_file", nil, d.Source, c.Saltenv)
	if err != nil {
		return nil, "", err
	}
	if !python.Truth(path) {
		return nil, "Failed to " + doing + " the ssh key. Source file " + d.Source + " is missing", nil
	}
	v, err := c.Salt("ssh.check_key_file", d.keywords().Set("saltenv", c.Saltenv), user, d.Source)
	keys, _ = v.(*payload.Map)
	if err == nil && keys.Len() == 0 {
		wrong = "No keys detected in " + d.Source + ". Is file properly formatted?"
	}
	return keys, wrong, err
}

func present(c *states.Call, a wanted) (states.Plan, error) {
	d := &a.described
	if a.Source != "" {
		return d.presentFile(c, a.Name, a.User)
	}
	key, err := d.read(a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	apply := func() (states.Done, error) {
		options := d.Options
		if !python.Truth(options) {
			options = []any{}
		}
		v, err := c.Salt("ssh.set_auth_key", d.keywords().Set("enc", d.Enc).Set("comment", d.Comment).
			Set("options", options), a.User, key)
		return came(v, err, key, a.User)
	}
	status, err := d.status(c, a.User, key)
	switch {
	case err != nil:
		return states.Plan{}, err
	case status == "exists":
		p := states.Correct("The authorized host key " + key + " is already present for user " + a.User)
		return called(p, a.Name), nil
	case status == "update":
		return called(states.Would("Key "+key+" for user "+a.User+" is set to be updated", nil, apply), a.Name), nil
	}
	return called(states.Would("Key "+key+" for user "+a.User+" is set to be added", nil, apply), a.Name), nil
}

func called(p states.Plan, name string) states.Plan {
	p.Name = name
	return p
}

func (d *described) presentFile(c *states.Call, name, user string) (states.Plan, error) {
	keys, wrong, err := d.source(c, user, "add")
	if err != nil || wrong != "" {
		return states.Wrong(wrong), err
	}
	text := ""
	for key, status := range keys.All() {
		if status != "exists" {
			text += "Set to " + python.Str(status) + ": " + python.Str(key) + "\n"
		}
	}
	p := states.Would(text, nil, func() (states.Done, error) {
		v, err := c.Salt("ssh.set_auth_key_from_file", d.keywords().Set("saltenv", c.Saltenv).
			Set("options", d.Options), user, d.Source)
		return came(v, err, name, user)
	})
	if text == "" {
		p.Result, p.Comment = true, "All host keys in file "+d.Source+" are already present"
	}
	return p, nil
}

// came is what setting a key came to.
func came(v any, err error, key, user string) (states.Done, error) {
	if err != nil {
		return states.Done{}, err
	}
	text := "The authorized host key " + key + " for user " + user + " was "
	switch v {
	case "replace":
		return states.Changed(text+"updated", payload.M(key, "Updated"))
	case "new":
		return states.Changed(text+"added", payload.M(key, "New"))
	case "no change":
		return states.Changed("The authorized host key "+key+" is already present for user "+user, nil)
	case "fail":
		return states.Failed("Failed to add the ssh key. Is the home directory available, and/or does the key file exist?",
			nil)
	}
	return states.Failed("Invalid public ssh key, most likely has spaces or invalid syntax", nil)
}

func absent(c *states.Call, a unwanted) (states.Plan, error) {
	d := &a.described
	if a.Source != "" {
		return d.absentFile(c, a.Name, a.User)
	}
	key, err := d.read(a.Name)
	if err != nil {
		return states.Plan{}, err
	}
	apply := func() (states.Done, error) {
		v, err := c.Salt("ssh.rm_auth_key", d.keywords(), a.User, key)
		return went(v, err, key)
	}
	status, err := d.status(c, a.User, key)
	if err != nil {
		return states.Plan{}, err
	}
	p := states.Would("Key "+key+" for user "+a.User+" is set for removal", nil, apply)
	if status == "add" {
		p.Result, p.Comment = true, "Key is already absent"
	}
	return called(p, a.Name), nil
}

// went is what removing a key came to.
func went(v any, err error, key string) (states.Done, error) {
	switch v {
	case "Key removed":
		return states.Done{Result: true, Comment: v, Changes: payload.M(key, "Removed")}, err
	case "Key not removed", "User authorized keys file not present": // the first is a success in Salt
		return states.Done{Result: false, Comment: v}, err
	}
	return states.Done{Result: true, Comment: v}, err
}

func (d *described) absentFile(c *states.Call, name, user string) (states.Plan, error) {
	keys, wrong, err := d.source(c, user, "remove")
	if err != nil || wrong != "" {
		return states.Wrong(wrong), err
	}
	text := ""
	for key, status := range keys.All() {
		if status != "add" {
			text += "Set to remove: " + python.Str(key) + "\n"
		}
	}
	p := states.Would(text, nil, func() (states.Done, error) {
		v, err := c.Salt("ssh.rm_auth_key_from_file", d.keywords().Set("saltenv", c.Saltenv), user, d.Source)
		return went(v, err, name)
	})
	if text == "" {
		p.Result, p.Comment = true, "All host keys in file "+d.Source+" are already absent"
	}
	return p, nil
}

type managed struct {
	Name    string `arg:"name"`
	SSHKeys any    `arg:"ssh_keys"`
	User    string `arg:"user"`
	described
	KW *payload.Map `arg:"**kwargs"`
}

// manage plans to remove keys that are not listed, and to add those that are.
func manage(c *states.Call, a managed) (states.Plan, error) {
	list := payload.Texts(a.SSHKeys)
	if text, ok := a.SSHKeys.(string); ok { // unlike Salt, where each letter is a key
		list = []string{text}
	}
	v, err := c.Salt("ssh.auth_keys", a.keywords().Set("user", a.User))
	if err != nil {
		return states.Plan{}, err
	}
	now, _ := v.(*payload.Map)
	m := managing{shown: states.Done{Result: true, Comment: ""}}
	for _, key := range unlisted(now, list) {
		p, err := absent(c, unwanted{key, a.User, a.described})
		if err != nil {
			return states.Plan{}, err
		}
		m.shown.Comment, m.shown.Result = key+" Key set for removal", nil
		m.removals = append(m.removals, removal{key, p})
	}
	for _, key := range list {
		p, err := present(c, wanted{key, a.User, a.described, a.KW})
		if err != nil {
			return states.Plan{}, err
		}
		add(&m.shown, states.Done{Result: p.Result, Comment: p.Comment, Changes: p.Changes})
		m.additions = append(m.additions, p)
	}
	return states.Plan{Name: "", Result: m.shown.Result, Comment: m.shown.Comment, Apply: m.apply}, nil
}

// unlisted are the keys that are there and in none of the lines.
func unlisted(now *payload.Map, list []string) (out []string) {
	var words []string
	for _, line := range list {
		words = append(words, strings.Split(line, " ")...)
	}
	for _, key := range payload.Texts(now.Keys()) {
		if !slices.Contains(words, key) {
			out = append(out, key)
		}
	}
	return out
}

type (
	managing struct {
		shown     states.Done
		removals  []removal
		additions []states.Plan
	}
	removal struct {
		key  string
		plan states.Plan
	}
)

// add puts what one key came to into what all came to.
func add(all *states.Done, one states.Done) {
	if one.Changes.Len() > 0 {
		all.Changes.Update(one.Changes)
	} else {
		all.Comment = strings.TrimSpace(python.Str(all.Comment) + "\n" + python.Str(one.Comment))
	}
	switch {
	case one.Result == nil:
		all.Result = nil
	case !python.Truth(one.Result):
		all.Result = false
	}
}

func (m managing) apply() (states.Done, error) {
	all := states.Done{Result: true, Comment: "", Changes: payload.NewMap(0)}
	for _, r := range m.removals {
		done, err := r.plan.Apply()
		if err != nil {
			return all, err
		}
		all.Changes.Set(r.key, done.Comment)
	}
	for _, p := range m.additions {
		done := states.Done{Result: p.Result, Comment: p.Comment}
		if p.Apply != nil {
			var err error
			if done, err = p.Apply(); err != nil {
				return all, err
			}
		}
		add(&all, done)
	}
	return all, nil
}
