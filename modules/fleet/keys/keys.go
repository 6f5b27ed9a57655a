// Package keys is the master's store of minion keys: the folders below pki_dir as Salt's salt-key and its
// localfs_key driver know them, and the operations on them (list, accept, reject, delete, fingerprint). Real
// salt-key may work on the same folders at the same time: what it does counts at once. OpenStore and Configured read
// from the configuration of a master what store and manager need. Answers to salt/key.py and salt/cache/localfs_key.py.
package keys

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"brine/wire/payload"
)

// Status is Salt's word for a group of keys; but for Local it is the group's folder too.
type Status string

// The groups of keys. Local is the master's own key files.
const (
	Accepted Status = "minions"
	Pending  Status = "minions_pre"
	Rejected Status = "minions_rejected"
	Denied   Status = "minions_denied"
	Local    Status = "local"
)

// autosignDir holds one empty stub for each id whose next key is accepted once.
const autosignDir = "minions_autosign"

// ErrInvalidID means an id that can be no file of a key folder.
var ErrInvalidID = errors.New("keys: invalid minion id")

// ErrInvalidStatus means a status that is no group of minions' keys.
var ErrInvalidStatus = errors.New("keys: no such status of a key")

// order is the order in which 3008 lists and deletes (salt/key.py, list_keys).
var order = [...]Status{Pending, Rejected, Accepted, Denied}

// State is the word of 3008's key store and of salt/key events: accepted, pending, rejected, denied.
func (s Status) State() string {
	switch s {
	case Accepted:
		return "accepted"
	case Pending:
		return "pending"
	case Rejected:
		return "rejected"
	case Denied:
		return "denied"
	}
	return string(s)
}

// Group is the keys of one status.
type Group struct {
	Status Status
	IDs    []string
}

// Groups are keys by status, in the order Salt shows them.
type Groups []Group

// IDs are the ids of one status; nil when the status is not among the groups.
func (g Groups) IDs(st Status) []string {
	for i := range g {
		if g[i].Status == st {
			return g[i].IDs
		}
	}
	return nil
}

// Len counts the ids of all groups.
func (g Groups) Len() int {
	n := 0
	for i := range g {
		n += len(g[i].IDs)
	}
	return n
}

// add appends an id to its group, making the group when it is not there.
func (g Groups) add(st Status, id string) Groups {
	for i := range g {
		if g[i].Status == st {
			g[i].IDs = append(g[i].IDs, id)
			return g
		}
	}
	return append(g, Group{Status: st, IDs: []string{id}})
}

// ValidID tells whether id can name a file directly below a key folder.
func ValidID(id string) bool { return payload.ValidID(id) }

func checkID(id string) error {
	if !ValidID(id) {
		return fmt.Errorf("%w: %s", ErrInvalidID, payload.Show(id))
	}
	return nil
}

// Check tells of a status that is none, and of an id that is none.
func (g Groups) Check() error {
	for _, one := range g {
		if !slices.Contains(order[:], one.Status) {
			return fmt.Errorf("%w: %q", ErrInvalidStatus, string(one.Status))
		}
		for _, id := range one.IDs {
			if err := checkID(id); err != nil {
				return err
			}
		}
	}
	return nil
}

// SortIDs orders ids as Salt lists them: ignoring case. Ids that differ in case only go by code point.
func SortIDs(ids []string) {
	type pair struct{ folded, id string }
	all := make([]pair, len(ids))
	for i, id := range ids {
		all[i] = pair{strings.ToLower(id), id}
	}
	sort.Slice(all, func(i, j int) bool {
		if all[i].folded != all[j].folded {
			return all[i].folded < all[j].folded
		}
		return all[i].id < all[j].id
	})
	for i := range all {
		ids[i] = all[i].id
	}
}
