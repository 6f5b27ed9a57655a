package payload

import "hash"

// Beside gives out work that is done along with the opening of a large load, whose own hash makes it cheap: a text that
// a hash is to take, and what is to be called when it has. ok is false when there is none. nil: there never is.
type Beside func() (sum hash.Hash, text []byte, done func(), ok bool)
