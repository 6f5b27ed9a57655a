// Package actortest holds what tests of actors need: a probe that collects messages, a clock driven by
// hand, an injector of crashes. It is imported by tests only.
package actortest
