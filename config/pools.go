package config

import (
	"errors"
	"fmt"
	"strings"

	"brine/wire/payload"
	"brine/wire/python"
)

// anyCommand is the entry of the pool that takes every command no other pool names.
const anyCommand = "*"

// checkPools lists everything that is wrong with worker_pools, as Salt words it. nil is a good layout.
func checkPools(v any) []error {
	pools, ok := v.(*payload.Map)
	if !ok {
		return []error{errors.New("worker_pools must be a dictionary")}
	}
	c := poolCheck{owner: map[string]string{}}
	for name, def := range pools.All() {
		c.pool(name, def)
	}
	if c.rest == "" {
		c.fault("No catchall pool ('*') found. One pool must include '*' in its commands so every command has a " +
			"routing destination.")
	}
	if len(c.faults) == 0 {
		return nil
	}
	return append([]error{errors.New("Worker pools configuration validation failed:")}, c.faults...)
}

type poolCheck struct {
	faults []error
	owner  map[string]string // command → pool
	rest   string            // pool with "*"
}

func (c *poolCheck) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf("  - "+format, args...))
}

func (c *poolCheck) pool(key, def any) {
	name, ok := key.(string)
	switch {
	case !ok:
		c.fault("Pool name must be a string, got %s", python.Type(key))
		return
	case name == "":
		c.fault("Pool name cannot be empty")
		return
	case strings.ContainsAny(name, `/\`):
		c.fault("Pool name '%s' is invalid. Pool names cannot contain path separators (/ or \\) to prevent path "+
			"traversal attacks.", name)
		return
	case name == "..":
		c.fault("Pool name '%s' is invalid. Pool names cannot be or start with '../' to prevent path traversal attacks.",
			name)
		return
	case strings.Contains(name, "\x00"):
		c.fault("Pool name contains null byte, which is not allowed.")
		return
	}
	m, ok := def.(*payload.Map)
	if !ok {
		c.fault("Pool '%s': configuration must be a dictionary", name)
		return
	}
	if n, ok := m.Int("worker_count"); !ok || n < 1 {
		c.fault("Pool '%s': worker_count must be integer >= 1, got %s", name, python.Str(m.Value("worker_count")))
	}
	c.commands(name, m)
}

func (c *poolCheck) commands(pool string, m *payload.Map) {
	v, _ := m.Get("commands")
	list, ok := v.([]any)
	switch {
	case v != nil && !ok:
		c.fault("Pool '%s': commands must be a list", pool)
	case len(list) == 0:
		c.fault("Pool '%s': commands list cannot be empty", pool)
	}
	for _, v := range list {
		cmd, ok := v.(string)
		switch {
		case !ok:
			c.fault("Pool '%s': command '%s' must be a string", pool, python.Str(v))
		case cmd == anyCommand:
			if c.rest != "" {
				c.fault("Multiple pools have catchall ('*'): '%s' and '%s'. Only one pool can use catchall.", c.rest,
					pool)
			}
			c.rest = pool
		case c.owner[cmd] != "":
			c.fault("Command '%s' mapped to multiple pools: '%s' and '%s'", cmd, c.owner[cmd], pool)
		default:
			c.owner[cmd] = pool
		}
	}
}
