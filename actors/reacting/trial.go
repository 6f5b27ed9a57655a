package reacting

import (
	"context"
	"fmt"
	"log/slog"

	"brine/modules/reactor"
	"brine/wire/control"
	"brine/wire/payload"
	"brine/wire/python"
)

// Try tells which rules an event would meet and which calls they come to. It makes none, and the templates call no
// functions.
func (p *Part) Try(ctx context.Context, tag string, data *payload.Map) control.ReactorTrial {
	out := control.ReactorTrial{Tag: tag, Own: reactor.Own(data), Leader: p.Leads()}
	rules := p.current().Rules
	all := rules.Tags()
	rules.Hits(tag, func(place int) {
		out.Rules = append(out.Rules, control.ReactorRule{Tag: all[place].Tag, SLS: all[place].SLS})
	})
	engine := p.opt.Engine(true, func(level slog.Level, text string, err error) {
		if err != nil {
			text += fmt.Sprint(err)
		}
		out.Log = append(out.Log, level.String()+" "+text)
	})
	ctx, cancel := context.WithTimeout(ctx, compileTime)
	defer cancel()
	chunks, _ := engine.Chunks(ctx, tag, data, rules.Match(tag))
	for _, chunk := range chunks {
		c, err := engine.Call(chunk)
		if err != nil {
			continue // it is in the log
		}
		one := control.ReactorCall{Kind: c.Kind, ID: c.ID, Fun: c.Fun, SLS: chunk.Str("__sls__"), Args: c.Args(),
			KW: c.KW(), More: c.More}
		if c.Kind == reactor.KindLocal {
			one.Tgt = python.Str(c.Tgt)
		}
		out.Calls = append(out.Calls, one)
	}
	return out
}
