package supervisor

import (
	"strconv"

	"github.com/asynkron/protoactor-go/actor"
)

// freeID returns name, or name with a suffix, so that prefix+name is free in the registry and the registry can store
// it. On 32-bit machines the registry panics on half of all ids: those whose hash is negative as an int.
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

// register adds a process of our own under the given id, or one like it.
func register(system *System, p actor.Process, id string) *PID {
	for {
		if pid, fresh := system.ProcessRegistry.Add(p, freeID(system, "", id)); fresh {
			return pid
		}
	}
}
