package auth

import "path"

// Rules decide about keys that no operator has decided on yet. The zero value leaves all to the operator.
// Names in brackets are Salt's options. Source: salt/daemons/masterapi.py, AutoKey.
type Rules struct {
	AcceptAll      bool      // [auto_accept]
	AutosignFile   string    // [autosign_file] ids, globs or regular expressions, one a line
	AutorejectFile string    // [autoreject_file]
	GrainsDir      string    // [autosign_grains_dir] a file of accepted values for each grain
	Files          RuleFiles // nil: no file is read
}

// ask returns what the rules say about a key. A stub in minions_autosign/ counts once: it is taken only when
// no other rule signs the key.
func (m *Master) ask(in signInRequest) (reject, sign bool) {
	r := &m.opt.Rules
	reject = m.listed(r.AutorejectFile, in.id)
	if reject {
		return true, false
	}
	sign = r.AcceptAll || m.listed(r.AutosignFile, in.id) || m.opt.Keys.TakeAutosign(in.id) || r.grainListed(in)
	return false, sign
}

// listed tells whether a line of a rule file matches an id.
func (m *Master) listed(file, id string) bool {
	r := &m.opt.Rules
	if file == "" || r.Files == nil {
		return false
	}
	for _, line := range r.Files.Lines(file) {
		if line != "" && line[0] != '#' && m.patterns.match(line, id) {
			return true
		}
	}
	return false
}

// grainListed tells whether a grain that the minion sent has one of the accepted values.
func (r *Rules) grainListed(in signInRequest) bool {
	if r.GrainsDir == "" || r.Files == nil || in.grains.Len() == 0 {
		return false
	}
	for _, name := range r.Files.Names(r.GrainsDir) {
		value, ok := in.grains.Get(name)
		if !ok {
			continue
		}
		text, scalar := pythonText(value)
		for _, line := range r.Files.Lines(path.Join(r.GrainsDir, name)) {
			if scalar && line == text && (line == "" || line[0] != '#') {
				return true
			}
		}
	}
	return false
}
