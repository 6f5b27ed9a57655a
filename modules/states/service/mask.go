package service

import (
	"strings"

	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type maskable struct {
	Name    string `arg:"name"`
	Runtime bool   `arg:"runtime=False"`
}

func masked(c *states.Call, a maskable) (states.Plan, error) { return mask(c, a, true) }

func unmasked(c *states.Call, a maskable) (states.Plan, error) { return mask(c, a, false) }

// mask is the plan for a service that is to be masked, or (on is false) not to be.
func mask(c *states.Call, a maskable, on bool) (states.Plan, error) {
	if !c.Has("service.masked") {
		return states.Wrong("Service masking not available on this minion"), nil
	}
	kind, done, fun := "masked", "masked", "service.mask"
	already := "Service " + a.Name + " is already "
	if !on {
		done, fun, already = "unmasked", "service.unmask", "Service "+a.Name+" was already "
	}
	if a.Runtime {
		kind, done = "runtime "+kind, "runtime "+done
	}
	is, err := c.Salt("service.masked", nil, a.Name, a.Runtime)
	if err != nil {
		return told(err)
	}
	if python.Truth(is) == on {
		return states.Correct(already + done), nil
	}
	changes := payload.M(kind, payload.M("old", !on, "new", on))
	return states.Would("Service "+a.Name+" would be "+done, changes, func() (states.Done, error) {
		_, err := c.Salt(fun, nil, a.Name, a.Runtime)
		if err == nil {
			is, err = c.Salt("service.masked", nil, a.Name, a.Runtime)
		}
		if why, ok := failure(err); ok {
			return states.Failed(why, nil)
		}
		if err != nil {
			return states.Done{}, err
		}
		if python.Truth(is) != on { // a success, as in Salt
			return states.Changed("Failed to "+strings.TrimPrefix(fun, "service.")+" service "+a.Name, nil)
		}
		return states.Changed("Service "+a.Name+" was "+done, changes)
	}), nil
}
