// Package facts is what a minion knows of itself and is told in private: its grains, and for each master the options,
// the grains and the pillar as the jobs of that master see them (Facts). The Refresher keeps them up to date. It owns
// all of these; others only read them, and ask the Refresher by its messages. It asks a link for the pillar of its
// master, or the PillarSource of a minion that compiles the pillar itself.
package facts
