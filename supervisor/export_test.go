package supervisor

// Rests tells whether a child has no message, waiting or being handled.
func Rests(ref *Ref) bool {
	m := ref.inbox.cur.Load()
	return m != nil && m.still() && ref.inbox.depth() == 0
}
