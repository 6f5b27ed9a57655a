package feed

import (
	"strings"

	"brine/modules/outputters"
	"brine/wire/payload"
)

// Bounds of the tables of one reader. Unlike Salt: its tables grow as long as the reader stays.
const (
	jobsMost    = 100
	jobBytes    = 4 << 20 // of the events that made the jobs
	minionsMost = 10000
	minionBytes = 4 << 20
	freshMost   = 1000 // minions that are asked for their grains at once
)

// Kinds of tables, as they stand in what a client gets.
const (
	Jobs    = "jobs"
	Minions = "minions"
)

// Tables are the summaries of the events that a reader gets with format_events: which jobs there were since it came,
// how far each is, and which minions. They are used from one goroutine.
//
//	jobs     {jid: {jid, start_time, minions: {id: {success[, return, retcode]}}, fun, tgt, tgt_type, state}}
//	minions  {id: {[grains,] id}} of rest_tornado, a list of the same of rest_cherrypy
//
// Answers to SaltInfo in event_processor.py of salt/netapi/rest_cherrypy and of rest_tornado.
type Tables struct {
	tornado bool
	jobs    table
	minions table
}

// table is a map with the weight of each entry in it.
type table struct {
	m      *payload.Map
	weight map[string]int
	total  int
}

func newTable() table { return table{m: payload.NewMap(0), weight: map[string]int{}} }

func (t *table) put(key string, v *payload.Map, weight int) {
	t.m.Set(key, v)
	t.total += weight
	t.weight[key] += weight
}

func (t *table) remove(key string) {
	t.m.Delete(key)
	t.total -= t.weight[key]
	delete(t.weight, key)
}

// bound drops the oldest entries beyond so many, and so many bytes.
func (t *table) bound(most, bytes int) {
	if t.m.Len() <= most && t.total <= bytes {
		return
	}
	for _, k := range t.m.Keys() {
		if t.m.Len() <= most && t.total <= bytes {
			return
		}
		t.remove(k.(string))
	}
}

// NewTables makes empty ones, in the form of rest_tornado or of rest_cherrypy.
func NewTables(tornado bool) *Tables {
	return &Tables{tornado: tornado, jobs: newTable(), minions: newTable()}
}

// Take takes an event in. It returns which tables are news, and the minions whose grains are wanted now. An event that
// has not what belongs to it changes nothing; Salt's streams end with it.
func (t *Tables) Take(e *Event) (changed, fresh []string) {
	parts := strings.Split(e.Tag, "/")
	if len(parts) < 2 {
		return nil, nil
	}
	switch {
	case parts[1] == "job" && len(parts) > 3 && parts[3] == "new":
		return t.newJob(e), nil
	case parts[1] == "job" && len(parts) == 5 && parts[3] == "ret":
		return t.jobReturn(e, parts[2], parts[4]), nil
	case parts[1] == "key":
		return t.keyEvent(e.Data()), nil
	case parts[1] == "presence":
		return t.presence(e.Data())
	}
	return nil, nil
}

// funGrains is the function whose returns are the minions' table.
const funGrains = "grains.items"

func (t *Tables) newJob(e *Event) []string {
	data := e.Data()
	jid, fun := data.Str("jid"), data.Str("fun")
	if jid == "" {
		return nil
	}
	minions := payload.NewMap(0)
	for _, id := range payload.Texts(data.List("minions")) {
		minions.Set(id, payload.M("success", false))
	}
	t.jobs.remove(jid)
	t.jobs.put(jid, payload.M("jid", jid, "start_time", data.Value("_stamp"), "minions", minions, "fun",
		data.Value("fun"), "tgt", data.Value("tgt"), "tgt_type", data.Value("tgt_type"), "state", "running"), e.size())
	t.jobs.bound(jobsMost, jobBytes)
	if fun == funGrains && !t.tornado {
		t.minions = newTable() // they are asked anew
	}
	return []string{Jobs}
}

// jobReturn notes what a minion has returned. The job may be older than the reader.
func (t *Tables) jobReturn(e *Event, jid, id string) []string {
	data := e.Data()
	if !data.Has("return") {
		return nil
	}
	job := t.jobs.m.Map(jid)
	if job == nil {
		job = payload.M("minions", payload.NewMap(1))
	}
	minions := job.Map("minions")
	minion := minions.Map(id)
	if minion == nil {
		minion = payload.NewMap(3)
		minions.Set(id, minion)
	}
	minion.Set("return", data.Value("return")).Set("retcode", data.Value("retcode")).Set("success",
		data.Value("success"))
	if allSucceeded(minions) {
		job.Set("state", "complete")
	}
	t.jobs.put(jid, job, e.size())
	t.jobs.bound(jobsMost, jobBytes)
	if data.Str("fun") == funGrains {
		t.setGrains(id, data.Value("return"), e.size())
		return []string{Jobs, Minions}
	}
	return []string{Jobs}
}

func allSucceeded(minions *payload.Map) bool {
	for _, m := range minions.All() {
		if ok, _ := m.(*payload.Map).Value("success").(bool); !ok {
			return false
		}
	}
	return true
}

func (t *Tables) setGrains(id string, grains any, weight int) {
	t.addMinion(id)
	minion := t.minions.m.Map(id)
	t.minions.total -= t.minions.weight[id]
	t.minions.weight[id] = 0
	minion.Set("grains", grains)
	t.minions.put(id, minion, weight)
	t.minions.bound(minionsMost, minionBytes)
}

func (t *Tables) addMinion(id string) {
	if !t.minions.m.Has(id) {
		t.minions.put(id, payload.NewMap(1), overhead)
		t.minions.bound(minionsMost, minionBytes)
	}
}

func (t *Tables) keyEvent(data *payload.Map) []string {
	id := data.Str("id")
	if id == "" {
		return nil
	}
	switch data.Str("act") {
	case "delete":
		t.minions.remove(id)
	case "accept":
		t.addMinion(id)
	}
	return []string{Minions}
}

// presence compares the table with who is connected: all of them, or with rest_tornado also who has come and gone.
func (t *Tables) presence(data *payload.Map) (changed, fresh []string) {
	lost := textSet(data.List("lost"))
	come := payload.Texts(data.List("new"))
	present := payload.Texts(data.List("present"))
	if !t.tornado && !data.Has("present") {
		return nil, nil
	}
	if !t.tornado || len(lost) == 0 {
		here := textSet(data.List("present"))
		lost = map[string]bool{}
		for k := range t.minions.m.All() {
			if id := k.(string); !here[id] {
				lost[id] = true
			}
		}
	}
	if !t.tornado || len(come) == 0 {
		come = nil
		for _, id := range present {
			if !t.minions.m.Has(id) {
				come = append(come, id)
			}
		}
	}
	for id := range lost {
		t.minions.remove(id)
	}
	if t.tornado {
		for _, id := range come {
			t.addMinion(id)
		}
	}
	if len(lost) == 0 && len(come) == 0 {
		return nil, nil
	}
	return []string{Minions}, come[:min(len(come), freshMost)]
}

func textSet(list []any) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, id := range payload.Texts(list) {
		set[id] = true
	}
	return set
}

// Weight is about how many bytes a text of the tables has.
func (t *Tables) Weight() int { return (t.jobs.total + t.minions.total) / copies }

// Text is a table as a client gets it.
func (t *Tables) Text(kind string) string {
	var v any = t.jobs.m
	if kind == Minions {
		v = t.minionList()
	}
	text := outputters.JSON(payload.M(kind, v))
	if t.tornado {
		text += "\n\n"
	}
	return text
}

func (t *Tables) minionList() any {
	list, m := make([]any, 0, t.minions.m.Len()), payload.NewMap(t.minions.m.Len())
	for k, v := range t.minions.m.All() {
		one := v.(*payload.Map).Clone().Set("id", k)
		list = append(list, one)
		m.Set(k, one)
	}
	if t.tornado {
		return m
	}
	return list
}
