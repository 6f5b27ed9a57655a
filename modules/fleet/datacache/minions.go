package datacache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"brine/wire/disk/packedfile"
	"brine/wire/payload"
)

// Banks of the newer form, with the id of a minion as key.
const (
	BankGrains = "grains"
	BankPillar = "pillar"
	BankMine   = "mine"
)

// standing is a file that holds the grains, the pillar or the mine of a minion.
type standing struct {
	file  string
	info  fs.FileInfo // nil: there is no such file
	older bool        // it has the older form
}

// standing finds the newest file of a minion in a bank.
func (b *Banks) standing(bank, id string) (standing, error) {
	file, err := b.path(bank, id)
	if err != nil {
		return standing{}, err
	}
	found := standing{file: file}
	if info, err := os.Lstat(file); err == nil && info.Mode().IsRegular() {
		found.info = info
	}
	older, info := b.original(bank, id)
	if info != nil && (found.info == nil || info.ModTime().After(found.info.ModTime())) {
		found = standing{older, info, true}
	}
	return found, nil
}

// Data returns the grains, pillar or mine of a minion; nil when there is none. A damaged file is set aside, and what
// the other form holds counts; one that cannot be set aside is an error that wraps packedfile.ErrDamaged.
func (b *Banks) Data(bank, id string) (*payload.Map, error) {
	for range formsOfData - 1 {
		if m, again, err := b.standingData(bank, id); !again {
			return m, err
		}
	}
	m, _, err := b.standingData(bank, id)
	return m, err
}

// formsOfData is in how many files the same data may stand.
const formsOfData = 2

// standingData reads the file that counts now. Again means that it was damaged and is set aside.
func (b *Banks) standingData(bank, id string) (m *payload.Map, again bool, err error) {
	at, err := b.standing(bank, id)
	if err != nil || at.info == nil {
		return nil, false, err
	}
	v, err := packedfile.Read(at.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if errors.Is(err, packedfile.ErrDamaged) && b.damaged(at.file, err) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("data cache: %w", err)
	}
	m, ok := v.(*payload.Map)
	if ok && at.older && bank != BankMine {
		if v = m.Value(bank); v == nil {
			return nil, false, nil
		}
		m, ok = v.(*payload.Map)
	}
	if !ok {
		err := fmt.Errorf("data cache: %s of %s: %w: it holds no map", bank, id, packedfile.ErrDamaged)
		if b.damaged(at.file, err) {
			return nil, true, nil
		}
		return nil, false, err
	}
	return m, false, nil
}

// Mine returns the mine of a minion; nil when there is none.
func (b *Banks) Mine(id string) (*payload.Map, error) { return b.Data(BankMine, id) }

// Cached lists the ids for which a bank holds data, in either form, in order.
func (b *Banks) Cached(bank string) ([]string, error) {
	ids, err := b.List(bank)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	older, err := b.olderIDs()
	if err != nil {
		return nil, err
	}
	for _, id := range older {
		if known[id] {
			continue
		}
		if _, info := b.original(bank, id); info != nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Keep keeps the grains that a minion has sent and the pillar of the default environment that was compiled for it. What
// is nil stays as it was.
func (b *Banks) Keep(id string, grains, pillar *payload.Map) error {
	defer b.turns.take(id)()
	if err := b.takeOver(id, grains == nil, pillar == nil); err != nil {
		return err
	}
	for bank, data := range map[string]*payload.Map{BankGrains: grains, BankPillar: pillar} {
		if data == nil {
			continue
		}
		if err := b.Store(bank, id, data); err != nil {
			return err
		}
	}
	return b.copyData(id, grains, pillar)
}

// StoreGrains keeps the grains that a minion has sent.
func (b *Banks) StoreGrains(id string, grains *payload.Map) error { return b.Keep(id, grains, nil) }

// StorePillar keeps the pillar that was compiled for a minion; env is "" for the default environment. The older form
// has no place for others.
func (b *Banks) StorePillar(id, env string, pillar *payload.Map) error {
	if env != "" {
		return b.Store(BankPillar, id+":"+env, pillar)
	}
	return b.Keep(id, nil, pillar)
}

// StoreMine replaces the mine of a minion.
func (b *Banks) StoreMine(id string, data *payload.Map) error {
	defer b.turns.take(id)()
	if err := b.Store(BankMine, id, data); err != nil {
		return err
	}
	return b.writeOlder(BankMine, id, data, copyMode)
}

// DropMine takes one function out of the mine of a minion, in the form in which it stands.
func (b *Banks) DropMine(id string, fun any) error {
	defer b.turns.take(id)()
	at, err := b.standing(BankMine, id)
	if err != nil || at.info == nil {
		return err
	}
	data, err := b.Data(BankMine, id)
	if err != nil || !data.Has(fun) {
		return err
	}
	data = data.Clone()
	data.Delete(fun)
	if at.older {
		return b.writeOlder(BankMine, id, data, at.info.Mode().Perm())
	}
	if err := b.Store(BankMine, id, data); err != nil || !b.copied(BankMine, id) {
		return err
	}
	return b.writeOlder(BankMine, id, data, copyMode)
}

// Forget removes what some banks hold of a minion, in both forms. The pillars of other environments stay, as in Salt.
func (b *Banks) Forget(id string, banks ...string) error {
	defer b.turns.take(id)()
	for _, bank := range banks {
		if _, err := b.Flush(bank, id); err != nil {
			return err
		}
	}
	return b.forgetOlder(id, banks)
}
