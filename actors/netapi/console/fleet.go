package console

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"brine/modules/matchers"
	"brine/wire/control"
	"brine/wire/payload"
)

// showFleet streams the table fleet: all minions that have a key, or those that a target means.
func (c *console) showFleet(ctx context.Context, q request, o *output) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d, members, versions := newDiffer("fleet"), c.membership(q), c.versions(q.who)
	var keys func(context.Context, Session) ([]Minion, error)
	return c.repeat(ctx, q, o, fleetEvery, func(look context.Context) error {
		from := c.roster
		if c.Master == nil || !c.Master.Here() { // a master that comes back may have none yet
			if keys == nil {
				keys = c.keysWhenTold(ctx)
			}
			from = keys
		}
		minions, err := from(look, q.who)
		if err != nil {
			return o.rows(d, nil, err)
		}
		in, err := members(look)
		if err := o.note("target", err); err != nil {
			return err
		}
		if err != nil {
			d = newDiffer("fleet") // the page has dropped what it had
			return nil
		}
		now := rows{}
		versions(minions)
		for _, m := range minions {
			if in == nil || in[m.ID] {
				now[m.Key+"/"+m.ID] = m // the same id may have keys of several states
			}
		}
		return o.rows(d, now, nil)
	})
}

// versions fills in which version minions are, by their grains, for who may see those. They are looked at every ten
// seconds.
func (c *console) versions(who Session) func([]Minion) {
	known, at := map[string]string{}, time.Time{}
	see := c.Files != nil && may(who.Rules, rightGrains)
	return func(list []Minion) {
		if see && time.Since(at) > 10*time.Second {
			known, at = map[string]string{}, time.Now()
			for _, m := range list {
				if grains, err := c.Files.Grains(m.ID, "saltversion"); err == nil && grains != nil {
					known[m.ID] = str(grains, "saltversion")
				}
			}
		}
		for i := range list {
			list[i].Version = known[list[i].ID]
		}
	}
}

// membership tells whom the target of a stream means; nil for all. It is worked out anew every three seconds.
func (c *console) membership(q request) func(context.Context) (map[string]bool, error) {
	tgt, kind := strings.TrimSpace(q.query("tgt")), q.query("tgt_type")
	var last map[string]bool
	var at time.Time
	return func(ctx context.Context) (map[string]bool, error) {
		if tgt == "" {
			return nil, nil
		}
		if last != nil && time.Since(at) < minionEvery {
			return last, nil
		}
		found, err := c.expand(ctx, tgt, kind)
		if err != nil {
			return nil, err
		}
		last, at = map[string]bool{}, time.Now()
		for _, id := range found.Minions {
			last[id] = true
		}
		return last, nil
	}
}

// expand works out whom a target means: a list of ids may be divided by commas and blanks.
func (c *console) expand(ctx context.Context, tgt, kind string) (matchers.Expansion, error) {
	if c.Files == nil {
		return matchers.Expansion{}, &problem{http.StatusServiceUnavailable,
			"the files of the master cannot be read here"}
	}
	if kind == "" {
		kind = "compound"
	}
	var what any = tgt
	if kind == "list" {
		what = payload.AnyList(strings.FieldsFunc(tgt, func(r rune) bool { return r == ',' || r == ' ' }))
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	found, err := c.Files.Expand(ctx, what, kind)
	if err != nil {
		return found, &problem{http.StatusBadRequest, "This target cannot be read: " + err.Error()}
	}
	return found, nil
}

// target answers whom a target means.
func (c *console) target(ctx context.Context, q request) (any, error) {
	found, err := c.expand(ctx, q.query("tgt"), q.query("tgt_type"))
	if err != nil {
		return nil, err
	}
	ids := slices.Clone(found.Minions)
	slices.Sort(ids)
	return Target{Count: len(ids), Minions: append([]string{}, ids[:min(len(ids), 1000)]...),
		Missing: append([]string{}, found.Missing...)}, nil
}

// roster are all that have a key, as a brine master tells them.
func (c *console) roster(ctx context.Context, _ Session) ([]Minion, error) {
	roster, err := ask(ctx, c, control.GetRoster{})
	if err != nil {
		return nil, err
	}
	var list []Minion
	for _, v := range roster.List("minions") {
		m, ok := v.(*payload.Map)
		if !ok {
			continue
		}
		job := m.Map("last_job")
		row := Minion{ID: str(m, "id"), Key: str(m, "key"), Connected: str(m, "connected"), Brine: m.Bool("brine"),
			Protocol: whole(m, "protocol"), Heard: str(m, "heard"), JID: str(job, "jid"), Fun: str(job, "fun"),
			Ran: str(job, "time")}
		if refused := m.Map("refused"); refused != nil {
			for kind := range refused.All() {
				if name, ok := kind.(string); ok {
					row.Refused += whole(refused, name)
				}
			}
		}
		list = append(list, row)
	}
	return list, nil
}

// keysWhenTold lists the keys of a master of Salt. Each list is a job that Salt stores, so that it is asked for only
// when the bus tells of a key that is not as in the last one, and every so often without.
func (c *console) keysWhenTold(ctx context.Context) func(context.Context, Session) ([]Minion, error) {
	bus := c.listen(ctx, func(tag string) bool {
		return strings.HasPrefix(tag, "salt/key") || strings.HasPrefix(tag, "salt/auth")
	}, func() {})
	var list []Minion
	var asked time.Time
	var trouble error
	news, known := true, map[string]string{}
	return func(ctx context.Context, who Session) ([]Minion, error) {
		news = news || time.Since(asked) > keysEvery
		for len(bus) > 0 {
			h := <-bus
			act := map[string]string{"pend": "pending", "accept": "accepted", "reject": "rejected",
				"denied": "denied"}[str(h.data, "act")]
			news = news || h.tag == "" || strings.HasPrefix(h.tag, "salt/key") || known[str(h.data, "id")] != act
		}
		if news && time.Since(asked) > minionEvery {
			asked = time.Now()
			if list, trouble = c.keysAlone(ctx, who); trouble != nil {
				return nil, trouble
			}
			news, known = false, map[string]string{}
			for _, m := range list {
				known[m.ID] = m.Key
			}
		}
		return slices.Clone(list), trouble
	}
}

// keysAlone asks for the keys as salt-key does, by the wheel function key.list_all.
func (c *console) keysAlone(ctx context.Context, who Session) ([]Minion, error) {
	got, err := c.call(ctx, who, payload.M("client", "wheel", "fun", "key.list_all"))
	if err != nil {
		return nil, err
	}
	keys := wheelReturn(got)
	if keys == nil {
		return nil, &problem{http.StatusBadGateway, "The master did not list its keys."}
	}
	var list []Minion
	for _, state := range [][2]string{{"minions", "accepted"}, {"minions_pre", "pending"},
		{"minions_rejected", "rejected"}, {"minions_denied", "denied"}} {
		for _, id := range payload.Texts(keys.List(state[0])) {
			list = append(list, Minion{ID: id, Key: state[1]})
		}
	}
	return list, nil
}

// wheelReturn is what a wheel function returned: {tag, data: {return, success}}.
func wheelReturn(v any) *payload.Map {
	m, ok := v.(*payload.Map)
	if !ok {
		return nil
	}
	if data := m.Map("data"); data != nil {
		return data.Map("return")
	}
	return nil
}

// grains answers with what a minion has told the master.
func (c *console) grains(_ context.Context, q request) (any, error) {
	id := q.http.PathValue("id")
	if c.Files == nil || !payload.ValidID(id) {
		return nil, &problem{http.StatusNotFound, "there is no such minion"}
	}
	got, err := c.Files.Grains(id)
	if err != nil {
		return nil, &problem{http.StatusInternalServerError, "the grains of " + id + " cannot be read"}
	}
	answer := Grains{ID: id, Grains: asJSON(nil)}
	if got != nil {
		answer.Grains = asJSON(got)
	}
	return answer, nil
}

// keyAct does something to a key by the wheel function of that name, with the token of who asks.
func (c *console) keyAct(ctx context.Context, q request) (any, error) {
	id := q.http.PathValue("id")
	if !payload.ValidID(id) || strings.ContainsAny(id, "*?[") { // the function takes a glob, and one key is meant
		return nil, &problem{http.StatusNotFound, "there is no such minion"}
	}
	act, _ := q.body.(KeyAct)
	low := payload.M("client", "wheel", "fun", "key."+act.Act, "match", id)
	if strings.Contains(id, ",") { // which would name two others
		low.Set("match", []any{id})
	}
	switch act.Act {
	case "accept":
		low.Set("include_rejected", true)
	case "reject":
		low.Set("include_accepted", true)
	case "delete":
	default:
		return nil, &problem{http.StatusBadRequest, "a key is accepted, rejected or deleted"}
	}
	got, err := c.call(ctx, q.who, low)
	if err != nil {
		return nil, err
	}
	if m, ok := got.(*payload.Map); ok {
		if data := m.Map("data"); data != nil && data.Value("success") == false {
			return nil, &problem{http.StatusBadGateway, "The master could not do it."}
		}
	}
	return moved(got, act.Act, id)
}

// moved looks whether a key is now where it was to go: the functions do not mind when none matches, as one that has
// gone meanwhile.
func moved(got any, act, id string) (any, error) {
	to, told := map[string]string{"accept": "minions", "reject": "minions_rejected"}[act]
	if !told {
		return Done{true}, nil
	}
	if keys := wheelReturn(got); keys == nil || !slices.Contains(payload.Texts(keys.List(to)), id) {
		return nil, &problem{http.StatusNotFound, "There is no key of " + id + " any more to " + act + "."}
	}
	return Done{true}, nil
}
