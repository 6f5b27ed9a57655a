package steps

import (
	"brine/modules/states/run/high"
	"brine/modules/states/run/low"
	"brine/wire/payload"
	"brine/wire/python"
)

// nextPhase begins the listeners when all chunks are done, then the beacons, then ends the run.
func (r *Run) nextPhase() {
	r.ended, r.started = false, map[string]bool{}
	switch r.phase++; r.phase {
	case ofListeners:
		r.queue = r.listeners()
	case ofBeacons:
		for tag, v := range r.errors.All() {
			r.results.Set(tag, v.(*payload.Map).Set("__run_num__", r.number))
			r.number++
		}
		r.queue = r.beacons()
	case over:
		r.emit(&Finished{})
	}
}

// beacons are the calls of mod_beacon.
func (r *Run) beacons() (out []*low.Step) {
	for _, chunk := range r.Chunks() {
		if chunk.Has("beacon") {
			own := chunk.Clone().Set("sfun", chunk.Value("fun")).Set("fun", "mod_beacon")
			out = append(out, &low.Step{Chunk: own.Set("__id__", "beacon_"+python.Str(chunk.Value("__id__")))})
		}
	}
	return out
}

// listener is who is called when targets have changes: chunks of a module by ID or name.
type listener struct {
	module, name any
	targets      []any
}

// listeners are the calls of mod_watch for chunks that listen to others with changes. Source: State.call_listen.
func (r *Run) listeners() (out []*low.Step) {
	chunks := r.Chunks()
	seen := map[string]bool{}
	for _, l := range wanted(chunks) {
		for _, target := range l.targets {
			ref := reference(chunks, target)
			for module, name := range ref.All() {
				for _, own := range r.fired(chunks, l, module, name) {
					if tag := low.Tag(own); !seen[tag] {
						seen[tag] = true
						out = append(out, &low.Step{Chunk: own})
					}
				}
			}
		}
	}
	return out
}

// wanted reads listen and listen_in of all chunks, in their order.
func wanted(chunks []*payload.Map) (out []listener) {
	for _, chunk := range chunks {
		if list, ok := chunk.Value("listen").([]any); ok {
			out = append(out, listener{chunk.Value("state"), chunk.Value("__id__"), list})
		}
		list, _ := chunk.Value("listen_in").([]any)
		for _, v := range list {
			in, _ := v.(*payload.Map)
			for module, name := range in.All() {
				to := payload.M(chunk.Value("state"), chunk.Value("__id__"))
				out = append(out, listener{module, name, []any{to}})
			}
		}
	}
	return out
}

// reference is a target as {module: name}; a bare ID or name is that of the last chunk that has it.
func reference(chunks []*payload.Map, target any) *payload.Map {
	ref, isMap := target.(*payload.Map)
	if isMap {
		return ref
	}
	ref = payload.NewMap(0)
	for _, chunk := range chunks {
		if payload.Equal(chunk.Value("__id__"), target) || payload.Equal(chunk.Value("name"), target) {
			ref = payload.M(chunk.Value("state"), chunk.Value("__id__"))
		}
	}
	return ref
}

// fired are the chunks to call for a listener if a target has changes. A reference to nothing is an error of the run.
func (r *Run) fired(chunks []*payload.Map, l listener, module, name any) (out []*payload.Map) {
	targets := named(chunks, module, name)
	if len(targets) == 0 {
		r.lacking(module, name)
		return nil
	}
	for _, target := range targets {
		ret := r.results.Map(low.Tag(target))
		if ret.Map("changes").Len() == 0 {
			continue
		}
		own := named(chunks, l.module, l.name)
		if len(own) == 0 {
			r.lacking(l.module, l.name)
			continue
		}
		for _, chunk := range own {
			called := chunk.Clone().Set("sfun", chunk.Value("fun")).Set("fun", "mod_watch")
			called.Set("__id__", "listener_"+python.Str(chunk.Value("__id__")))
			for _, key := range called.Keys() {
				if text, ok := key.(string); ok && isRequisite(text) {
					called.Delete(key)
				}
			}
			out = append(out, called)
		}
	}
	return out
}

// isRequisite tells what a listener's call does without (STATE_REQUISITE_KEYWORDS).
func isRequisite(key string) bool {
	switch key {
	case "onfail_all", "prerequired", "onfail_stop":
		return true
	case "use", "use_in", "require_in", "watch_in", "onchanges_in", "onfail_in", "prereq_in", "listen_in":
		return false
	}
	return high.IsRequisite(key)
}

// named are the chunks of a module with an ID or a name.
func named(chunks []*payload.Map, module, name any) (out []*payload.Map) {
	for _, chunk := range chunks {
		if payload.Equal(chunk.Value("state"), module) &&
			(payload.Equal(chunk.Value("__id__"), name) || payload.Equal(chunk.Value("name"), name) ||
				payload.Equal(module, name)) {
			out = append(out, chunk)
		}
	}
	return out
}

// lacking keeps the error of a reference to nothing.
func (r *Run) lacking(module, name any) {
	what, which := python.Str(module), python.Str(name)
	chunk := payload.M("name", "listen_"+what, "__id__", "listen_"+which, "state", "Listen_Error", "fun", "Listen_Error")
	r.errors.Set(low.Tag(chunk), payload.M("comment", "Referenced state "+what+": "+which+" does not exist", "name",
		"listen_"+what+":"+which, "result", false, "changes", payload.NewMap(0)))
}
