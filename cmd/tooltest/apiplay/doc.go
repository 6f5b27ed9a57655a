// Package apiplay sends recorded requests to a salt-api, Salt's or brine's, and normalizes the answers, so that
// two of them can be compared. Data that changes from run to run (jids, times, tokens, stacks, the order of
// minions) becomes a placeholder. Only headers that a client may act on are kept.
//
// A table of requests is a text of blocks, and so is a table of answers, see ParseRequests and ParseAnswers. A
// transcript (vectors of spec/api.md) is read into the same types. For tests only. It uses no process and no
// testing.T.
package apiplay
