// Package timezone is the state module timezone: the host has a time zone, and its clock keeps UTC. Answers to
// salt/states/timezone.py.
package timezone

import (
	"errors"
	"strings"

	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the state module timezone.
func Module() loader.Module {
	return loader.Module{File: "timezone", Virtual: virtual, Funcs: func() []loader.Func {
		return []loader.Func{states.Fn("system", system, "The host has a time zone, and its clock keeps UTC.",
			"Europe/Berlin:", "  timezone.system")}
	}}
}

func virtual(place loader.Place) (bool, string) {
	if !place.Has("timezone.get_zone") {
		return false, "timezone module could not be loaded"
	}
	return true, ""
}

type zone struct {
	Name string `arg:"name"`
	UTC  any    `arg:"utc=True"`
}

// expected tells whether an error is one that the state tells of.
func expected(err error) bool {
	var exec *loader.CommandExecutionError
	var invoc *loader.InvocationError
	return errors.As(err, &exec) || errors.As(err, &invoc)
}

func system(c *states.Call, a zone) (states.Plan, error) {
	same, err := c.Salt("timezone.zone_compare", nil, a.Name)
	if err != nil {
		if !expected(err) {
			return states.Plan{}, err
		}
		return states.Wrong("Unable to compare desired timezone '" + a.Name + "' to system timezone: " +
			loader.Message(err)), nil
	}
	clock, err := c.Salt("timezone.get_hwclock", nil)
	if err != nil {
		return states.Plan{}, err
	}
	wantsUTC := python.Truth(a.UTC)
	setZone, setClock := same != true, wantsUTC && clock == "localtime"
	utc := python.Str(a.UTC)
	if !setZone && !setClock {
		comment := "Timezone " + a.Name + " already set"
		if wantsUTC {
			comment += ", UTC already set to " + a.Name
		}
		return states.Correct(comment), nil
	}
	var would []string
	if setZone {
		would = append(would, "Timezone "+a.Name+" needs to be set")
	}
	if setClock {
		would = append(would, "UTC needs to be set to "+utc)
	}
	return states.Would(strings.Join(would, ", "), nil, func() (states.Done, error) {
		return a.set(c, setZone, setClock)
	}), nil
}

// set sets the zone and the clock. Unlike Salt: a zone that there is not fails.
func (a zone) set(c *states.Call, setZone, setClock bool) (states.Done, error) {
	done := states.Done{Result: true, Changes: payload.NewMap(0)}
	var told []string
	if setZone {
		v, err := c.Salt("timezone.set_zone", nil, a.Name)
		switch {
		case err != nil:
			return done, err
		case v == true:
			done.Changes.Set("timezone", a.Name)
			told = append(told, "Set timezone "+a.Name)
		default:
			done.Result = false
			told = append(told, "Failed to set timezone")
			if text, ok := v.(string); ok {
				told[0] += ": " + text
			}
		}
	}
	if setClock {
		v, err := c.Salt("timezone.set_hwclock", nil, "UTC")
		switch utc := python.Str(a.UTC); {
		case err != nil:
			return done, err
		case python.Truth(v):
			done.Changes.Set("utc", a.UTC)
			told = append(told, "Set UTC to "+utc)
		default:
			done.Result = false
			told = append(told, "Failed to set UTC to "+utc)
		}
	}
	done.Comment = strings.Join(told, ", ")
	return done, nil
}
