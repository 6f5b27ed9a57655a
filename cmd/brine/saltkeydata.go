package main

import (
	"sync"

	"brine/modules/returners"
)

// minionData is the master's data cache as the key manager sees it, opened when a key is deleted or rejected.
type minionData struct {
	open func() (*returners.Banks, error)
}

func newMinionData(cacheDir string) minionData {
	return minionData{sync.OnceValues(func() (*returners.Banks, error) { return returners.OpenBanks(cacheDir) })}
}

// List names the entries of a bank.
func (d minionData) List(bank string) ([]string, error) {
	banks, err := d.open()
	if err != nil {
		return nil, err
	}
	return banks.List(bank)
}

// Flush removes an entry; one that is not there is no error.
func (d minionData) Flush(bank, key string) error {
	banks, err := d.open()
	if err != nil {
		return err
	}
	_, err = banks.Flush(bank, key)
	return err
}
