// Package ssh_known_hosts is the state module ssh_known_hosts: other hosts are known by their keys, to a user or to
// all, or are not known. It stands on the execution module ssh. Answers to salt/states/ssh_known_hosts.py.
package ssh_known_hosts

import (
	"errors"
	"path/filepath"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module ssh_known_hosts.
func Module() loader.Module {
	return loader.Module{File: "ssh_known_hosts", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("present", present, "Let a host be known by a key, by the fingerprint of one that it offers, or by "+
				"all that it offers.", "github.com:", "  ssh_known_hosts.present:", "    - user: root",
				"    - fingerprint: 16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48"),
			states.Fn("absent", absent, "Let a host not be known.", "github.com: {ssh_known_hosts.absent: [{user: root}]}"),
		}
	}}
}

type wanted struct {
	Name        string `arg:"name"`
	User        any    `arg:"user=None"`
	Fingerprint any    `arg:"fingerprint=None"`
	Key         any    `arg:"key=None"`
	Port        any    `arg:"port=None"`
	Enc         any    `arg:"enc=None"`
	Config      any    `arg:"config=None"`
	Hashed      any    `arg:"hash_known_hosts=True"`
	Timeout     any    `arg:"timeout=5"`
	HashType    any    `arg:"fingerprint_hash_type=None"`
}

// configOf is the file that is meant; wrong says that it cannot be found.
func configOf(user, config any) (path, wrong string) {
	path = loader.Text(config)
	switch known := python.Truth(user); {
	case path == "" && known:
		return ".ssh/known_hosts", ""
	case path == "":
		return "/etc/ssh/ssh_known_hosts", ""
	case !known && !filepath.IsAbs(path):
		return path, `If not specifying a "user", specify an absolute "config".`
	}
	return path, ""
}

// present plans that a host is known. Unlike Salt: arguments that contradict each other are wrong in a real run, too.
func present(c *states.Call, a wanted) (states.Plan, error) {
	config, wrong := configOf(a.User, a.Config)
	switch {
	case wrong != "":
		return states.Wrong(wrong), nil
	case python.Truth(a.Key) && python.Truth(a.Fingerprint):
		return states.Wrong(`Specify either "key" or "fingerprint", not both.`), nil
	case python.Truth(a.Key) && !python.Truth(a.Enc):
		return states.Wrong(`Required argument "enc" if using "key" argument.`), nil
	}
	status, err := c.Salt("ssh.check_known_host", payload.M("key", a.Key, "fingerprint", a.Fingerprint, "config", config,
		"port", a.Port, "fingerprint_hash_type", a.HashType), a.User, a.Name)
	var missing *loader.CommandNotFoundError
	if errors.As(err, &missing) {
		return states.Wrong("ssh.check_known_host error: " + loader.Message(err)), nil
	}
	if err != nil {
		return states.Plan{}, err
	}
	if m, ok := status.(*payload.Map); ok {
		return states.Wrong(m.Value("error")), nil
	}
	p := states.Would("Key for "+a.Name+" is set to be updated in "+config, nil, func() (states.Done, error) {
		return a.set(c, config)
	})
	switch status {
	case "exists": // the host may offer others meanwhile
		p.Result, p.Comment = true, "Host "+a.Name+" is already in "+config
	case "add":
		p.Comment = "Key for " + a.Name + " is set to be added to " + config
	}
	return p, nil
}

// set lets the host be known.
func (a wanted) set(c *states.Call, config string) (states.Done, error) {
	v, err := c.Salt("ssh.set_known_host", payload.M("user", a.User, "hostname", a.Name, "fingerprint", a.Fingerprint,
		"key", a.Key, "port", a.Port, "enc", a.Enc, "config", config, "hash_known_hosts", a.Hashed,
		"timeout", a.Timeout, "fingerprint_hash_type", a.HashType))
	result, ok := v.(*payload.Map)
	if err != nil || !ok {
		return states.Done{}, err
	}
	switch result.Value("status") {
	case "exists":
		return states.Changed(a.Name+" already exists in "+config, nil)
	case "error":
		return states.Failed(result.Value("error"), nil)
	}
	first := payload.NewMap(0)
	if list := result.List("new"); len(list) > 0 {
		first, _ = list[0].(*payload.Map)
	}
	kind, shown := "key(s)", ""
	switch {
	case python.Truth(a.Key):
		kind, shown = "key", " (key: "+python.Str(first.Value("key"))+")"
	case python.Truth(a.Fingerprint):
		kind, shown = "key", " (fingerprint: "+python.Str(first.Value("fingerprint"))+")"
	case python.Truth(a.Enc):
		kind, shown = python.Str(a.Enc)+" key", " (key: "+python.Str(first.Value("key"))+")"
	}
	return states.Changed(a.Name+"'s "+kind+" saved to "+config+shown,
		payload.M("old", result.Value("old"), "new", result.Value("new")))
}

type unwanted struct {
	Name   string `arg:"name"`
	User   any    `arg:"user=None"`
	Config any    `arg:"config=None"`
}

func absent(c *states.Call, a unwanted) (states.Plan, error) {
	config, wrong := configOf(a.User, a.Config)
	if wrong != "" {
		return states.Wrong(wrong), nil
	}
	known, err := c.Salt("ssh.get_known_host_entries", payload.M("user", a.User, "hostname", a.Name, "config", config))
	if err != nil {
		return states.Plan{}, err
	}
	if m, ok := known.(*payload.Map); ok { // unlike Salt, which goes on with what is wrong as if it were a key
		return states.Wrong(m.Value("error")), nil
	}
	if !python.Truth(known) {
		return states.Correct("Host is already absent"), nil
	}
	return states.Would("Key for "+a.Name+" is set to be removed from "+config, nil, func() (states.Done, error) {
		v, err := c.Salt("ssh.rm_known_host", payload.M("user", a.User, "hostname", a.Name, "config", config))
		result, _ := v.(*payload.Map)
		if err == nil && result.Value("status") == "error" {
			return states.Failed(result.Value("error"), nil)
		}
		return states.Done{Result: true, Comment: result.Value("comment"),
			Changes: payload.M("old", known, "new", nil)}, err
	}), nil
}
