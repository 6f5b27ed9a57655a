package reacting

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"brine/modules/reactor"
	"brine/wire/payload"
)

// SetRules adopts the option reactor of a new configuration if it has changed. Rules that were added by hand
// are removed with the old ones.
func (p *Part) SetRules(option any) {
	now := p.rules.Load()
	if payload.Equal(now.option, option) {
		return
	}
	set := &ruleSet{Rules: none(), option: option}
	switch v := option.(type) {
	case nil:
	case string:
		set.file, set.stamp = v, "unread"
	case []any:
		set.Rules = p.parsed(v)
	default:
		p.opt.Log.Error("reactor is neither a list nor the name of a file: there are no rules")
	}
	set.tallies = talliesOf(set.Rules, now)
	p.rules.Store(set)
	p.followFile()
}

func (p *Part) parsed(entries []any) *reactor.Rules {
	rules, problems := reactor.ParseRules(entries)
	p.complain(problems)
	return rules
}

func (p *Part) complain(problems []string) {
	for _, text := range problems {
		p.opt.Log.Warn(text + ": it is passed over")
	}
}

// current returns the rules for an event that arrives now, with the current content of a file of rules.
func (p *Part) current() *ruleSet {
	p.followFile()
	return p.rules.Load()
}

// stampGrain is the time within which two changes of a file may have the same stamp. A file that was read so
// soon after a change is read again.
const stampGrain = 50 * time.Millisecond

// stampOf is a stamp for the state of a file. lasting is false if a later change could have the same stamp.
func stampOf(file string) (stamp string, lasting bool) {
	info, err := os.Stat(file)
	if err != nil {
		return "none", true
	}
	changed := info.ModTime()
	stamp = fmt.Sprint(changed.UnixNano(), info.Size())
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		moved := time.Unix(sys.Ctim.Unix()) // moving a file keeps its modification time
		stamp = fmt.Sprint(stamp, moved.UnixNano(), sys.Dev, sys.Ino)
		if moved.After(changed) {
			changed = moved
		}
	}
	age := time.Since(changed)
	return stamp, age > stampGrain || age < -stampGrain
}

// followFile reads the file of rules if it has changed. An unreadable file leaves the rules as they are. Unlike
// Salt: it reads the file for every event, and dies if it cannot read it.
func (p *Part) followFile() {
	now := p.rules.Load()
	if now.file == "" {
		return
	}
	stamp, lasting := stampOf(now.file)
	if stamp == now.stamp && !now.again {
		return
	}
	set := *now
	set.stamp, set.again = stamp, !lasting
	rules, problems, err := reactor.ReadRules(now.file)
	set.wrong = strings.Join(problems, "\n")
	if err != nil {
		set.wrong = err.Error()
	} else {
		set.Rules, set.tallies = rules, talliesOf(rules, now)
	}
	if !p.rules.CompareAndSwap(now, &set) || set.wrong == now.wrong && stamp == now.stamp {
		return
	}
	if p.complain(problems); err != nil {
		p.opt.Log.Error(err.Error())
		p.tally.failed(err.Error())
	}
}

// change replaces the rules by the result of f.
func (p *Part) change(f func(*reactor.Rules) (*reactor.Rules, *payload.Map)) *payload.Map {
	for {
		now := p.current()
		rules, answer := f(now.Rules)
		set := *now
		set.Rules, set.tallies = rules, talliesOf(rules, now)
		if p.rules.CompareAndSwap(now, &set) {
			return answer
		}
	}
}

// List returns the entries of the rules, as reactor.list shows them.
func (p *Part) List() []any { return p.current().List() }

// Add adds an entry. It is valid until the next start or a change of the option.
func (p *Part) Add(tag, sls any) *payload.Map {
	return p.change(func(r *reactor.Rules) (*reactor.Rules, *payload.Map) { return r.Add(tag, sls) })
}

// Delete removes an entry for the same time.
func (p *Part) Delete(tag any) *payload.Map {
	return p.change(func(r *reactor.Rules) (*reactor.Rules, *payload.Map) { return r.Delete(tag) })
}

// Leads tells whether this master reacts to events.
func (p *Part) Leads() bool { return !p.follower.Load() }

// Lead makes this master react to events, or not.
func (p *Part) Lead(yes bool) { p.follower.Store(!yes) }
