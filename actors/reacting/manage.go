package reacting

import (
	"strings"

	"brine/wire/event"
	"brine/wire/payload"
	"brine/wire/python"
)

// manageTag is in the tags by which Salt's runner reactor.* speaks with a Reactor.
const manageTag = "salt/reactors/manage"

// mostManage is how many such events may wait.
const mostManage = 256

// Manage asks for what an event on the bus says about the Reactor.
type Manage struct {
	Tag  string
	Body []byte
}

// tellManager passes on what asks for something; the answers of the Reactor have such tags, too.
func (p *Part) tellManager(tag string, body []byte) {
	for _, end := range []string{"/is_leader", "/set_leader", "/add", "/delete", "/list"} {
		if ref := p.reactor.Load(); strings.HasSuffix(tag, manageTag+end) && ref != nil && ref.Depth() < mostManage {
			ref.Send(&Manage{tag, body})
		}
	}
}

// manage does it, if the event has the key of the master, and fires the answer.
func (p *Part) manage(m *Manage) {
	_, data, err := event.Unpack(m.Body)
	if err != nil || !p.opt.MasterKey(data.Str("key")) {
		p.opt.Log.Error("received salt/reactors/manage event without matching master_key. discarding")
		return
	}
	fire := func(end string, kv ...any) { p.opt.Fire(manageTag+"/"+end, payload.M(kv...)) }
	switch m.Tag[strings.LastIndexByte(m.Tag, '/')+1:] {
	case "is_leader":
		fire("leader/value", "result", p.Leads())
	case "set_leader":
		if data.Str("id") == p.opt.ID {
			p.Lead(python.Truth(data.Value("value")))
		}
		fire("leader/value", "result", p.Leads())
	case "add":
		res := p.Add(data.Value("event"), data.Value("reactors"))
		fire("add-complete", "reactors", p.List(), "result", res)
	case "delete":
		res := p.Delete(data.Value("event"))
		fire("delete-complete", "reactors", p.List(), "result", res)
	case "list":
		fire("list-results", "reactors", p.List())
	}
}
