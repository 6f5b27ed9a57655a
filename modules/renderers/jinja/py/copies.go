package py

import "brine/wire/payload"

// Copies are the arguments of one call of a function that knows the values of wire/payload. A function of Python may
// change a dictionary that it is given, or return it or a part of it, and the caller sees that in his own: so when such
// a function returns one of the maps that it was given, the dictionary behind it is brought up to date and takes its
// place.
type Copies struct{ of map[*payload.Map]*Dict }

// NewCopies are those of a call that has no arguments yet.
func NewCopies() *Copies { return &Copies{of: map[*payload.Map]*Dict{}} }

// To copies one argument as To does.
func (c *Copies) To(w *Work, v any) (any, error) { return c.to(w, v, 0) }

// Back makes a value of what the function returned, as From does. It counts its steps.
func (c *Copies) Back(w *Work, v any) (any, error) {
	m, ok := v.(*payload.Map)
	if !ok || m == nil {
		return From(v), nil
	}
	d, given := c.of[m]
	if !given {
		return From(v), nil
	}
	return d, c.update(w, d, m, 0)
}

// update makes a dictionary what the map has become that was made of it.
func (c *Copies) update(w *Work, d *Dict, m *payload.Map, depth int) error {
	if depth > maxNesting {
		return tooDeep()
	}
	seen := payload.NewMap(m.Len())
	for _, k := range d.Keys() {
		key, err := keyTo(w, k, depth)
		if err != nil {
			return err
		}
		seen.Set(key, true)
		if v, kept := m.Get(key); kept {
			err = c.updateItem(w, d, k, v, depth)
		} else {
			_, _, err = d.Delete(k)
		}
		if err != nil {
			return err
		}
	}
	for k, v := range m.All() {
		if !seen.Has(k) {
			if err := c.updateItem(w, d, From(k), v, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// updateItem sets one item, and leaves what has not changed as it is.
func (c *Copies) updateItem(w *Work, d *Dict, k, v any, depth int) error {
	if err := w.Step(1); err != nil {
		return err
	}
	if m, ok := v.(*payload.Map); ok {
		if given, ok := c.of[m]; ok {
			if err := c.update(w, given, m, depth+1); err != nil {
				return err
			}
			return d.Set(k, given)
		}
	}
	old, there, err := d.Get(k)
	if err != nil {
		return err
	}
	if there {
		if was, err := To(w, old); err != nil || payload.Equal(was, v) {
			return err
		}
	}
	return d.Set(k, From(v))
}
