package service

import (
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type watched struct {
	Name        string       `arg:"name"`
	Sfun        any          `arg:"sfun=None"`
	Sig         any          `arg:"sig=None"`
	Reload      bool         `arg:"reload=False"`
	FullRestart bool         `arg:"full_restart=False"`
	InitDelay   any          `arg:"init_delay=None"`
	Force       bool         `arg:"force=False"`
	KW          *payload.Map `arg:"**kwargs"`
}

// watch is the plan for a service when something that it watches has changed.
func watch(c *states.Call, a watched) (states.Plan, error) {
	s := &service{c: c, name: a.Name, kw: a.KW}
	if a.Sfun != "dead" && a.Sfun != "running" {
		return states.Wrong("Unable to trigger watch for service." + python.Str(a.Sfun)), nil
	}
	runs, err := s.status(a.Sig)
	if err != nil {
		return states.Plan{}, err
	}
	if a.Sfun == "dead" && !runs {
		return s.warned(states.Correct("Service is already stopped"), nil)
	}
	fun, verb, done := a.verb(c, runs)
	return s.warned(states.Would("Service is set to be "+done, nil, func() (states.Done, error) {
		return s.trigger(a, fun, verb, done)
	}), nil)
}

// verb is what is done: the function, and the word for it in two forms.
func (a watched) verb(c *states.Call, runs bool) (fun, verb, done string) {
	switch {
	case a.Sfun == "dead":
		return "stop", "stop", "stopped"
	case !runs:
		return "start", "start", "started"
	case a.Reload && c.Has("service.reload") && a.Force && c.Has("service.force_reload"):
		return "force_reload", "forcefully reload", "forcefully reloaded"
	case a.Reload && c.Has("service.reload"):
		return "reload", "reload", "reloaded"
	case a.FullRestart && c.Has("service.full_restart"):
		return "full_restart", "fully restart", "fully restarted"
	}
	return "restart", "restart", "restarted"
}

func (s *service) trigger(a watched, fun, verb, done string) (states.Done, error) {
	if fun == "start" && s.c.Has("service.stop") {
		if _, err := s.truth("stop"); err != nil {
			return states.Done{}, err
		}
	}
	result, err := s.call(fun)
	if why, ok := failure(err); ok {
		return states.Failed(why, nil)
	}
	if err == nil {
		err = s.pause(a.InitDelay)
	}
	if err != nil {
		return states.Done{}, err
	}
	comment := "Service " + done
	if !python.Truth(result) {
		comment = "Failed to " + verb + " the service"
	}
	return states.Done{Result: result, Comment: comment, Changes: payload.M(s.name, result)}, nil
}

// beacon adds a beacon for a service, which is the state beacon.present.
func beacon(c *states.Call, a named) (states.Plan, error) {
	sfun := a.KW.Value("sfun")
	if sfun != "running" && sfun != "dead" {
		return states.Wrong("service." + python.Str(sfun) + " does not work with the beacon state function"), nil
	}
	if !python.Truth(a.KW.Value("beacon")) {
		return states.Correct("Not adding beacon."), nil
	}
	const fun = "beacon.present"
	registry := c.Env.Registry.Program().States
	f, ok := registry.Lookup(fun)
	if !ok {
		return states.Plan{}, &loader.NotAvailable{Name: fun, Message: registry.MissingText(fun)}
	}
	bound, err := loader.Bind(f, nil, beaconOf(a))
	if err != nil {
		return states.Plan{}, err
	}
	v, err := f.Run(c.Call, bound)
	ret, _ := v.(*payload.Map)
	return states.Plan{Name: ret.Value("name"), Result: ret.Value("result"), Comment: ret.Value("comment"),
		Changes: ret.Map("changes")}, err
}

// beaconOf are the arguments of beacon.present for a service.
func beaconOf(a named) *payload.Map {
	given, _ := a.KW.Value("beacon_data").(*payload.Map)
	or := func(key string, v any) any {
		if value, ok := given.Get(key); ok {
			return value
		}
		return v
	}
	data := payload.M("onchangeonly", or("onchangeonly", true), "delay", or("delay", int64(0)),
		"emitatstartup", or("emitatstartup", false), "uncleanshutdown", or("emitatstartup", nil))
	return payload.M("name", "beacon_service_"+a.Name, "services", payload.M(a.Name, data),
		"interval", or("interval", int64(60)), "beacon_module", "service")
}
