package reactor

import (
	"log/slog"
	"slices"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Kinds of reactions.
const (
	KindLocal  = "local"  // publishes a job
	KindRunner = "runner" // calls a runner function of the master
	KindWheel  = "wheel"  // calls a wheel function of the master
	KindCaller = "caller" // calls an execution function on the machine of the master
)

// Call is what a reaction comes to.
type Call struct {
	Kind, ID, Fun string
	Tgt           any          // of a job
	Arg, KWArg    any          // as they go to Salt's clients: see Args and KW
	More          *payload.Map // the other keywords: of a job tgt_type, ret and so on, and what low data has beside
}

// Call turns a chunk of low data into the call that it asks for. ok is false when it asks for none that can be made;
// that is logged and err says it. Source: ReactWrap.run.
func (r *Reactor) Call(chunk *payload.Map) (c Call, err error) {
	c = Call{Kind: python.Str(chunk.Value("state")), ID: python.Str(chunk.Value("__id__")),
		Fun: python.Str(chunk.Value("fun"))}
	err = r.fill(&c, chunk)
	return c, err
}

// fill sets what a call is made with.
func (r *Reactor) fill(c *Call, low *payload.Map) error {
	kw, err := r.wrapped(c, low)
	if err != nil {
		return err
	}
	if args, ok := kw.Get("args"); ok {
		kw.Delete("args")
		for _, item := range []string{"arg", "kwarg"} {
			if v, ok := low.Get(item); ok {
				r.opt.Log(slog.LevelWarn, "Reactor '"+c.ID+"' is ignoring '"+item+"' param "+python.Str(v)+
					" due to presence of 'args' param. "+
					"Check the Reactor System documentation for the correct argument format.", nil)
			}
		}
		kw.Delete("arg")
		kw.Delete("kwarg")
		c.More = kw
		r.tellUnread(c)
		return r.fillNew(c, args)
	}
	arg, hasArg := kw.Get("arg")
	kwarg, hasKW := kw.Get("kwarg")
	c.Arg, c.KWArg = []any{}, payload.NewMap(0)
	if (c.Kind == KindRunner || c.Kind == KindWheel) && !(hasArg && hasKW) {
		if err := r.fillByName(c, low); err != nil {
			return err
		}
	}
	if hasArg {
		c.Arg = arg
	}
	if hasKW {
		c.KWArg = kwarg
	}
	kw.Delete("arg")
	kw.Delete("kwarg")
	c.More = kw
	return nil
}

// wrapped splits low data as a call of the wrapper of its kind: local takes fun and tgt, the others fun, by name.
func (r *Reactor) wrapped(c *Call, low *payload.Map) (*payload.Map, error) {
	kw := low.Clone()
	kw.Delete("fun")
	switch c.Kind {
	case KindLocal:
		tgt, ok := low.Get("tgt")
		if !ok {
			return nil, r.failed(c, loader.InvocErr("local takes at least 1 argument (1 given)"))
		}
		c.Tgt = tgt
		kw.Delete("tgt")
	case KindRunner, KindWheel:
		kw.Delete("state")
		kw.Set("__user__", User).Set("__state__", c.Kind)
	case KindCaller:
	default: // Unlike Salt: its Reactor dies of a kind that it does not know
		r.errorf(nil, "ReactWrap is missing a wrapper function for '%s'", c.Kind)
		return nil, loader.ExecErr("there is no reaction '%s': it must be local, runner, wheel or caller", c.Kind)
	}
	return kw, nil
}

// ownKeys are those of a reaction that stand beside args and are read, or are put there by the compiler of reactions.
var ownKeys = []string{"state", "name", "order", "__id__", "__sls__", "__env__", "__user__", "__state__"}

// tellUnread names the keys beside args that change nothing, kwargs among them. Salt drops them in silence. Those of a
// job go to its master.
func (r *Reactor) tellUnread(c *Call) {
	if c.Kind == KindLocal {
		return
	}
	for key := range c.More.All() {
		if name := python.Str(key); name != "fun" && !slices.Contains(ownKeys, name) {
			r.opt.Log(slog.LevelWarn, "Reactor '"+c.ID+"' is ignoring '"+name+
				"': nothing reads it beside 'args'. Arguments by position and by name together are 'arg' and 'kwarg'.",
				nil)
		}
	}
}

// fillNew takes args: a map, or a list of maps with one key. A list of anything else is what caller takes for
// positions.
func (r *Reactor) fillNew(c *Call, args any) error {
	c.Arg, c.KWArg = []any{}, args
	if list, ok := args.([]any); ok && c.Kind == KindCaller && !dictlist(list) {
		c.Arg, c.KWArg = list, payload.NewMap(0)
	}
	if _, ok := c.KWArg.(*payload.Map); ok {
		return nil
	}
	packed, why := repack(c.KWArg)
	if why != "" {
		r.errorf(nil, "%s", why)
	}
	if packed.Len() == 0 {
		const text = "Incorrect argument format, check the Reactor System documentation for the correct format."
		r.errorf(nil, "Reactor '%s' failed to execute %s '%s': %s", c.ID, c.Kind, c.Fun, text)
		return loader.ExecErr("%s", text)
	}
	c.KWArg = packed
	return nil
}

// fillByName takes arguments that stand among those of the reaction itself, by the declaration of the function.
func (r *Reactor) fillByName(c *Call, low *payload.Map) error {
	f, ok := r.opt.Functions.Lookup(c.Kind, c.Fun)
	if !ok {
		r.errorf(nil, "Reactor '%s' failed to execute %s '%s': function not available", c.ID, c.Kind, c.Fun)
		return loader.ExecErr("function not available")
	}
	args, kw, err := formatCall(f, low)
	if err != nil {
		return r.failed(c, err)
	}
	c.Arg, c.KWArg = args, kw
	return nil
}

// failed logs what Salt's Reactor logs of an exception.
func (r *Reactor) failed(c *Call, err error) error {
	r.errorf(err, "Reactor '%s' failed to execute %s '%s'", c.ID, c.Kind, c.Fun)
	return err
}

// Failed logs that a call could not be made, in the same words.
func (r *Reactor) Failed(c Call, err error) { _ = r.failed(&c, err) }

// Name is the name that the reaction was given, or its ID.
func (c *Call) Name() string { return python.Str(c.More.Value("name")) }

// Args are the positional arguments. Unlike Salt: a text or a number is one argument, where Salt takes the letters of a
// text for arguments and dies of a number; a map stands for its keys, as in Python.
func (c *Call) Args() []any {
	switch v := c.Arg.(type) {
	case []any:
		return v
	case *payload.Map:
		return v.Keys()
	case nil:
		return nil
	}
	return []any{c.Arg}
}

// KW are the arguments by name; a value that is no map stands for none, as with Salt's local client.
func (c *Call) KW() *payload.Map {
	kw, _ := c.KWArg.(*payload.Map)
	return kw
}
