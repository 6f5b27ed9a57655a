package keys

// Text is one id of a group and what is shown of it: its key or its fingerprint.
type Text struct{ ID, Text string }

// Texts are the texts of one status.
type Texts struct {
	Status Status
	Items  []Text
}

// Print returns the keys of a selection.
func (s *Store) Print(sel Groups) ([]Texts, error) {
	return s.texts(sel, func(pem string) (string, error) { return pem, nil })
}

// Finger returns the fingerprints of a selection; hashType "" is DefaultHash.
func (s *Store) Finger(sel Groups, hashType string) ([]Texts, error) {
	return s.texts(sel, func(pem string) (string, error) { return Fingerprint(pem, hashType) })
}

func (s *Store) texts(sel Groups, show func(string) (string, error)) ([]Texts, error) {
	out := make([]Texts, 0, len(sel))
	for _, g := range sel {
		t := Texts{Status: g.Status, Items: make([]Text, 0, len(g.IDs))}
		for _, id := range g.IDs {
			pem, ok, err := s.Read(g.Status, id)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue // went away since it was listed
			}
			text, err := show(pem)
			if err != nil {
				return nil, err
			}
			t.Items = append(t.Items, Text{ID: id, Text: text})
		}
		out = append(out, t)
	}
	return out, nil
}
