package auth

import "path"

// Rules decide about keys without an operator's decision. The zero value leaves all decisions to the operator. Names in
// brackets are Salt's options. Source: salt/daemons/masterapi.py, AutoKey.
type Rules struct {
	AcceptAll      bool      // [auto_accept]
	AutosignFile   string    // [autosign_file] ids, globs or regular expressions, one a line
	AutorejectFile string    // [autoreject_file]
	GrainsDir      string    // [autosign_grains_dir] for each grain a file of accepted values
	Files          RuleFiles // nil: no file is read
	Matcher        Matcher   // compares ids with the lines of both files; nil: no file is read
}

// Matcher compares ids with the lines of a file: an id, a glob, or a regular expression over the whole id. Its time is
// bounded for any input.
type Matcher interface {
	// Any tells whether a line matches an id. An error means that no line matched, but some took too long to compare.
	Any(lines []string, id string) (hit bool, err error)
}

// ask returns the result of the rules for a key. A stub in minions_autosign/ counts once: it is used up only if no
// other rule signs the key.
func (m *Master) ask(in signInRequest) (reject, sign bool) {
	r := &m.opt.Rules
	reject, known := m.listed(r.AutorejectFile, in.id)
	if reject || !known { // a key that may be on that list is not signed
		return reject, false
	}
	sign = r.AcceptAll || m.signs(r.AutosignFile, in.id) || m.opt.Keys.TakeAutosign(in.id) || r.grainListed(in)
	return false, sign
}

func (m *Master) signs(file, id string) bool {
	hit, _ := m.listed(file, id)
	return hit
}

// listed tells whether a line of a rule file matches an id, and whether the answer is certain.
func (m *Master) listed(file, id string) (hit, known bool) {
	r := &m.opt.Rules
	if file == "" || r.Files == nil || r.Matcher == nil {
		return false, true
	}
	lines, known := r.Files.Lines(file)
	hit, err := r.Matcher.Any(lines, id)
	return hit, hit || known && err == nil
}

// grainListed tells whether one of the minion's grains has an accepted value.
func (r *Rules) grainListed(in signInRequest) bool {
	if r.GrainsDir == "" || r.Files == nil || in.grains.Len() == 0 {
		return false
	}
	names, _ := r.Files.Names(r.GrainsDir)
	for _, name := range names {
		value, ok := in.grains.Get(name)
		if !ok {
			continue
		}
		text, scalar := scalarText(value)
		lines, _ := r.Files.Lines(path.Join(r.GrainsDir, name))
		for _, line := range lines {
			if scalar && line == text && (line == "" || line[0] != '#') {
				return true
			}
		}
	}
	return false
}
