package minion

import (
	"os"
	"strings"

	"brine/actors/minion/facts"
	"brine/actors/minion/link"
	"brine/modules/loader"
	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// busHandlers are the events the minion acts on (salt/minion.py, Minion.handle_event).
func (m *Minion) busHandlers() []busHandler {
	return []busHandler{
		{event.TagModuleRefresh, func(_ string, data *payload.Map) { m.refreshModules(asks(data, "notify")) }},
		{event.TagPillarRefresh, func(_ string, data *payload.Map) { m.refreshPillar(asks(data, "clean_cache")) }},
		{event.TagGrainsRefresh, func(_ string, data *payload.Map) { m.refreshGrains(asks(data, "force_refresh")) }},
		{event.TagSetEnv, func(_ string, data *payload.Map) { m.setEnv(readEnviron(data)) }},
		{event.TagMine, func(_ string, data *payload.Map) { m.forward(data) }},
		{event.TagFireMaster, func(_ string, data *payload.Map) { m.fireMaster(readToFire(data)) }},
		{event.TagReqChannel, m.requestFor},
		{event.TagManageSchedule, func(_ string, data *payload.Map) { m.scheduler.Send(&ManageSchedule{Data: data}) }},
	}
}

// refreshModules computes the grains anew, as loading the modules anew does in Salt.
func (m *Minion) refreshModules(notify bool) {
	m.refresher.Send(&facts.RefreshGrains{Done: func(bool) {
		if notify {
			m.fire(event.TagMinionComplete("mod_refresh"), payload.M("complete", true))
		}
	}})
}

// refreshPillar loads modules and pillar anew and tells when it has ended, well or not.
func (m *Minion) refreshPillar(clean bool) {
	m.refresher.Send(&facts.RefreshGrains{Done: func(bool) {
		m.refresher.Send(&facts.RefreshPillar{Clean: clean, Done: func(error) {
			m.fire(event.TagMinionComplete("pillar_refresh"), payload.M("complete", true))
		}})
	}})
}

// refreshGrains fetches the pillar for grains that have changed: the master compiles it from them, and keeps
// them for targets.
func (m *Minion) refreshGrains(force bool) {
	m.refresher.Send(&facts.RefreshGrains{Done: func(changed bool) {
		if changed || force {
			m.refreshPillar(false)
		}
	}})
}

// setEnv changes the environment of the minion's process (environ.setenv update_minion=True).
func (m *Minion) setEnv(env environ) {
	if env.set == nil {
		return
	}
	if env.clear {
		os.Clearenv()
	}
	for k, v := range env.set.All() {
		name := loader.Text(k)
		var err error
		if v == false && env.falseUnsets {
			err = os.Unsetenv(name)
		} else if v == false {
			err = os.Setenv(name, "")
		} else {
			err = os.Setenv(name, loader.Text(v))
		}
		if err != nil {
			m.log.Error("environment of the minion", "name", name, "err", err)
		}
	}
}

// forward sends a whole load that a local tool made.
func (m *Minion) forward(load *payload.Map) {
	load = unstamped(load)
	for _, l := range m.links {
		l.Post(&link.Request{Load: load, Timeout: l.ReturnTimeout(), Tries: m.times.Load().ReturnRetryTries,
			Done: link.LogFailure(m.log, payload.Command(load))})
	}
}

// fireMaster sends {data, tag, events, pretag} as a minion event.
func (m *Minion) fireMaster(e toFire) {
	load := payload.M("id", m.own.id, "cmd", payload.CmdMinionEvent, "pretag", e.pretag)
	switch {
	case python.Truth(e.events):
		load.Set("events", e.events)
	case python.Truth(e.data):
		load.Set("data", e.data).Set("tag", e.tag)
	default:
		load.Set("data", payload.NewMap(0)).Set("tag", e.tag)
	}
	m.forward(load)
}

// requestFor sends the load that a job process of Salt hands over, and fires the answer:
// __master_req_channel_payload/<request>/<master>, __master_req_channel_return/<request>.
func (m *Minion) requestFor(tag string, load *payload.Map) {
	parts := strings.Split(tag, "/")
	if len(parts) != 3 {
		return
	}
	answer := event.TagReqReturn + "/" + parts[1]
	for _, l := range m.links {
		if l.Host() != parts[2] {
			continue
		}
		load = unstamped(load)
		l.Post(&link.Request{Load: load, Timeout: l.ReturnTimeout(), Tries: m.times.Load().ReturnRetryTries,
			Done: func(v any, err error) {
				data := payload.M("ret", v)
				if err != nil {
					data = payload.M("ret", nil, "error", "timeout")
				}
				m.fire(answer, data)
			}})
		return
	}
	m.log.Error("a request is for none of our masters", "tag", tag, "cmd", payload.Command(load))
}

// fire packs an event and puts it on the minion's bus; false when it cannot be, or too many wait.
func (m *Minion) fire(tag string, data *payload.Map) bool {
	body, err := event.Pack(tag, data, m.own.eventMost)
	if err != nil {
		m.log.Error("event cannot be packed", "tag", tag, "err", err)
		return false
	}
	if m.bus.Room().Fill() >= 2 {
		m.bus.Room().Refused()
		return false
	}
	return m.bus.Put(body)
}
