package keys

import (
	"fmt"
	"strings"

	"brine/wire/payload"
)

// DataCache is what the manager clears when a minion's last key goes.
type DataCache interface {
	// ForgetAllBut removes what is known of ids that keep does not name.
	ForgetAllBut(keep func(id string) bool) error
}

// ManagerOptions are the options of the master that touch its keys, and what makes and checks keys.
type ManagerOptions struct {
	CacheDir            string // cachedir: drop file and sessions
	MasterID            string // id
	HashType            string // hash_type
	RotateAESKey        bool   // rotate_aes_key: reject and delete ask for a new AES key
	PreserveMinions     bool   // preserve_minions: keep the cached data of deleted accepted minions
	PreserveMinionCache bool   // preserve_minion_cache: never clear cached data
	KeySize             int    // keysize
	PublicSignature     string // master_pubkey_signature: name of the signature file
	SignKeyName         string // master_sign_key_name: the signing pair without its endings

	Data     func() (DataCache, error) // called when data is to be cleared; nil: there is no data cache
	CheckKey func(pem string) error
	Generate func(bits int) (priv, pub string, err error)
	Sign     func(privPEM string, msg []byte) ([]byte, error) // with signing_key_pass and publish_signing_algorithm
}

// Manager changes keys as salt-key does. It fires no events: they come back with each change.
type Manager struct {
	*Store
	opt ManagerOptions
}

// NewManager makes a manager of the keys in store.
func NewManager(store *Store, o ManagerOptions) *Manager {
	return &Manager{Store: store, opt: o}
}

// Event is one change of a key as it goes out under event.TagKey.
type Event struct {
	Act string // accepted, rejected, delete
	ID  string
	Pub string // the key, when it was moved
}

// Data is the event's data in Salt's order.
func (e Event) Data() *payload.Map {
	m := payload.M("result", true, "act", e.Act, "id", e.ID)
	if e.Pub != "" {
		m.Set("pub", e.Pub)
	}
	return m
}

// Change is what an operation did. It is filled up to the point of an error.
type Change struct {
	IDs     []string // ids moved or deleted, in order
	Invalid []string // ids left where they are because their key is no key
	Events  []Event  // to be fired under event.TagKey
}

// Include names the groups an accept or a reject looks at besides the pending keys.
type Include struct{ Accepted, Rejected, Denied bool }

// ForAccept reads the flags of salt-key for an accept: --include-all means rejected keys too.
func ForAccept(all, rejected, denied bool) Include {
	return Include{Rejected: all || rejected, Denied: denied}
}

// ForReject reads the flags of salt-key for a reject: --include-all means accepted keys too.
func ForReject(all, accepted, denied bool) Include {
	return Include{Accepted: all || accepted, Denied: denied}
}

// Filter keeps the groups an accept or a reject looks at, in the order salt-key shows them.
func (inc Include) Filter(g Groups) Groups {
	var out Groups
	for _, c := range [...]struct {
		st Status
		on bool
	}{{Pending, true}, {Accepted, inc.Accepted}, {Rejected, inc.Rejected}, {Denied, inc.Denied}} {
		if ids := g.IDs(c.st); c.on && len(ids) > 0 {
			out = append(out, Group{Status: c.st, IDs: ids})
		}
	}
	return out
}

// NoMatchText is salt-key's sentence for a glob without a candidate.
func (inc Include) NoMatchText(glob string) string {
	words := []string{"unaccepted"}
	for _, c := range [...]struct {
		word string
		on   bool
	}{{"accepted", inc.Accepted}, {"rejected", inc.Rejected}, {"denied", inc.Denied}} {
		if c.on {
			words = append(words, c.word)
		}
	}
	last := len(words) - 1
	text := words[last]
	if last > 0 {
		text = strings.Join(words[:last], ", ") + " or " + text
	}
	return fmt.Sprintf("The key glob '%s' does not match any %s keys.", glob, text)
}

// Accept accepts the pending keys of sel, and those of the included groups.
func (m *Manager) Accept(sel Groups, inc Include) (Change, error) {
	return m.move(sel, inc, Accepted)
}

// Reject rejects the pending keys of sel, and those of the included groups; it then clears the data of minions
// without a key and asks for a new AES key.
func (m *Manager) Reject(sel Groups, inc Include) (Change, error) {
	ch, err := m.move(sel, inc, Rejected)
	if err != nil {
		return ch, err
	}
	return ch, m.after(nil)
}

// Delete deletes every key of sel, clears the data of minions without a key and asks for a new AES key.
func (m *Manager) Delete(sel Groups) (Change, error) {
	var ch Change
	for _, g := range sel {
		for _, id := range g.IDs {
			gone, err := m.Remove(g.Status, id)
			if err != nil {
				return ch, err
			}
			if !gone {
				continue // nothing there: no event, as nothing happened
			}
			if g.Status != Denied {
				if err := m.removeOthers(g.Status, id); err != nil { // one that a stricter status hides
					return ch, err
				}
			}
			if !m.Has(Accepted, id) {
				if err := m.endSession(id); err != nil {
					return ch, err
				}
			}
			ch.IDs = append(ch.IDs, id)
			ch.Events = append(ch.Events, Event{Act: "delete", ID: id})
		}
	}
	var keep []string
	if m.opt.PreserveMinions {
		keep = sel.IDs(Accepted)
	}
	return ch, m.after(keep)
}

// move gives the candidates of sel another status.
func (m *Manager) move(sel Groups, inc Include, to Status) (Change, error) {
	var ch Change
	for _, from := range inc.sources() {
		for _, id := range sel.IDs(from) {
			if err := m.moveOne(&ch, id, from, to); err != nil {
				return ch, err
			}
		}
	}
	return ch, nil
}

// sources are the groups keys are taken from, in the order Salt works through them.
func (inc Include) sources() []Status {
	from := []Status{Pending}
	if inc.Rejected {
		from = append(from, Rejected)
	}
	if inc.Denied {
		from = append(from, Denied)
	}
	if inc.Accepted {
		from = append(from, Accepted)
	}
	return from
}

func (m *Manager) moveOne(ch *Change, id string, from, to Status) error {
	pub, ok, err := m.Read(from, id)
	if err != nil || !ok {
		return err
	}
	if m.opt.CheckKey != nil && m.opt.CheckKey(pub) != nil {
		ch.Invalid = append(ch.Invalid, id)
		return nil
	}
	if err := m.replace(to, id, pub); err != nil {
		return err
	}
	if from == Denied {
		if _, err := m.Remove(Denied, id); err != nil {
			return err
		}
	}
	ch.IDs = append(ch.IDs, id)
	ch.Events = append(ch.Events, Event{Act: to.State(), ID: id, Pub: pub})
	return nil
}

// after does what follows a reject and a delete.
func (m *Manager) after(preserve []string) error {
	if err := m.clearData(preserve); err != nil {
		return err
	}
	return m.askRotation()
}

// replace gives id a key of another status, or another accepted key. Unlike Salt: whoever takes the place of another
// one's key gets neither the session that this has nor the shared key that it knows.
func (m *Manager) replace(to Status, id, pub string) error {
	before, was, err := m.Read(Accepted, id)
	if err != nil {
		return err
	}
	if err := m.Put(to, id, pub); err != nil {
		return err
	}
	if to == Accepted && was && strings.TrimSpace(before) == strings.TrimSpace(pub) {
		return nil
	}
	if err := m.endSession(id); err != nil || to != Accepted || !was {
		return err
	}
	return m.askRotation()
}

// endSession removes the session key of an id.
func (m *Manager) endSession(id string) error {
	if err := checkID(id); err != nil || m.opt.CacheDir == "" {
		return err
	}
	return removeSession(m.opt.CacheDir, id)
}

// askRotation asks the master for a new AES key.
func (m *Manager) askRotation() error {
	if !m.opt.RotateAESKey || m.opt.CacheDir == "" {
		return nil
	}
	return WriteDrop(m.opt.CacheDir, m.opt.MasterID, m.Store.opt.UID)
}

// clearData drops what is known of ids that have no key of any status and are not to be preserved.
func (m *Manager) clearData(preserve []string) error {
	if m.opt.Data == nil || m.opt.PreserveMinionCache {
		return nil
	}
	data, err := m.opt.Data()
	if err != nil {
		return err
	}
	keyed, err := m.Keyed()
	if err != nil {
		return err
	}
	for _, id := range preserve {
		keyed[id] = true
	}
	return data.ForgetAllBut(func(id string) bool { return keyed[id] })
}
