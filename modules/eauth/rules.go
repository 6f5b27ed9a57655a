package eauth

import "brine/wire/payload"

// Rules are what the holder of a token may do, as Check finds it: tok is the token as MakeToken gives it. They are for
// who shows things beside the master; what is asked of the master it checks itself.
func (s *Service) Rules(tok *payload.Map) []any { return s.listOfToken(tok) }
