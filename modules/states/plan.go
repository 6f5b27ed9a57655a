package states

import (
	"brine/modules/loader"
	"brine/wire/payload"
)

// Plan is what a state function found out, and what it would do about it.
type Plan struct {
	// Name is what the return is called; nil: the name of the chunk.
	Name any
	// Result is True or False where nothing is to be done. With Apply it is what test mode answers, and stays nil
	// (None) but for a function that is odd in Salt.
	Result any
	// Comment is a text, or a list of texts that become lines.
	Comment any
	// Changes are what would change, as test mode shows them; nil: nothing.
	Changes *payload.Map
	// Also are further keys of the return (warnings, skip_watch, pchanges, ...); nil: none.
	Also *payload.Map
	// Apply does what the plan says; nil: there is nothing to do. It is called at most once, and never in test mode. Its
	// error becomes the failing result of the chunk, as one of the function does.
	Apply func() (Done, error)
}

// Done is what applying a plan came to.
type Done struct {
	Result  any // true or false; nil (None) only where Salt says so
	Comment any // a text, or a list of texts
	Changes *payload.Map
	Also    *payload.Map
}

// Correct is the plan of a state that holds already.
func Correct(comment any) Plan { return Plan{Result: true, Comment: comment} }

// Wrong is the plan of a state that cannot be reached.
func Wrong(comment any) Plan { return Plan{Result: false, Comment: comment} }

// Would is a plan that changes something: comment and changes are what test mode shows.
func Would(comment any, changes *payload.Map, apply func() (Done, error)) Plan {
	return Plan{Comment: comment, Changes: changes, Apply: apply}
}

// With adds a key to the return, of test mode and of a plan without Apply.
func (p Plan) With(key string, v any) Plan {
	p.Also = p.Also.Clone().Set(key, v)
	return p
}

// Changed is what a plan came to that was applied.
func Changed(comment any, changes *payload.Map) (Done, error) {
	return Done{Result: true, Comment: comment, Changes: changes}, nil
}

// Failed is what a plan came to that could not be applied; changes are those that were made all the same.
func Failed(comment any, changes *payload.Map) (Done, error) {
	return Done{Result: false, Comment: comment, Changes: changes}, nil
}

// With adds a key to the return.
func (d Done) With(key string, v any) Done {
	d.Also = d.Also.Clone().Set(key, v)
	return d
}

// carryOut shows the plan in test mode, and applies it otherwise.
func (p Plan) carryOut(c *Call) (*payload.Map, error) {
	done := Done{p.Result, p.Comment, p.Changes, p.Also}
	if p.Apply != nil && !c.Test {
		if err := c.Ctx.Err(); err != nil {
			return nil, loader.ExecErr("the run was ended: %v", err)
		}
		var err error
		if done, err = p.Apply(); err != nil {
			return nil, err
		}
	}
	name := p.Name
	if name == nil {
		name = c.Chunk.Value("name")
	}
	if done.Changes == nil {
		done.Changes = payload.NewMap(0)
	}
	if done.Comment == nil {
		done.Comment = ""
	}
	ret := payload.M("name", name, "changes", done.Changes, "result", done.Result, "comment", done.Comment)
	ret.Update(done.Also)
	return ret, nil
}
