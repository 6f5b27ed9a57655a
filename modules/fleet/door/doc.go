// Package door holds what a master owes to people at its door: how often the log tells of them and how much it is told
// at all, whose turn it is, and how many log-ins of theirs may fail. It decides about nobody, and knows neither sockets
// nor loads. Nothing of Salt answers to it.
package door
