package daemon

import (
	"context"
	"fmt"
	"sync"

	"brine/supervisor"
)

// Child is a row of a table of children: an actor, or a subtree with children of its own.
//
// One more child is one more row. If others send to it, its part makes a Ref (supervisor.NewRef), names it in the Spec
// and hands it to them before anything is started. One that depends on the configuration is a row that may be empty.
type Child struct {
	Spec supervisor.Spec // New nil: the configuration does without it
	Tree *Tree           // of a subtree, of which Spec is only the name; nil: it is an actor
}

// Tree is a supervisor among the children.
type Tree struct {
	opt      supervisor.Options
	children []Child
	made     *supervisor.Supervisor
}

// NewTree makes a subtree with the children that it has from the start.
func NewTree(opt supervisor.Options, children ...Child) *Tree {
	return &Tree{opt: opt, children: children}
}

// Row is the subtree as a row of a table, under a name.
func (t *Tree) Row(name string) Child { return Child{Spec: supervisor.Spec{Name: name}, Tree: t} }

// Supervisor is that of the subtree, once it is added.
func (t *Tree) Supervisor() *supervisor.Supervisor { return t.made }

// Start is how the children of a table are started. They are added in the order of the table and stopped in the reverse
// one: a child that takes work from outside comes last.
type Start struct {
	// Ready, if not nil, lets each child begin when the one before is ready, and bounds the wait. With nil all are
	// added at once, and none begins before all are.
	Ready context.Context
	// Around puts something before an actor, for tests; nil: nothing.
	Around func(name string, inner supervisor.Actor) supervisor.Actor
}

// Add adds the children, as far as the first that cannot be added.
func (s Start) Add(to *supervisor.Supervisor, rows []Child) error {
	added := make(chan struct{})
	open := sync.OnceFunc(func() { close(added) })
	defer open()
	if s.Ready != nil {
		open()
	}
	return s.add(to, rows, added)
}

func (s Start) add(to *supervisor.Supervisor, rows []Child, added <-chan struct{}) error {
	for _, row := range rows {
		if err := s.addOne(to, row, added); err != nil {
			return fmt.Errorf("start %s: %w", row.Spec.Name, err)
		}
	}
	return nil
}

func (s Start) addOne(to *supervisor.Supervisor, row Child, added <-chan struct{}) error {
	switch {
	case row.Tree != nil:
		made, err := to.AddTree(row.Spec.Name, row.Tree.opt)
		if err != nil {
			return err
		}
		row.Tree.made = made
		return s.add(made, row.Tree.children, added)
	case row.Spec.New == nil:
		return nil
	}
	ref, err := to.Add(s.waiting(row.Spec, added))
	if err == nil && s.Ready != nil {
		err = ref.Ready(s.Ready)
	}
	return err
}

// waiting is a child that begins when all are added.
func (s Start) waiting(spec supervisor.Spec, added <-chan struct{}) supervisor.Spec {
	inner := spec.New
	spec.New = func() supervisor.Actor {
		<-added
		made := inner()
		if s.Around != nil {
			made = s.Around(spec.Name, made)
		}
		return made
	}
	return spec
}
