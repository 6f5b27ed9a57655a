// Package matchers decides which minions a target means: on a minion (Match: is it me?) and on a master
// (Expander: who is expected to answer?). Patterns are those of Python (wire/python/fnmatch, wire/python/re).
// ExprMatch is for lists of words such as publisher_acl, Lines for files of them. It knows no sockets and no files:
// what it needs of the world comes in. Answers to salt/matchers, salt/utils/minions.py and
// subdict_match of salt/utils/data.py.
package matchers
