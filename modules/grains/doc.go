// Package grains collects the facts of a Linux host under the names, types and values of Salt's grains. What finds them
// are the folders below, one for each file of Salt, each with a function Module.
//
// Facts come in groups that are computed once, when first asked for: a Collector that is never read costs nothing, Get
// computes the groups of one grain, Map all of them, the slow ones at the same time. A program is run only where its
// answer cannot be had otherwise, and never longer than Timeout.
//
// What differs from the reference by intention stands in testdata/differences.json, each with its reason.
// Answers to grains() in salt/loader/__init__.py.
package grains
