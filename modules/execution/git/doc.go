// Package git is the execution module git: git, the program, run as the reference runs it. The state module git calls
// the methods of Work, which the functions are made of. How a program is started stands in modules/execution/cmdmod. It
// answers to salt/modules/git.py.
//
// Unlike Salt: what a caller gives as a name (a URL, a revision, a reference, a key, a path) is never read as an
// option, and a password of HTTPS is in no argument, no log and no configuration of a repository: git asks a helper for
// it, which answers for one host (see login.go).
package git
