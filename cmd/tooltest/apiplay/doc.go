// Package apiplay sends written requests to a salt-api, Salt's or brine's, and puts its answers into a form in which
// two of them can be compared: what changes from run to run (jids, times, tokens, stacks, the order in which minions
// answer) becomes a placeholder, and of the headers only those stay that a client may act on.
//
// A table of requests is a text of blocks, and so is a table of answers; see ParseRequests and ParseAnswers. A
// transcript (vectors of spec/api.md) is read into the same types. For tests only; it holds no process and no
// testing.T.
package apiplay
