// Package supervisor starts actors and restarts them when they die, with the rules of Salt's ProcessManager. It records
// what each of them does, but does not know the purpose of any actor. It alone uses protoactor: other packages use the
// names in names.go. Delays and deadlines are measured on Options.Clock. DESIGN.md explains how it works and what
// happens to a message. Answers to salt/utils/process.py.
package supervisor
