// Package copies hands copies of returns to returners outside the fleet (ReturnerSpool), and keeps on disk what one of
// them could not take. It owns the folder returners in cachedir. It may call returners of the registry that it is
// given, and asks no other part.
package copies
