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

// showFleet streams the table fleet: all minions that have a key, or those that a target matches.
func (c *console) showFleet(ctx context.Context, q request, o *output) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d, members, versions := newDiffer("fleet"), c.membership(q), c.versions(q.who)
	var keys func(context.Context, Session) ([]Minion, error)
	return c.repeat(ctx, q, o, fleetEvery, func(look context.Context) error {
		from := c.roster
		if c.Master == nil || !c.Master.Here() { // a restarted master may have no control socket yet
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
			d = newDiffer("fleet") // the page has dropped its rows
			return nil
		}
		now := rows{}
		versions(minions)
		for _, m := range minions {
			if in == nil || in[m.ID] {
				now[m.Key+"/"+m.ID] = m // one id may have keys in several states
			}
		}
		return o.rows(d, now, nil)
	})
}

// versions adds the versions of minions from their grains, if the user may see grains. It reads the grains
// every ten seconds.
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

// membership returns the minions that the target of a stream matches, or nil for all. It evaluates the target
// every three seconds.
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

// expand evaluates a target. Commas and blanks may separate a list of ids.
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

// target answers with the minions that a target matches.
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

// roster asks a brine master for all minions that have a key.
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

// keysWhenTold lists the keys of a Salt master. Salt stores each such question as a job. So the console asks
// only if an event about a key differs from the last list, and otherwise at long intervals.
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

// keysAlone asks for the keys with the wheel function key.list_all, as salt-key does.
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

// wheelReturn is the return of a wheel function: {tag, data: {return, success}}.
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

// grains answers with a minion's grains from the master's cache.
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

// keyAct accepts, rejects or deletes a key with the wheel function of that name and the user's token.
func (c *console) keyAct(ctx context.Context, q request) (any, error) {
	id := q.http.PathValue("id")
	if !payload.ValidID(id) || strings.ContainsAny(id, "*?[") { // the function takes a glob, but only one key is meant
		return nil, &problem{http.StatusNotFound, "there is no such minion"}
	}
	act, _ := q.body.(KeyAct)
	low := payload.M("client", "wheel", "fun", "key."+act.Act, "match", id)
	if strings.Contains(id, ",") { // a text with a comma would name two other minions
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

// moved checks that the key now has the wanted state. The wheel functions report no error if no key matches,
// for example because the key has been removed meanwhile.
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
