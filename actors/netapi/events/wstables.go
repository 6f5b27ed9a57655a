package events

import (
	"context"
	"time"

	"brine/actors/netapi/aside"
	"brine/modules/netapi/feed"
)

// writeTables sends summaries in place of events.
func (s *socket) writeTables(ctx context.Context) error {
	tables := feed.NewTables(s.how.Style == Tornado)
	if s.how.Style == Tornado {
		s.askGrains(ctx, nil)
	}
	return pump(ctx, s.reader, func(got []*feed.Event) error {
		due := map[string]bool{}
		for _, e := range got {
			changed, fresh := tables.Take(e)
			if len(fresh) > 0 {
				s.askGrains(ctx, fresh)
			}
			for _, kind := range changed {
				due[kind] = true
			}
			if tables.Weight() < smallTables {
				if err := s.sendTables(tables, due); err != nil {
					return err
				}
			}
		}
		if len(due) == 0 {
			return nil
		}
		if err := s.sendTables(tables, due); err != nil {
			return err
		}
		return pause(ctx, tables.Weight())
	})
}

// sendTables sends the tables that are due.
func (s *socket) sendTables(tables *feed.Tables, due map[string]bool) error {
	for _, kind := range []string{feed.Jobs, feed.Minions} {
		if !due[kind] {
			continue
		}
		delete(due, kind)
		if err := s.ws.SendText(tables.Text(kind)); err != nil {
			return err
		}
	}
	return nil
}

// pause delays a reader with big tables, so that they are not sent again for each event.
func pause(ctx context.Context, weight int) error {
	t := time.NewTimer(min(time.Duration(weight)*time.Second/tablesRate, tablesPause))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// askGrains asks minions for their grains, one question at a time.
func (s *socket) askGrains(ctx context.Context, ids []string) {
	if s.how.Grains == nil {
		return
	}
	select {
	case s.asking <- struct{}{}:
	default:
		return // the next change asks them
	}
	aside.Go(s.hub.opt.Log, "grains", func(error) {}, func() {
		defer func() { <-s.asking }()
		ctx, cancel := context.WithTimeout(ctx, askPatience)
		defer cancel()
		if err := s.how.Grains(ctx, ids); err != nil {
			s.hub.opt.Log.Debug("grains not asked for", "reader", s.reader.Stream.Name(), "err", err)
		}
	})
}
