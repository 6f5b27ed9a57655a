package cron

import (
	"brine/wire/payload"
	"brine/wire/python"
)

// wish is a line that is wanted; what is nil in it stays as it is in a line that there is.
type wish struct {
	when                           []string // nil: special
	special                        string
	cmd                            string
	commented, comment, identifier any
}

// id is the identifier of a line, or what stands for none.
func (j *job) id() string {
	if python.Truth(j.identifier) {
		return python.Str(j.identifier)
	}
	return noID
}

// matches tells whether a line is that of a command or of an identifier.
func (j *job) matches(cmd string, identifier any) bool {
	id, wanted := j.id(), noID
	if python.Truth(identifier) {
		wanted = python.Str(identifier)
	}
	if id == noID && (j.cmd == cmd || wanted == noID) {
		return j.cmd == cmd // whatever the identifier that is wanted: it gets that
	}
	return id == wanted
}

// find is the first line that matches and that more holds for.
func find(list []*job, cmd string, identifier any, more func(*job) bool) *job {
	for _, j := range list {
		if j.matches(cmd, identifier) && more(j) {
			return j
		}
	}
	return nil
}

// match is the line that the wish is about; nil: there is none.
func (t *table) match(w wish) *job {
	all := append(append([]*job{}, t.crons...), t.special...)
	return find(all, w.cmd, w.identifier, func(*job) bool { return true })
}

// differs tells whether a line has to change. As in Salt, one without an identifier does when none is wanted either.
func (w wish) differs(j *job) bool {
	id := j.identifier
	if id == nil {
		id = noID
	}
	if changes(j.comment, w.comment) || changes(j.commented, w.commented) || changes(w.identifier, id) || j.cmd != w.cmd {
		return true
	}
	if w.when == nil {
		return j.when != nil || j.special != w.special
	}
	for i, field := range w.when {
		if j.when == nil || changes(j.when[i], field) {
			return true
		}
	}
	return false
}

// changes tells whether a value has to change: not where nothing is wanted, and not to a random one where there is a
// value already.
func changes(old, wanted any) bool {
	switch {
	case payload.Equal(old, wanted), wanted == nil:
		return false
	case wanted == "random":
		return old == "*"
	}
	return true
}

// keep completes the wish by the line that it replaces.
func (w *wish) keep(j *job) {
	for i := range w.when {
		if j.when != nil && !changes(j.when[i], w.when[i]) {
			w.when[i] = j.when[i]
		}
	}
	if !changes(j.commented, w.commented) {
		w.commented = j.commented
	}
	if !changes(j.comment, w.comment) {
		w.comment = j.comment
	}
	var id any = j.id()
	if j.cmd == w.cmd && id == noID {
		if python.Truth(w.identifier) {
			id = w.identifier
		} else if j.identifier == nil {
			id = nil
		}
	}
	if !python.Truth(id) || !changes(id, w.identifier) {
		w.identifier = id
	}
}
