package saltmaster

import (
	"context"

	"brine/actors/admin"
	"brine/actors/master"
	"brine/wire/control"
	"brine/wire/payload"
)

// ledgerQueries answer about what a master knows of its jobs.
func ledgerQueries(m *master.Master) map[string]admin.Query {
	return map[string]admin.Query{
		control.Trace: func(ctx context.Context, r *payload.Map) (any, error) {
			return m.Trace(ctx, r.Str("jid"), r.Str("minion"))
		},
		control.Why: func(ctx context.Context, r *payload.Map) (any, error) {
			ids := payload.Texts(r.List("ids"))
			if id := r.Str("minion"); id != "" {
				ids = append(ids, id)
			}
			return m.Why(ctx, r.Str("jid"), ids...)
		},
		control.Gone: func(ctx context.Context, r *payload.Map) (any, error) {
			return payload.AnyList(m.Gone(ctx, r.Str("jid"), payload.Texts(r.List("ids")))), nil
		},
		control.Standing: func(ctx context.Context, r *payload.Map) (any, error) {
			return m.Standing(ctx, r.Str("jid"), payload.Texts(r.List("ids"))), nil
		},
	}
}

// ledgerNotes take what command lines say of their jobs.
func ledgerNotes(m *master.Master) map[string]admin.Query {
	return map[string]admin.Query{
		control.Client: func(_ context.Context, r *payload.Map) (any, error) {
			m.NoteClient(r.Str("jid"), r.Map("facts"))
			return nil, nil
		},
	}
}
