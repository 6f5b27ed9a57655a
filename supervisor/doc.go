// Package supervisor starts actors and starts them again when they die, with the rules of Salt's
// ProcessManager. It does not know what any actor does. Times are durations, delays and deadlines are
// measured on Options.Clock. Answers to salt/utils/process.py.
package supervisor
