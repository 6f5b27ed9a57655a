// Package x509_v2 is the state module x509: private keys, certificates, requests for certificates and lists of revoked
// ones, in files. How they are made stands in modules/execution/x509_v2, and who owns a file in the state file.managed,
// which this module calls. Answers to salt/states/x509_v2.py.
package x509_v2

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brine/modules/host/safefile"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is x509.
func Module() loader.Module {
	return loader.Module{File: "x509_v2", Name: "x509", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("private_key_managed", privateKey, "Have a private key in a file.",
				"/etc/pki/www.key:", "  x509.private_key_managed:", "    - algo: ec"),
			states.Fn("certificate_managed", certificate, "Have a certificate in a file, and renew it in time.",
				"/etc/pki/www.crt:", "  x509.certificate_managed:", "    - private_key: /etc/pki/www.key",
				"    - signing_policy: www", "    - ca_server: ca", "    - CN: www.example.com"),
			states.Fn("csr_managed", csr, "Have a request for a certificate in a file.",
				"/etc/pki/www.csr:", "  x509.csr_managed:", "    - private_key: /etc/pki/www.key",
				"    - CN: www.example.com"),
			states.Fn("crl_managed", crl, "Have a list of revoked certificates in a file.",
				"/etc/pki/ca.crl:", "  x509.crl_managed:", "    - signing_private_key: /etc/pki/ca.key",
				"    - revoked: []"),
			states.Fn("pem_managed", pem, "Have a PEM text in a file.",
				"/etc/pki/ca.crt:", "  x509.pem_managed:", "    - text: {{ pillar['ca'] | json }}"),
		}
	}}
}

// ofFile are arguments of file.managed that these states take.
var ofFile = []string{"user", "group", "mode", "attrs", "makedirs", "dir_mode", "backup", "create", "follow_symlinks",
	"check_cmd", "tmp_dir", "tmp_ext", "selinux", "file_encoding", "encoding_errors", "win_owner", "win_perms",
	"win_deny_perms",
	"win_inheritance", "win_perms_reset"}

// splitArgs tells the arguments of file.managed from others.
func splitArgs(kw *payload.Map) (file, others *payload.Map) {
	file, others = payload.M("show_changes", false), payload.NewMap(0)
	for key, v := range loader.CleanKWArgs(kw).All() {
		switch name := python.Str(key); {
		case name == "file_encoding":
			file.Set("encoding", v)
		case slices.Contains(ofFile, name):
			file.Set(key, v)
		default:
			others.Set(key, v)
		}
	}
	return file, others
}

// noOthers refuses arguments that nothing takes.
func noOthers(others *payload.Map) error {
	if others.Len() == 0 {
		return nil
	}
	return loader.InvocErr("Unrecognized keyword arguments: %s", python.Str(others.Keys()))
}

// managed is one file with what is to be in it.
type managed struct {
	c        *states.Call
	name     string
	noun     string // "The certificate"
	encoding string
	file     *payload.Map
	changes  *payload.Map
	exists   bool // there is something that can be read, or replaced
	created  bool // what takes the place of a link is told as created only

	// look compares what is in the file at a path, and puts what differs into changes; replace is for what cannot be
	// read.
	look func(path string) (replace bool, err error)
	// make makes what is to be in the file.
	make func() ([]byte, error)
}

// managedFile calls file.managed.
func (m *managed) managedFile(more *payload.Map) (*payload.Map, error) {
	kw := m.file.Clone()
	kw.Update(payload.M("test", m.c.Test, "concurrent", true))
	kw.Update(more)
	v, err := m.c.Salt("state.single", kw, "file.managed", m.name)
	if err != nil {
		return nil, err
	}
	all, ok := v.(*payload.Map)
	if !ok || all.Len() == 0 {
		return nil, loader.ExecErr("Failed running file.managed in x509_v2 state: %s", python.Str(v))
	}
	ret, _ := all.Value(all.Keys()[0]).(*payload.Map)
	return ret.Clone().Set("low", payload.M("name", m.name, "state", "file", "__id__", m.c.Chunk.Value("__id__"), "fun",
		"managed")), nil
}

// plan looks at the file and plans what is done about it. An error of the arguments is a failure of the state.
func (m *managed) plan() (states.Plan, error) {
	m.changes = payload.NewMap(0)
	p, err := m.planFile()
	if wrong(err) {
		return states.Wrong(loader.Message(err)), nil
	}
	return p, err
}

// wrong tells whether an error is one that Salt turns into a failure.
func wrong(err error) bool {
	switch err.(type) {
	case *loader.CommandExecutionError, *loader.InvocationError:
		return true
	}
	return false
}

// with adds the return of file.managed.
func with(p states.Plan, sub *payload.Map) states.Plan { return p.With("sub_state_run", []any{sub}) }

func (m *managed) planFile() (states.Plan, error) {
	sub, err := m.managedFile(payload.M("test", true, "replace", false))
	if err != nil {
		return states.Plan{}, err
	}
	if sub.Value("result") == false {
		return with(states.Wrong("Problem while testing file.managed changes, see its output"), sub), nil
	}
	right := m.noun + " is in the correct state"
	if strings.Contains(sub.Str("comment"), "is not present and is not set for creation") {
		return with(states.Correct(right), sub), nil
	}
	real, replace := m.realName()
	if info, err := os.Stat(real); err == nil && info.Mode().IsRegular() && !replace {
		bad, err := m.look(real)
		if err != nil {
			return states.Plan{}, err
		}
		replace = replace || bad
	} else {
		m.changes.Set("created", m.name)
	}
	if replace && !m.created {
		m.changes.Set("replaced", m.name)
	}
	verb := "created"
	if m.exists {
		verb = "recreated"
	}
	switch {
	case m.changes.Len() == 0 && sub.Value("result") == true && sub.Map("changes").Len() == 0:
		return with(states.Correct(right), sub), nil
	case m.changes.Len() == 0:
		p := with(states.Correct(right), sub)
		p.Apply = func() (states.Done, error) { return m.failing(m.finish(right)) }
		return p, nil
	}
	return with(states.Would(m.noun+" would have been "+verb, m.changes.Clone(), func() (states.Done, error) {
		return m.failing(m.write(real, m.noun+" has been "+verb))
	}), sub), nil
}

// realName is the file that a link leads to; replace says that the link is replaced instead.
func (m *managed) realName() (path string, replace bool) {
	info, err := os.Lstat(m.name)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		return m.name, false
	}
	if v, given := m.file.Get("follow_symlinks"); given && !python.Truth(v) {
		return m.name, true
	}
	if real, err := filepath.EvalSymlinks(m.name); err == nil {
		return real, false
	}
	return m.name, false
}

// failing turns an error of the arguments into a failure.
func (m *managed) failing(done states.Done, err error) (states.Done, error) {
	if wrong(err) {
		return states.Failed(loader.Message(err), nil)
	}
	return done, err
}

// write puts what is made into the file.
func (m *managed) write(real, text string) (states.Done, error) {
	b, err := m.make()
	if err != nil {
		return states.Done{}, err
	}
	if _, replace := m.realName(); replace {
		if err := os.Remove(m.name); err != nil {
			return states.Done{}, loader.ExecErr("%v", err)
		}
	}
	if m.encoding == "pem" {
		return m.end(payload.M("contents", string(b), "replace", true), text, nil)
	}
	return m.end(payload.M("replace", false), text, func() error {
		a, err := attrsOf(real)
		if err == nil {
			err = safefile.Write(real, b, a, true)
		}
		if err != nil {
			return loader.ExecErr("%v", err)
		}
		return nil
	})
}

// attrsOf are owner and mode of a file, which file.managed has set.
func attrsOf(path string) (safefile.Attrs, error) {
	info, err := os.Stat(path)
	if err != nil {
		return safefile.Attrs{}, err
	}
	mode := uint32(info.Mode().Perm())
	return safefile.Attrs{Mode: &mode, Owner: ownerOf(info)}, nil
}

// finish has owner and mode of the file right.
func (m *managed) finish(text string) (states.Done, error) {
	return m.end(payload.M("replace", false), text, nil)
}

// end calls file.managed, and what comes after it.
func (m *managed) end(more *payload.Map, text string, after func() error) (states.Done, error) {
	sub, err := m.managedFile(more)
	if err != nil {
		return states.Done{}, err
	}
	done := states.Done{Result: true, Comment: text, Changes: m.changes}
	if sub.Value("result") == false {
		verb := "create"
		if m.exists {
			verb = "update"
		}
		done = states.Done{Result: false, Comment: "Could not " + verb + " file, see file.managed output"}
	} else if after != nil {
		if err := after(); err != nil {
			return states.Done{}, err
		}
	}
	return done.With("sub_state_run", []any{sub}), nil
}
