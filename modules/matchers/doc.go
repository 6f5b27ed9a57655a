// Package matchers decides which minions a target means: on a minion (Match: is it me?) and on a master
// (Expander: who is expected to answer?). Expressions follow Python's fnmatch and re modules, which differ from
// Go's in details; the package holds those rules for others too (Glob, Regexp, ExprMatch). It knows no sockets
// and no files: what it needs of the world comes in. Answers to salt/matchers, salt/utils/minions.py and
// subdict_match of salt/utils/data.py.
package matchers
