package datacache

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// newerBanks hold what is known of minions in the newer form.
var newerBanks = [...]string{BankGrains, BankPillar, BankMine}

// ForgetAllBut removes all that is known of ids which keep does not name, in both forms, with the pillars of all
// environments. Files that a minion has pushed stay.
//
// Unlike Salt: 3008 keeps the mine of a minion without a key.
func (b *Banks) ForgetAllBut(keep func(id string) bool) error {
	for _, bank := range newerBanks {
		names, err := b.entries(bank)
		if err != nil {
			return err
		}
		for _, name := range names {
			key := strings.TrimSuffix(name, ".p")
			if keep(key) || keep(minionOf(key)) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(b.dir, bank, name)); err != nil {
				// a slash in the name of an environment makes a folder
				return fmt.Errorf("data cache: clear %s of %s: %w", bank, key, err)
			}
		}
	}
	older, err := b.olderIDs()
	if err != nil {
		return err
	}
	for _, id := range older {
		if keep(id) {
			continue
		}
		if err := b.removeOlder(id); err != nil {
			return err
		}
	}
	return nil
}

// minionOf is the minion of a key, which may name the environment of a pillar.
func minionOf(key string) string {
	id, _, _ := strings.Cut(key, ":")
	return id
}

// removeOlder removes the files of the older form, and their folder when nothing else is in it.
func (b *Banks) removeOlder(id string) error {
	for _, key := range []string{keyData, keyMine} {
		if _, err := b.Flush(bankOlder+"/"+id, key); err != nil {
			return err
		}
	}
	_ = os.Remove(filepath.Join(b.dir, bankOlder, id)) // what is not empty stays
	return nil
}
