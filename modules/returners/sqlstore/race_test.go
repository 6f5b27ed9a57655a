//go:build race

package sqlstore_test

// bulky says whether values of tens of megabytes are tried: the race detector makes a minute of each.
const bulky = false
