package mount

import (
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

func swaps(*loader.Call, struct{}) (*payload.Map, error) {
	text, err := readTable("/proc/swaps")
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) >= 5 && words[0] != "Filename" {
			out.Set(words[0], payload.M("type", words[1], "size", words[2], "used", words[3], "priority", words[4]))
		}
	}
	return out, nil
}

type swapping struct {
	Name     string `arg:"name"`
	Priority any    `arg:"priority=None"`
}

func swapon(c *loader.Call, a swapping) (*payload.Map, error) {
	on, err := swaps(c, struct{}{})
	if err != nil {
		return nil, err
	}
	if v, ok := on.Get(a.Name); ok {
		return payload.M("stats", v, "new", false), nil
	}
	words := []any{"swapon"}
	if python.Truth(a.Priority) {
		words = append(words, "-p", python.Str(a.Priority))
	}
	if _, err := c.Call("cmd.run", []any{append(words, ends(a.Name)...)}, payload.M("python_shell", false)); err != nil {
		return nil, err
	}
	if on, err = swaps(c, struct{}{}); err != nil {
		return nil, err
	}
	if v, ok := on.Get(a.Name); ok {
		return payload.M("stats", v, "new", true), nil
	}
	return payload.NewMap(0), nil
}

func swapoff(c *loader.Call, a atPlace) (any, error) {
	on, err := swaps(c, struct{}{})
	if err != nil || !on.Has(a.Name) {
		return nil, err
	}
	words := append([]any{"swapoff"}, ends(python.Str(a.Name))...)
	if _, err := c.Call("cmd.run", []any{words}, payload.M("python_shell", false)); err != nil {
		return nil, err
	}
	if on, err = swaps(c, struct{}{}); err != nil {
		return nil, err
	}
	return !on.Has(a.Name), nil
}
