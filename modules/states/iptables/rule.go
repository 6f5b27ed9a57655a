package iptables

import (
	"errors"
	"io/fs"
	"strings"

	"brine/modules/execution/iptables"
	"brine/modules/loader"
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

// kind is what a state does with a rule, and how it says so. Its texts begin with words of name, command and family,
// which stand where the letters n, c and f are: %n, %c, %f.
type kind struct {
	name, command            string
	already, would           string
	done, saved, failed      string
	absent                   bool // the rule is not to be there
	needsPosition, positions bool
}

var (
	appends = kind{name: "append", command: "A",
		already: "iptables rule for %n already set (%c) for %f", would: "iptables rule for %n needs to be set (%c) for %f",
		done: "Set iptables rule for %n to: %c for %f", saved: "Set and saved iptables rule %n for %f\n%c\n",
		failed: "Failed to set iptables rule for %n.\nAttempted rule was %c for %f"}
	inserts = kind{name: "insert", command: "I", needsPosition: true, positions: true,
		already: "iptables rule for %n already set for %f (%c)", would: "iptables rule for %n needs to be set for %f (%c)",
		done: "Set iptables rule for %n to: %c for %f", saved: "Set and saved iptables rule %n for %f\n%c\n",
		failed: "Failed to set iptables rule for %n.\nAttempted rule was %c"}
	deletes = kind{name: "delete", command: "D", absent: true, positions: true,
		already: "iptables rule for %n already absent for %f (%c)",
		would:   "iptables rule for %n needs to be deleted for %f (%c)",
		done:    "Delete iptables rule for %n %c", saved: "Deleted and saved iptables rule %n for %f\n%c\n",
		failed: "Failed to delete iptables rule for %n.\nAttempted rule was %c"}
)

// verb is a function of the module.
type verb struct{ kind }

// rule is one rule that a state is about.
type rule struct {
	verb
	c                 *states.Call
	filter            *iptables.Filter
	name              string
	at                iptables.Place
	family            string
	text, command     string
	position          any
	saveFile          string
	save, hasPosition bool
}

// say fills a text in.
func (r *rule) say(text string) string {
	return strings.NewReplacer("%n", r.name, "%c", r.command, "%f", r.family).Replace(text)
}

func (v verb) plan(c *states.Call, a other) (states.Plan, error) {
	if a.KW.Has("rules") {
		return v.planAll(c, a)
	}
	r, err := v.rule(c, a)
	if err != nil {
		return states.Plan{}, err
	}
	return r.plan()
}

// rule reads the arguments. Unlike Salt: a rule that cannot be built is not given to the program.
func (v verb) rule(c *states.Call, a other) (*rule, error) {
	r := &rule{verb: v, c: c, name: a.Name, family: a.Family}
	if !a.KW.Has("chain") {
		return nil, loader.Raise("KeyError", "'chain'")
	}
	kw := a.KW.Clone()
	r.position, r.hasPosition = kw.Get("position")
	if v.needsPosition && !r.hasPosition {
		return nil, loader.Raise("KeyError", "'position'")
	}
	kw.Delete("position")
	r.at = iptables.Place{Table: a.Table, Chain: python.Str(kw.Value("chain")), Position: loader.Text(r.position)}
	r.saveFile, r.save = saveTo(kw)
	var err error
	if r.text, err = iptables.Rule(kw); err != nil {
		return nil, err
	}
	if strings.HasPrefix(r.text, "Error: ") {
		return nil, loader.InvocErr("%s", strings.TrimPrefix(r.text, "Error: "))
	}
	if r.filter, err = iptables.New(c.Call, r.family); err != nil {
		return nil, err
	}
	r.command, err = r.filter.Full(r.at, v.command, r.text)
	r.command = strings.TrimSpace(r.command)
	return r, err
}

func (r *rule) plan() (states.Plan, error) {
	there, err := r.filter.Check(r.at.Table, r.at.Chain, r.text)
	if err != nil {
		return states.Plan{}, err
	}
	if there != r.absent && !(r.absent && r.hasPosition) {
		if r.absent || !r.save {
			return states.Correct(r.say(r.already)), nil
		}
		return r.keep()
	}
	return states.Would(r.say(r.would), nil, r.apply), nil
}

// keep has the rules saved where they are not so yet. Unlike Salt: test mode saves nothing, and a file that is not
// there is made.
func (r *rule) keep() (states.Plan, error) {
	already := r.say(r.already)
	hold, err := r.filter.Rules()
	if err != nil {
		return states.Plan{}, err
	}
	kept, err := r.filter.Kept(r.saveFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return states.Plan{}, err
	}
	if err == nil && payload.Equal(rulesOf(hold), rulesOf(kept)) {
		return states.Correct(already), nil
	}
	return states.Would(already+"\nThe rules need to be saved", nil, func() (states.Done, error) {
		told, err := r.filter.Save(r.saveFile)
		if err != nil {
			return states.Done{}, err
		}
		return states.Changed(already+r.say("\nSaved iptables rule %n for %f\n%c\n")+told, nil)
	}), nil
}

// rulesOf are the rules of each chain, in their order.
func rulesOf(tables *payload.Map) []any {
	var out []any
	for _, chains := range tables.All() {
		for _, chain := range chains.(*payload.Map).All() {
			out = append(out, chain.(*payload.Map).Value("rules"))
		}
	}
	return out
}

func (r *rule) apply() (states.Done, error) {
	kw := payload.M("rule", r.text, "family", r.family)
	if r.positions && r.hasPosition {
		kw.Set("position", r.position)
	}
	if r.absent && r.hasPosition {
		kw.Delete("rule")
	}
	v, err := r.c.Salt("iptables."+r.kind.name, kw, r.at.Table, r.at.Chain)
	if err != nil {
		return states.Done{}, err
	}
	if fine := !python.Truth(v); fine == (r.kind.name == appends.name) {
		return states.Failed(r.say(r.failed), nil)
	}
	if !r.save {
		return states.Changed(r.say(r.done), changes(r.name))
	}
	told, err := r.filter.Save(r.saveFile)
	if err != nil {
		return states.Done{}, err
	}
	return states.Changed(r.say(r.saved)+told, changes(r.name))
}

// planAll is for rules that are set together. Each is looked at again before it is set, since two may be the same.
func (v verb) planAll(c *states.Call, a other) (states.Plan, error) {
	var rules []*rule
	file, save := "", false
	for _, item := range a.KW.List("rules") {
		args, ok := item.(*payload.Map)
		if !ok {
			return states.Plan{}, loader.InvocErr("an item of rules must be a dictionary, not a %s", python.Type(item))
		}
		r, err := v.rule(c, one(args))
		if err != nil {
			return states.Plan{}, err
		}
		if r.save {
			file, save, r.save = r.saveFile, true, false
		}
		rules = append(rules, r)
	}
	p := states.Plan{Result: true}
	var comments []string
	for _, r := range rules {
		one, err := r.plan()
		if err != nil {
			return states.Plan{}, err
		}
		comments = append(comments, python.Str(one.Comment))
		if one.Apply != nil {
			p.Result = nil
		}
	}
	p.Comment = strings.Join(comments, "\n")
	if p.Result == nil || save {
		p.Apply = func() (states.Done, error) { return applyAll(rules, file, save) }
	}
	return p, nil
}

// one are the arguments of one rule.
func one(args *payload.Map) other {
	a := other{chain{python.Str(args.Value("name")), "filter", "ipv4"}, args.Clone()}
	if v, ok := args.Get("table"); ok {
		a.Table = python.Str(v)
	}
	if v, ok := args.Get("family"); ok {
		a.Family = python.Str(v)
	}
	for _, key := range []string{"name", "table", "family", "rules"} {
		a.KW.Delete(key)
	}
	return a
}

func applyAll(rules []*rule, file string, save bool) (states.Done, error) {
	done := states.Done{Result: true, Changes: payload.NewMap(0)}
	var comments []string
	var set []any
	for _, r := range rules {
		p, err := r.plan()
		if err != nil {
			return states.Done{}, err
		}
		result, comment := p.Result, p.Comment
		if p.Apply != nil {
			one, err := p.Apply()
			if err != nil {
				return states.Done{}, err
			}
			result, comment = one.Result, one.Comment
			if one.Changes.Len() > 0 {
				set = append(set, r.name)
			}
		}
		comments = append(comments, python.Str(comment))
		if result == false {
			done.Result = false
		}
	}
	if save && len(rules) > 0 {
		if _, err := rules[0].filter.Save(file); err != nil {
			return states.Done{}, err
		}
	}
	if set != nil {
		done.Changes.Set("locale", set)
	}
	done.Comment = strings.Join(comments, "\n")
	return done, nil
}
