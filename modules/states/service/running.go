package service

import (
	"brine/modules/states"
	"brine/wire/payload"
	"brine/wire/python"
)

type wanted struct {
	Name      string       `arg:"name"`
	Enable    any          `arg:"enable=None"`
	Sig       any          `arg:"sig=None"`
	InitDelay any          `arg:"init_delay=None"`
	KW        *payload.Map `arg:"**kwargs"`
}

// goal is a service that is to run, or to be dead.
type goal struct {
	service
	a      wanted
	enable any // true, false, or nil for what nobody says
	run    bool

	ran, started bool // whether it ran, and whether it started with the host
}

func running(c *states.Call, a wanted) (states.Plan, error) { return planFor(c, a, true) }

func dead(c *states.Call, a wanted) (states.Plan, error) { return planFor(c, a, false) }

func planFor(c *states.Call, a wanted, run bool) (states.Plan, error) {
	g := &goal{service: service{c: c, name: a.Name, kw: a.KW}, a: a, enable: wantsEnabled(a.Enable), run: run}
	if a.KW.Has("enabled") {
		return states.Wrong("Service " + a.Name + ` uses non-existent option "enabled".  Perhaps "enable" option was ` +
			"intended?"), nil
	}
	offline, err := g.offline()
	if err != nil {
		return states.Plan{}, err
	}
	if offline {
		return states.Correct("Running in OFFLINE mode. Nothing to do"), nil
	}
	there, err := g.available()
	if err != nil {
		return told(err)
	}
	if !there {
		return g.absent(), nil
	}
	if g.ran, err = g.status(a.Sig); err == nil {
		g.started, err = g.starts()
	}
	if err != nil {
		return states.Plan{}, err
	}
	if run {
		return g.warned(g.start())
	}
	return g.warned(g.stop())
}

// absent is the plan for a service that is not there: an earlier state of the run may bring it.
func (g *goal) absent() states.Plan {
	end := "stopped"
	if g.run {
		end = "started"
	}
	return states.Would("Service "+g.name+" not present; if created in this state run, it would have been "+end, nil,
		func() (states.Done, error) {
			return states.Done{Result: !g.run, Comment: "The named service " + g.name + " is not available"}, nil
		})
}

// settled is the plan for a service that runs, or is dead, as it should be.
func (g *goal) settled(comment string) (states.Plan, error) {
	on, given := g.enable.(bool)
	if !given || on == g.started {
		return states.Correct(comment), nil
	}
	t, err := g.toggle(on, nil, true)
	return t.plan(), err
}

// start is the plan for running. A mask is taken off before anything else.
func (g *goal) start() (states.Plan, error) {
	var mask states.Plan
	if python.Truth(g.kw.Value("unmask")) {
		var err error
		mask, err = unmasked(g.c, maskable{g.name, python.Truth(g.kw.Value("unmask_runtime"))})
		if err != nil {
			return states.Plan{}, err
		}
	}
	if !g.ran {
		return states.Would(lines("Service "+g.name+" is set to start", text(mask.Comment)), nil,
			func() (states.Done, error) { return g.applyStart(mask) }), nil
	}
	const already = "already"
	p, err := g.settled(already)
	if err != nil {
		return p, err
	}
	if p.Comment != already {
		return after(mask, p, nil), nil
	}
	// As in Salt, that the mask goes is told, but is no change.
	say := func(note any) string { return lines("The service "+g.name+" is already running", text(note)) }
	return after(mask, states.Correct(say(mask.Comment)), func(note any) any { return say(note) }), nil
}

// after is a plan that comes after the mask was taken off. comment makes its comment of what that came to; nil: the
// plan has its own.
func after(mask, p states.Plan, comment func(note any) any) states.Plan {
	if mask.Apply == nil {
		return p
	}
	shown, apply := p, p.Apply
	shown.Apply = func() (states.Done, error) {
		done, err := mask.Apply()
		if err != nil {
			return done, err
		}
		if apply != nil {
			return apply()
		}
		told := p.Comment
		if comment != nil {
			told = comment(done.Comment)
		}
		return states.Done{Result: p.Result, Comment: told, Changes: p.Changes}, nil
	}
	return shown
}

// applyStart takes the mask off, starts the service, and looks what became of it.
func (g *goal) applyStart(mask states.Plan) (states.Done, error) {
	note := mask.Comment
	if mask.Apply != nil {
		done, err := mask.Apply()
		if err != nil {
			return done, err
		}
		note = done.Comment
	}
	done, err := g.call("start")
	if why, ok := failure(err); ok {
		return states.Failed(why, nil)
	}
	d := states.Done{Result: true, Changes: payload.NewMap(1)}
	if err != nil {
		return d, err
	}
	failed := "Service " + g.name + " failed to start"
	if !python.Truth(done) {
		d.Result, d.Comment = false, failed
		return d, g.update(&d, g.enable, false, false)
	}
	runs, err := g.look(&d, g.a.Sig)
	if err != nil {
		return d, err
	}
	d.Comment = "Started service " + g.name
	if !runs {
		d.Result, d.Comment = false, failed
	}
	if err := g.update(&d, g.enable, runs, runs); err != nil {
		return d, err
	}
	if python.Truth(g.a.InitDelay) {
		d.Comment = text(d.Comment) + "\nDelayed return for " + python.Str(g.a.InitDelay) + " seconds"
	}
	if python.Truth(g.kw.Value("unmask")) {
		d.Comment = text(d.Comment) + "\n" + text(note)
	}
	return d, nil
}

// look waits, and tells whether the service runs now; what is otherwise than before is a change.
func (g *goal) look(d *states.Done, sig any) (bool, error) {
	if err := g.pause(g.a.InitDelay); err != nil {
		return false, err
	}
	runs, err := g.status(sig)
	if err != nil {
		return false, err
	}
	starts, err := g.starts()
	if err == nil && (starts != g.started || runs != g.ran) {
		d.Changes.Set(g.name, runs)
	}
	return runs, err
}

// stop is the plan for dead.
func (g *goal) stop() (states.Plan, error) {
	if !g.ran {
		return g.settled("The service " + g.name + " is already dead")
	}
	return states.Would("Service "+g.name+" is set to be killed", nil, g.applyStop), nil
}

func (g *goal) applyStop() (states.Done, error) {
	d := states.Done{Result: true, Changes: payload.NewMap(1)}
	done, err := g.call("stop")
	if err != nil {
		return d, err
	}
	failed := "Service " + g.name + " failed to die"
	if !python.Truth(done) {
		d.Result, d.Comment = false, failed
		return d, g.update(&d, g.enable, true, false)
	}
	runs, err := g.look(&d, nil)
	if err != nil {
		return d, err
	}
	d.Comment = "Service " + g.name + " was killed"
	if runs {
		d.Result, d.Comment = false, failed
	}
	return d, g.update(&d, g.enable, runs, !runs)
}
