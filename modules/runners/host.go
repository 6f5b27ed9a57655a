package runners

import (
	"context"
	"strings"
	"time"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Banks of what is known of minions.
const (
	BankGrains = "grains"
	BankPillar = "pillar"
	BankMine   = "mine"
)

// Unavailable is the answer of a function that lacks a part of the master.
func Unavailable(what string) error {
	return loader.ExecErr("this process has no %s", what)
}

// Say prints a line, when somebody looks.
func (o *Options) Say(line string) {
	if o.Print != nil {
		o.Print(line)
	}
}

// Progress fires an event below the run's tag, when the caller asked for progress.
func (o *Options) Progress(c *loader.Call, on bool, message string) {
	if !on || o.Bus == nil {
		return
	}
	// Progress is a service: a bus that cannot be reached does not fail the run.
	_ = o.Bus.Fire(c.Ctx, Tag(KindRunner, c.JID)+"/progress", payload.M("message", message))
}

// Collect publishes a job and waits.
func (o *Options) Collect(c *loader.Call, job Job) (*Collected, error) {
	if o.Publisher == nil {
		return nil, Unavailable("connection to minions")
	}
	return o.Publisher.Collect(c.Ctx, job)
}

// Execute publishes and returns what each minion returned; False for those that did not.
func (o *Options) Execute(c *loader.Call, job Job) (*payload.Map, error) {
	got, err := o.Collect(c, job)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for id, v := range got.Returns.All() {
		ret, _ := v.(*payload.Map)
		out.Set(id, ret.Value("return"))
	}
	for _, id := range got.Minions {
		if !out.Has(id) {
			out.Set(id, false)
		}
	}
	return out, nil
}

// Targeted expands a target; without one it is every minion with cached grains.
func (o *Options) Targeted(ctx context.Context, tgt any, tgtType string) ([]string, error) {
	if o.Minions == nil || o.Targets == nil {
		return nil, Unavailable("data cache")
	}
	if !python.Truth(tgt) {
		return o.Minions.Cached(BankGrains)
	}
	found, err := o.Targets.Expand(ctx, tgt, tgtType, "", true)
	if err != nil {
		return nil, loader.ExecErr("%s", err)
	}
	return found.Minions, nil
}

// Seconds reads an argument that is a number of seconds; nil and 0 are 0.
func Seconds(v any) time.Duration {
	f, _ := python.Number(v)
	return time.Duration(f * float64(time.Second))
}

// ListOf reads an argument that is a list, or a text with commas; nil is all.
func ListOf(v any) []string {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return payload.Texts(v)
	default:
		text := python.Str(v)
		if text == "" {
			return nil
		}
		return strings.Split(text, ",")
	}
}
