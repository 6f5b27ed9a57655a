// Package supervisor starts actors and starts them again when they die, with the rules of Salt's
// ProcessManager, and knows of each what it does. It does not know what any actor is for. It alone sees protoactor:
// what an actor is made of has its names here (names.go). Delays and deadlines are measured on Options.Clock.
// How it works, and what becomes of a message, stands in DESIGN.md. Answers to salt/utils/process.py.
package supervisor
