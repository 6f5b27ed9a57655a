// Package door holds what a master owes to people at its door: how often the log tells of them, and whose turn it is. It
// decides about nobody, and knows neither sockets nor loads. Nothing of Salt answers to it.
package door
