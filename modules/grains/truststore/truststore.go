// Package truststore holds the grain of the certificates that TLS trusts. Answers to salt/grains/truststore.py.
package truststore

import (
	"brine/modules/grains"
	"brine/wire/payload"
)

// Module is the grains of truststore.
func Module() grains.Module {
	return grains.Module{File: "truststore", Groups: func(*grains.Host) []grains.Group {
		return []grains.Group{
			{Name: "truststore", Keys: []string{"ca_truststore"}, Run: used},
		}
	}}
}

// used names the certificates TLS is checked against: those of the system.
func used() *payload.Map { return payload.M("ca_truststore", "os") }
