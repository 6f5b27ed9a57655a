package master

import (
	"brine/modules/matchers"
	"brine/wire/event"
	"brine/wire/payload"
)

// minionEvent fires one event, or a list of them, on the master's bus. A single event carries the whole load.
func minionEvent(c *core, r *call) (any, error) {
	load := r.load
	if r.id == "" {
		return payload.NewMap(0), nil
	}
	events, several := load.Value("events").([]any)
	if !several {
		if tag := load.Str("tag"); tag != "" && load.Has("data") && !c.reservedTag(tag) {
			c.fire(tag, load)
		}
		c.sayMinionError(load)
		return nil, nil
	}
	for _, e := range events {
		ev, _ := e.(*payload.Map)
		if tag := ev.Str("tag"); tag != "" {
			c.fireListed(load, ev, tag)
			c.noteMinions(r.id, ev.Map("data"))
		}
	}
	return nil, nil
}

// fireListed fires one event of a list: under its tag behind the load's pretag, as syndics send them, and under its
// tag alone unless that is the master's.
func (c *core) fireListed(load, ev *payload.Map, tag string) {
	data := ev.Map("data")
	if data == nil {
		data = ev
	}
	if pretag, isText := load.Value("pretag").(string); isText {
		c.fire(event.Join(pretag, tag), data)
	}
	if !c.reservedTag(tag) {
		c.fire(tag, data)
	}
}

// noteMinions adds the minions that a syndic tells of to their job.
func (c *core) noteMinions(syndic string, data *payload.Map) {
	jid, ids := data.Str("jid"), data.List("minions")
	if jid == "" || ids == nil {
		return
	}
	minions := make([]string, 0, len(ids))
	for _, id := range ids {
		if text, ok := id.(string); ok {
			minions = append(minions, text)
		}
	}
	c.jobs.Send(&SaveLoad{JID: jid, Minions: minions, Syndic: syndic})
}

// sayMinionError puts an error that a minion reports into the master's log.
func (c *core) sayMinionError(load *payload.Map) {
	if load.Str("tag") == "_salt_error" {
		c.log.Error("Received minion error from [" + load.Str("id") + "]: " + load.Map("data").Str("message"))
	}
}

// reservedTags are those a minion may not speak in the name of the master (3006.28 and later).
var reservedTags = []string{"salt/job/*/publish", "salt/job/*/new", "salt/job/*/return", "salt/key", "salt/cloud/*",
	"salt/run/*", "salt/cluster/*", "salt/wheel/*/new", "salt/wheel/*/return"}

// reservedTag tells whether a minion may not fire a tag. Unlike Salt: 3008.3 looks only at lists of events.
func (c *core) reservedTag(tag string) bool {
	for _, pattern := range reservedTags {
		if matchers.GlobMatch(pattern, tag) {
			c.log.Warn("Filtering blacklisted event tag " + tag)
			return true
		}
	}
	return false
}
