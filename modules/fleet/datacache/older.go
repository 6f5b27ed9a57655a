package datacache

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"brine/wire/disk/packedfile"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
)

// The older form: a folder for each minion, with a file for grains and pillar and one for the mine.
const (
	bankOlder = "minions"
	keyData   = "data"
	keyMine   = "mine"
)

// copyMode tells a copy from an original of an older release, which may be written. Salt exchanges either as a whole.
const copyMode fs.FileMode = 0o400

// turns lets one at a time change what is known of a minion.
type turns [64]sync.Mutex

var turnSeed = maphash.MakeSeed()

func (t *turns) take(id string) (done func()) {
	m := &t[maphash.String(turnSeed, id)%uint64(len(t))]
	m.Lock()
	return m.Unlock
}

// olderFile is where the older form keeps a bank of a minion; "" where it has no place for it.
func (b *Banks) olderFile(bank, id string) string {
	if !payload.ValidID(id) {
		return ""
	}
	key := keyData
	switch bank {
	case BankMine:
		key = keyMine
	case BankGrains, BankPillar:
	default:
		return ""
	}
	return b.dir + "/" + bankOlder + "/" + id + "/" + key + ".p"
}

// olderIDs lists the minions that have a folder of the older form.
func (b *Banks) olderIDs() ([]string, error) {
	names, err := b.entries(bankOlder)
	return slices.DeleteFunc(names, func(name string) bool { return !payload.ValidID(name) }), err
}

// original is the file of a minion that a master of an older release wrote. The info is nil when there is none.
func (b *Banks) original(bank, id string) (string, fs.FileInfo) {
	file := b.olderFile(bank, id)
	if file == "" {
		return "", nil
	}
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() == copyMode {
		return "", nil
	}
	return file, info
}

// copied tells whether there is a copy.
func (b *Banks) copied(bank, id string) bool {
	file := b.olderFile(bank, id)
	if file == "" {
		return false
	}
	info, err := os.Lstat(file)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm() == copyMode
}

// writeOlder writes a file of the older form. A copy that is there already is not written again: nothing looks at its
// age, and what minions tell seldom changes.
func (b *Banks) writeOlder(bank, id string, data *payload.Map, mode fs.FileMode) error {
	file := b.olderFile(bank, id)
	if file == "" {
		return nil
	}
	packed, err := payload.MarshalBin(data)
	if err != nil {
		return fmt.Errorf("data cache: copy %s of %s: %w", bank, id, err)
	}
	if mode == copyMode && b.copied(bank, id) {
		if is, err := os.ReadFile(file); err == nil && bytes.Equal(is, packed) {
			return nil
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil { // a pillar is in it
		return fmt.Errorf("data cache: %w", err)
	}
	if err := wholefile.Write(file, packed, wholefile.Options{Temp: b.dir, Mode: mode}); err != nil {
		return fmt.Errorf("data cache: copy %s of %s: %w", bank, id, err)
	}
	return nil
}

// takeOver brings of an original what a copy in its place would hide into the newer form.
func (b *Banks) takeOver(id string, grains, pillar bool) error {
	for bank, wanted := range map[string]bool{BankGrains: grains, BankPillar: pillar} {
		if !wanted {
			continue
		}
		at, err := b.standing(bank, id)
		if err != nil || !at.older {
			continue // Store tells of a bad id
		}
		data, err := b.Data(bank, id)
		if err != nil || data == nil {
			continue // damaged: it comes anew
		}
		if err := b.Store(bank, id, data); err != nil {
			return err
		}
	}
	return nil
}

// copyData writes grains and pillar into the copy; nil stands for what the newer form holds.
func (b *Banks) copyData(id string, grains, pillar *payload.Map) error {
	file := payload.NewMap(2)
	for _, part := range []struct {
		bank string
		data *payload.Map
	}{{BankGrains, grains}, {BankPillar, pillar}} {
		if part.data == nil {
			part.data, _ = b.fetchMap(part.bank, id) // one that is damaged comes anew
		}
		if part.data != nil {
			file.Set(part.bank, part.data)
		}
	}
	return b.writeOlder(BankGrains, id, file, copyMode)
}

func (b *Banks) fetchMap(bank, id string) (*payload.Map, error) {
	v, err := b.Fetch(bank, id)
	m, _ := v.(*payload.Map)
	return m, err
}

// forgetOlder takes banks out of the files of the older form.
func (b *Banks) forgetOlder(id string, banks []string) error {
	if slices.Contains(banks, BankMine) {
		if file := b.olderFile(BankMine, id); file != "" {
			if err := removeIfThere(file); err != nil {
				return fmt.Errorf("data cache: %w", err)
			}
		}
	}
	if slices.Contains(banks, BankGrains) || slices.Contains(banks, BankPillar) {
		return b.cutData(id, banks)
	}
	return nil
}

// cutData leaves in the file of grains and pillar what is not forgotten, with the time that it had. A file that cannot
// be read goes.
func (b *Banks) cutData(id string, banks []string) error {
	file := b.olderFile(BankGrains, id)
	if file == "" {
		return nil
	}
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	left := payload.NewMap(2)
	v, _ := packedfile.Read(file)
	data, _ := v.(*payload.Map)
	for bank, part := range data.All() {
		if name, _ := bank.(string); !slices.Contains(banks, name) {
			left.Set(bank, part)
		}
	}
	if left.Len() == 0 {
		if err := removeIfThere(file); err != nil {
			return fmt.Errorf("data cache: %w", err)
		}
		return nil
	}
	if err := b.writeOlder(BankGrains, id, left, info.Mode().Perm()); err != nil {
		return err
	}
	return os.Chtimes(file, info.ModTime(), info.ModTime())
}
