package execution

import (
	"fmt"
	"os"
	"path/filepath"

	"brine/modules/host/wholefile"
	"brine/modules/loader"
	"brine/wire/payload"
)

// datastore is the minion's own store of values, one file in the cache directory, as module data keeps it
// (salt/modules/data.py). A file that cannot be read is an empty store.
type datastore struct{ path string }

func openDatastore(c *loader.Call) datastore {
	return datastore{filepath.Join(c.Opts().Str("cachedir"), "datastore")}
}

func (d datastore) get(key string) any { return d.load().Value(key) }

func (d datastore) load() *payload.Map {
	b, err := os.ReadFile(d.path)
	if err != nil {
		return payload.NewMap(0)
	}
	m, err := payload.UnmarshalMap(b)
	if err != nil {
		return payload.NewMap(0)
	}
	return m
}

// update sets one value. The file is replaced whole, so a reader never sees half of it.
func (d datastore) update(key string, value any) error {
	b, err := payload.MarshalBin(d.load().Set(key, value))
	if err != nil {
		return fmt.Errorf("pack the data store: %w", err)
	}
	if err := wholefile.Write(d.path, b, wholefile.Options{}); err != nil {
		return fmt.Errorf("write the data store: %w", err)
	}
	return nil
}
