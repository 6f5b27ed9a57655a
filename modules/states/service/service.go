// Package service is the state module service: services run or do not, start with the host or do not, are masked or
// not, and are restarted when what they watch has changed. It stands on the execution module service of the host,
// whichever that is. Answers to salt/states/service.py.
package service

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module service.
func Module() loader.Module {
	return loader.Module{File: "service", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{
			states.Fn("running", running, "Let a service run, and with enable=True start with the host.",
				"httpd:", "  service.running:", "    - enable: True", "    - watch: [{file: /etc/httpd/httpd.conf}]"),
			states.Fn("dead", dead, "Let a service not run, and with enable=False not start with the host.",
				"cups: {service.dead: [{enable: False}]}"),
			states.Fn("enabled", enabled, "Let a service start with the host.", "sshd: {service.enabled: []}"),
			states.Fn("disabled", disabled, "Let a service not start with the host.", "cups: {service.disabled: []}"),
			states.Fn("masked", masked, "Let a service be masked, for good or until the next boot.",
				"cups: {service.masked: [{runtime: True}]}"),
			states.Fn("unmasked", unmasked, "Let a service not be masked.", "cups: {service.unmasked: []}"),
			states.Fn("mod_watch", watch, "Restart, reload, start or stop a service as what it watches has changed."),
			states.Fn("mod_beacon", beacon, "Have a beacon tell when a service starts or stops."),
		}
	}}
}

func virtual(p loader.Place) (bool, string) {
	if p.Has("service.start") {
		return true, ""
	}
	os, _ := p.Grain("osfinger")
	if os == nil {
		os, _ = p.Grain("os")
	}
	return false, "No service execution module loaded: check support for service management on " + python.Str(os) + " "
}

// service is one service in a call, with the warnings that its return gets in any case.
type service struct {
	c        *states.Call
	name     string
	kw       *payload.Map // keywords that are no parameter
	warnings []any
}

// systemdOnly are arguments that functions of systemd alone have.
var systemdOnly = []string{"no_block", "unmask", "unmask_runtime"}

// forFunc are the keywords that a function of the provider takes. Where systemd has not booted the host, warnings say
// that they mean nothing.
func (s *service) forFunc(fun string) *payload.Map {
	f, _ := s.c.Env.Registry.Lookup(fun)
	out := payload.NewMap(0)
	for _, name := range systemdOnly {
		v, given := s.kw.Get(name)
		if !given || f == nil || !slices.ContainsFunc(f.Params, func(p loader.Param) bool { return p.Name == name }) {
			continue
		}
		if booted() {
			out.Set(name, v)
			continue
		}
		text := "The '" + name + "' argument is not supported by this platform"
		if !slices.Contains(s.warnings, any(text)) {
			s.warnings = append(s.warnings, text)
		}
	}
	return out
}

func booted() bool {
	_, err := os.Stat("/run/systemd/system")
	return err == nil
}

// call calls a function of the provider with the keywords that it takes.
func (s *service) call(fun string, args ...any) (any, error) {
	return s.c.Salt("service."+fun, s.forFunc("service."+fun), append([]any{s.name}, args...)...)
}

// truth calls a function of the provider without keywords, for a truth value.
func (s *service) truth(fun string, args ...any) (bool, error) {
	v, err := s.c.Salt("service."+fun, nil, append([]any{s.name}, args...)...)
	return python.Truth(v), err
}

// available tells whether there is such a service.
func (s *service) available() (bool, error) {
	if s.c.Has("service.available") {
		return s.truth("available")
	}
	if !s.c.Has("service.get_all") {
		return false, nil
	}
	all, err := s.c.Salt("service.get_all", nil)
	list, _ := all.([]any)
	return slices.Contains(list, any(s.name)), err
}

// offline tells whether the host is one that is being installed.
func (s *service) offline() (bool, error) {
	if !s.c.Has("service.offline") {
		return false, nil
	}
	v, err := s.c.Salt("service.offline", nil)
	return python.Truth(v), err
}

// status tells whether the service runs.
func (s *service) status(sig any) (bool, error) {
	v, err := s.call("status", sig)
	return python.Truth(v), err
}

// starts tells whether the service starts with the host; true where nobody can tell.
func (s *service) starts() (bool, error) {
	if !s.c.Has("service.enabled") {
		return true, nil
	}
	return s.truth("enabled")
}

// warned adds the warnings to a plan, and to what it comes to.
func (s *service) warned(p states.Plan, err error) (states.Plan, error) {
	if s.warnings != nil {
		p = p.With("warnings", s.warnings)
	}
	if apply := p.Apply; apply != nil {
		p.Apply = func() (states.Done, error) {
			done, err := apply()
			if s.warnings != nil {
				done = done.With("warnings", s.warnings)
			}
			return done, err
		}
	}
	return p, err
}

// failure is the text of an error that is the failing result of a state without being an exception.
func failure(err error) (string, bool) {
	var failed *loader.CommandExecutionError
	if !errors.As(err, &failed) {
		return "", false
	}
	return loader.Message(err), true
}

// told is a plan for such an error; another one is returned.
func told(err error) (states.Plan, error) {
	if text, ok := failure(err); ok {
		return states.Wrong(text), nil
	}
	return states.Plan{}, err
}

// pause waits as long as the argument init_delay says, in seconds.
func (s *service) pause(delay any) error {
	if !python.Truth(delay) {
		return nil
	}
	var seconds float64
	switch x := delay.(type) {
	case int64:
		seconds = float64(x)
	case float64:
		seconds = x
	case bool:
		seconds = 1
	default:
		return &loader.ArgumentError{Message: "'" + python.Type(delay) +
			"' object cannot be interpreted as an integer"}
	}
	timer := time.NewTimer(time.Duration(seconds * float64(time.Second)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.c.Ctx.Done():
		return loader.ExecErr("the run was ended: %v", s.c.Ctx.Err())
	}
}

// wantsEnabled reads the argument enable: true, false, or nil for what nobody says.
func wantsEnabled(v any) any {
	if text, ok := v.(string); ok {
		return dicts.IsTrue(text)
	}
	return v
}

// lines joins texts that are not empty.
func lines(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n")
}

// text is a comment as text; nil is none.
func text(v any) string {
	if v == nil {
		return ""
	}
	return python.Str(v)
}
