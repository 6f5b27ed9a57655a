package cmdmod

// AsUser lets a test act as a neighbour, fast enough for a race.
var AsUser = asUser
