// Package pillar compiles the pillar of a minion: the top file says which SLS files it gets, these are rendered, merged
// and completed by external pillars. It knows neither sockets nor caches: who asks, with which grains and overrides,
// stands in a Question, and functions that templates call come in by Options. What is wrong with a tree becomes a text
// under "_errors", in Salt's words. It answers to salt/pillar/__init__.py; the external pillars are those of
// salt/pillar.
package pillar

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"brine/modules/loader"
	"brine/modules/renderers"
	"brine/modules/renderers/jinja"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// Options are what a Compiler stands on.
type Options struct {
	Opts *payload.Map // the options of the master, defaults included; only read

	// Functions are those that the templates of one pillar find under the name salt. nil: none.
	Functions func(Surroundings) Functions
	// Means tells whether a compound target means a minion, as the master knows it. nil: it never does.
	Means func(ctx context.Context, target any, id string) bool

	// Git has the trees of git external pillars. nil: there are none here.
	Git GitTrees

	Limits jinja.Limits // of each template
	Log    func(level slog.Level, text string)
}

// Surroundings are what functions see while a pillar is compiled.
type Surroundings struct {
	ID           string
	Opts, Grains *payload.Map
	Pillar       func() *payload.Map // as far as it is compiled
}

// Functions are execution functions.
type Functions struct {
	Call func(ctx context.Context, fun string, args []any, kw *payload.Map) (any, error)
	Has  func(fun string) bool // whether there is a function, or with a name without a dot, a module
}

// Question says whose pillar is wanted. Nothing in it is changed.
type Question struct {
	ID        string
	Grains    *payload.Map
	Saltenv   any          // text, or nil
	Pillarenv any          // text, or nil for the master's own
	Known     *payload.Map // the pillar that templates see before the compilation, and whose keys stay; nil: none
	Override  *payload.Map // goes over what is compiled
	Extra     *payload.Map // data for external pillars (extra_minion_data)
	// an external pillar that is wanted besides, {name: arguments}; it must be in on_demand_ext_pillar
	Ext   any
	NoExt bool // without external pillars
}

// Compiler compiles pillars with the options of one master. It is safe for concurrent use.
type Compiler struct {
	opt   Options
	roots *roots
}

// New returns a compiler.
func New(opt Options) *Compiler { return &Compiler{opt: opt, roots: newRoots(opt.Opts)} }

// Compile returns the pillar that answers a question; it shares nothing with the question or with other pillars. What
// is wrong with single files is told within it, under "_errors". An error is what ends Salt's compilation with an
// exception, or the end of ctx.
func (c *Compiler) Compile(ctx context.Context, q Question) (*payload.Map, error) {
	r := c.newRun(ctx, q)
	out, err := r.compile()
	if ctx.Err() != nil { // whatever else it looked like
		return nil, fmt.Errorf("compile the pillar of %s: %w", q.ID, context.Cause(ctx))
	}
	return out, err
}

// run is one compilation.
type run struct {
	*Compiler
	ctx      context.Context
	q        Question
	opts     *payload.Map
	envs     *envs
	override *payload.Map
	merging  dicts.Merging
	render   *renderers.Set
	funcs    Functions
	data     *payload.Map // the pillar as far as it is known
	ignored  map[string]bool
	errors   []any
}

func (c *Compiler) newRun(ctx context.Context, q Question) *run {
	r := &run{Compiler: c, ctx: ctx, q: q, data: q.Known.Clone(), ignored: map[string]bool{}}
	r.data.Delete("_errors") // those of this compilation are told
	r.setOpts()
	r.override = payload.NewMap(0)
	if q.Override.Len() > 0 {
		r.override = dicts.Clone(q.Override).(*payload.Map)
	}
	r.merging = r.mergingOf()
	if c.opt.Functions != nil {
		r.funcs = c.opt.Functions(Surroundings{ID: q.ID, Opts: r.opts, Grains: r.grains(), Pillar: r.pillar})
	}
	r.render = renderers.New(r.rendererOptions(loader.StringList(r.opts.Value("renderer_blacklist")),
		loader.StringList(r.opts.Value("renderer_whitelist"))))
	return r
}

// mergingOf is how the options say that pillars are merged.
func (r *run) mergingOf() dicts.Merging {
	strategy := r.opt.Opts.Str("pillar_source_merging_strategy")
	if strategy == "" {
		strategy = "smart"
	}
	return dicts.Merging{Strategy: strategy, Renderer: r.renderer(),
		Lists: python.Truth(r.opts.Value("pillar_merge_lists")),
		Warn:  func(text string) { r.log(slog.LevelWarn, "%s", text) }}
}

func (r *run) grains() *payload.Map {
	if r.q.Grains == nil {
		return payload.NewMap(0)
	}
	return r.q.Grains
}

func (r *run) pillar() *payload.Map { return r.data }

func (r *run) renderer() string {
	if name := r.opts.Str("renderer"); name != "" {
		return name
	}
	return "jinja|yaml"
}

func (r *run) log(level slog.Level, format string, a ...any) {
	if r.opt.Log != nil {
		r.opt.Log(level, fmt.Sprintf(format, a...))
	}
}

// fail notes an error that the pillar tells of.
func (r *run) fail(format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	r.log(slog.LevelError, "%s", text)
	r.errors = append(r.errors, text)
}

// setOpts are the options that templates see: those of the master, with the minion's id and environments.
func (r *run) setOpts() {
	opts := r.opt.Opts.Clone()
	pillarenv := r.q.Pillarenv
	if pillarenv == nil && python.Truth(opts.Value("pillarenv_from_saltenv")) {
		pillarenv = r.q.Saltenv
	}
	if pillarenv == nil {
		pillarenv = opts.Value("pillarenv")
	}
	saltenv := r.q.Saltenv
	if saltenv == nil {
		saltenv = opts.Value("saltenv")
	}
	opts.Set("file_client", "local").Set("grains", r.grains()).Set("saltenv", saltenv).Set("pillarenv", pillarenv)
	opts.Set("id", r.q.ID).Set("minion_id", r.q.ID)
	if r.q.Known != nil {
		opts.Set("pillar", r.q.Known)
	}
	top := opts.Str("state_top")
	if top == "" {
		top = "top.sls"
	}
	if !strings.HasPrefix(top, "salt://") {
		top = "salt://" + strings.TrimPrefix(top, "/")
	}
	opts.Set("state_top", top)
	if ext := r.onDemand(opts); ext != nil {
		list, isList := opts.Value("ext_pillar").([]any)
		if isList || !opts.Has("ext_pillar") {
			opts.Set("ext_pillar", append(append([]any{}, list...), ext))
		}
	}
	r.envs = r.roots.of(text(pillarenv), text(saltenv))
	opts.Set("pillar_roots", r.envs.option())
	r.opts = opts
}

// text is a value where it is text, or "".
func text(v any) string {
	s, _ := v.(string)
	return s
}

// compile is the order of things.
func (r *run) compile() (*payload.Map, error) {
	top, err := r.top()
	if err != nil {
		return nil, err
	}
	topErrors := r.errors
	r.errors = nil
	switch {
	case r.q.NoExt:
		err = r.compileFiles(top)
	case python.Truth(r.opts.Value("ext_pillar_first")):
		err = r.compileExtFirst(top)
	default:
		if err = r.compileFiles(top); err == nil {
			var more *payload.Map
			if more, err = r.external(r.data); err == nil {
				r.data.Update(more)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	r.errors = append(r.errors, topErrors...)
	return r.finish()
}

func (r *run) compileFiles(top *topFile) error {
	matches, err := r.matches(top)
	if err != nil {
		return err
	}
	out, err := r.files(matches)
	if err == nil {
		r.data.Update(out)
	}
	return err
}

// compileExtFirst lets the top file and the SLS files see what the external pillars give.
func (r *run) compileExtFirst(top *topFile) error {
	out, err := r.external(r.override)
	if err != nil {
		return err
	}
	r.data.Update(out)
	matches, err := r.matches(top)
	if err != nil {
		return err
	}
	if out, err = r.files(matches); err != nil {
		return err
	}
	merged, err := r.merge(r.data, out)
	if err == nil {
		r.data.Update(merged)
	}
	return err
}

// merge merges maps by the strategy of the options.
func (r *run) merge(a, b any) (*payload.Map, error) {
	merged, err := r.merging.Merge(a, b)
	if err != nil {
		return nil, err
	}
	out, _ := merged.(*payload.Map)
	return out, nil
}

// finish adds the options, the errors and once more the override, and decrypts.
func (r *run) finish() (*payload.Map, error) {
	out := r.data
	if python.Truth(r.opts.Value("pillar_opts")) {
		out.Set("master", r.masterOptions())
	}
	if len(r.errors) > 0 {
		out.Set("_errors", r.errors)
	}
	if r.override.Len() > 0 {
		var err error
		if out, err = r.merge(out, r.override); err != nil {
			return nil, err
		}
	}
	out = dicts.Clone(out).(*payload.Map) // what was known before is not decrypted in place
	if wrong := r.decrypt(out); len(wrong) > 0 {
		told, _ := out.Value("_errors").([]any)
		out.Set("_errors", append(told, wrong...))
	}
	return out, nil
}

// masterOptions are what pillar_opts gives minions.
func (r *run) masterOptions() *payload.Map {
	out := payload.NewMap(r.opts.Len())
	for key, value := range r.opts.All() {
		switch key {
		case "pillar", "__context__", "functions", "matchers", "rend":
			continue
		}
		out.Set(key, value)
	}
	return out.Set("saltversion", r.opts.Value("saltversion"))
}
