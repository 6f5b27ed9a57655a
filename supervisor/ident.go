package supervisor

import (
	"strconv"

	"github.com/asynkron/protoactor-go/actor"
)

// freeID returns name, or name with a suffix, such that prefix+name is free in the registry and the registry
// can store it: on 32-bit machines it panics on half of all ids, those whose hash is negative as an int.
func freeID(system *System, prefix, name string) string {
	id := name
	for k := 1; !registrable(system.ProcessRegistry, prefix+id); k++ {
		id = name + "." + strconv.Itoa(k)
	}
	return id
}

func registrable(registry *actor.ProcessRegistryValue, id string) (ok bool) {
	if strconv.IntSize == 32 {
		defer func() { ok = recover() == nil && ok }()
	}
	_, taken := registry.GetLocal(id)
	return !taken
}

// register enters a process of our own under an id like the one given.
func register(system *System, p actor.Process, id string) *PID {
	for {
		if pid, fresh := system.ProcessRegistry.Add(p, freeID(system, "", id)); fresh {
			return pid
		}
	}
}
