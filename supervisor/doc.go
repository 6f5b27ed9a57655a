// Package supervisor starts actors and starts them again when they die, with the rules of Salt's
// ProcessManager, and knows of each what it does. It does not know what any actor is for, and it is the only
// package beside actors that sees protoactor. Delays and deadlines are measured on Options.Clock.
// How it works, and what becomes of a message, stands in DESIGN.md. Answers to salt/utils/process.py.
package supervisor
