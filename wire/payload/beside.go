package payload

import "hash"

// Beside hands out hashing work to run while a large load is opened, because hashing two texts together is cheap. It
// returns a hash, the text to add to it, and a function to call when that is done. ok is false if there is no work. A
// nil Beside never has work.
type Beside func() (sum hash.Hash, text []byte, done func(), ok bool)
