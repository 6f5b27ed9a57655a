// Package datastore is the minion's own store of values, one file in its cache directory, as the execution module data
// keeps it. It answers to salt/modules/data.py.
package datastore

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"brine/wire/disk/setaside"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// Store is the file. One that cannot be read is an empty store; a damaged one is set aside.
type Store struct{ path string }

// In is the store in a cache directory.
func In(cachedir string) Store { return Store{filepath.Join(cachedir, "datastore")} }

// Get is one value; nil when there is none.
func (s Store) Get(key string) any { return s.load().Value(key) }

func (s Store) load() *payload.Map {
	b, err := os.ReadFile(s.path)
	if err != nil {
		return payload.NewMap(0)
	}
	m, err := payload.UnmarshalMap(b)
	if err != nil { // what it held is kept for whoever can read it
		_, _ = setaside.Move(s.path, time.Now()) // if not, the next Update replaces it
		return payload.NewMap(0)
	}
	return m
}

// Update sets one value. The file is replaced whole, so a reader never sees half of it.
func (s Store) Update(key string, value any) error {
	b, err := payload.MarshalBin(s.load().Set(key, value))
	if err != nil {
		return fmt.Errorf("pack the data store: %w", err)
	}
	if err := wholefile.Write(s.path, b, wholefile.Options{}); err != nil {
		return fmt.Errorf("write the data store: %w", err)
	}
	return nil
}
