package main

import (
	"brine/modules/keys"
	"brine/modules/returners"
)

// targetSource is what tools know of a master's minions when they expand a target.
type targetSource struct {
	keys *keys.Store
	*returners.Banks
}

// Accepted lists the ids with an accepted key.
func (t targetSource) Accepted() ([]string, error) { return t.keys.IDs(keys.Accepted) }

// onlyTexts keeps the texts of a list.
func onlyTexts(list []any) []string {
	out := make([]string, 0, len(list))
	for _, v := range list {
		if t, ok := v.(string); ok {
			out = append(out, t)
		}
	}
	return out
}

// keyCache is the data cache as the key manager clears it.
type keyCache struct{ *returners.Banks }

// Flush removes an entry; one that is not there is no error.
func (c keyCache) Flush(bank, key string) error {
	_, err := c.Banks.Flush(bank, key)
	return err
}
