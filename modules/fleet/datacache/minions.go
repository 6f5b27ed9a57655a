package datacache

import (
	"fmt"
	"slices"

	"brine/modules/host/packedfile"
	"brine/wire/payload"
)

// StoreGrains keeps the grains that a minion has sent.
func (b *Banks) StoreGrains(id string, grains *payload.Map) error {
	return b.Store(BankGrains, id, grains)
}

// StorePillar keeps the pillar that was compiled for a minion; env is "" for the default environment.
func (b *Banks) StorePillar(id, env string, pillar *payload.Map) error {
	if env != "" {
		id += ":" + env
	}
	return b.Store(BankPillar, id, pillar)
}

// Mine returns the mine of a minion; nil when there is none.
func (b *Banks) Mine(id string) (*payload.Map, error) { return b.Data(BankMine, id) }

// StoreMine replaces the mine of a minion.
func (b *Banks) StoreMine(id string, data *payload.Map) error { return b.Store(BankMine, id, data) }

// FlushMine removes the mine of a minion, that of an old release included.
func (b *Banks) FlushMine(id string) error {
	if _, err := b.Flush(bankOld+"/"+id, "mine"); err != nil {
		return err
	}
	_, err := b.Flush(BankMine, id)
	return err
}

// FlushMinion removes all that is known about a minion.
func (b *Banks) FlushMinion(id string) error {
	for _, at := range [][2]string{{BankGrains, id}, {BankPillar, id}, {BankMine, id}, {bankOld + "/" + id, ""}} {
		if _, err := b.Flush(at[0], at[1]); err != nil {
			return err
		}
	}
	return nil
}

// Data returns the grains, pillar or mine of a minion; nil when there is none. What a release before 3008 has left
// counts where nothing newer stands.
func (b *Banks) Data(bank, id string) (*payload.Map, error) {
	v, err := b.Fetch(bank, id)
	if err == nil && v == nil {
		v, err = b.oldData(bank, id)
	}
	if err != nil || v == nil {
		return nil, err
	}
	m, ok := v.(*payload.Map)
	if !ok {
		err := fmt.Errorf("data cache: %s of %s: %w: it holds no map", bank, id, packedfile.ErrDamaged)
		if file, perr := b.path(bank, id); perr == nil && b.damaged(file, err) {
			return nil, nil
		}
		return nil, err
	}
	return m, nil
}

// oldData looks into minions/ID.
func (b *Banks) oldData(bank, id string) (any, error) {
	if bank == BankMine {
		return b.Fetch(bankOld+"/"+id, "mine")
	}
	v, err := b.Fetch(bankOld+"/"+id, "data")
	if data, ok := v.(*payload.Map); ok {
		return data.Value(bank), err
	}
	return nil, err
}

// Cached lists the ids for which a bank holds data, those of an old release included, in order.
func (b *Banks) Cached(bank string) ([]string, error) {
	ids, err := b.List(bank)
	if err != nil {
		return nil, err
	}
	old, err := b.List(bankOld)
	if err != nil {
		return nil, err
	}
	file := "data"
	if bank == BankMine {
		file = "mine"
	}
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	for _, id := range old {
		if !known[id] && b.Contains(bankOld+"/"+id, file) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}
