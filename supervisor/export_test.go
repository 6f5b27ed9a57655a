package supervisor

// Rests tells whether a child has no message, in hand or waiting.
func Rests(ref *Ref) bool {
	m := ref.inbox.cur.Load()
	return m != nil && m.still() && ref.inbox.depth() == 0
}
