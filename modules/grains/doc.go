// Package grains collects the facts of a Linux host under the names, types and values of Salt's core grains.
//
// Facts come in groups that are computed once, when first asked for: a Collector that is never read costs nothing,
// Get computes one group, Map all of them, the slow ones at the same time. Files of /proc, /sys and /etc are read
// directly and interfaces come from netlink; a program is run only where its answer cannot be had otherwise, and
// never longer than programTimeout.
//
// What differs from the reference by intention stands in testdata/differences.json, each with its reason.
// Answers to salt/grains/*.py and to grains() in salt/loader/__init__.py.
package grains
