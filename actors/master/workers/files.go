package workers

import (
	"context"
	"os"

	"brine/actors/master/files"
	"brine/wire/payload"
)

// fileHandler answers minions that ask for files.
type fileHandler struct {
	files *files.Files
	turns *turns
}

// answer answers all commands about files. What takes long is done beside the worker, which others wait for.
func (d *fileHandler) answer(r *call) (any, error) {
	if d.files.Server.Load().Long(payload.Command(r.load), r.load) {
		return d.turns.inTurn(r, "hash of a file", func(context.Context) (any, error) { return d.answerNow(r) })
	}
	return d.answerNow(r)
}

func (d *fileHandler) answerNow(r *call) (any, error) {
	v, _, err := d.files.Server.Load().AnswerToPack(payload.Command(r.load), r.load)
	if os.IsPermission(err) || os.IsNotExist(err) {
		d.files.Log.Debug("file cannot be served", "minion", r.id, "path", payload.Show(r.load.Str("path")), "err", err)
	}
	return v, err
}

// masterOptKeys are the options a minion's state compiler asks for (salt/master.py, _master_opts).
var masterOptKeys = []string{"renderer", "failhard", "state_top", "state_top_saltenv", "nodegroups", "state_auto_order",
	"state_events", "state_aggregate", "jinja_env", "jinja_sls_env", "jinja_lstrip_blocks", "jinja_trim_blocks"}

func (d *fileHandler) masterOpts(r *call) (any, error) {
	opt, roots := d.files.Opt.Values, payload.NewMap(1)
	for _, env := range d.files.Server.Load().Envs(nil) {
		roots.Set(env, []any{})
	}
	opts := payload.M("file_roots", roots)
	for _, k := range []string{"top_file_merging_strategy", "env_order", "default_top"} {
		opts.Set(k, opt.Value(k))
	}
	if payload.EnvOnly(r.load) {
		return opts, nil
	}
	for _, k := range masterOptKeys {
		opts.Set(k, opt.Value(k))
	}
	return opts.Set("nodegroups", r.rules.Nodegroups), nil
}
