package perform

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"brine/modules/loader"
	"brine/modules/states/run/high"
	"brine/wire/payload"
	"brine/wire/python"

	"golang.org/x/sys/unix"
)

// internal are arguments that every state may have and no function gets (STATE_RUNTIME_KEYWORDS), beside requisites
// and what begins with two underscores.
var internal = map[string]bool{"fun": true, "state": true, "check_cmd": true, "cmd_opts_exclude": true,
	"failhard": true, "onlyif": true, "unless": true, "creates": true, "retry": true, "order": true, "parallel": true,
	"reload_modules": true, "reload_grains": true, "reload_pillar": true, "runas": true, "runas_password": true,
	"no_log": true, "fire_event": true, "saltenv": true, "umask": true, "onfail_stop": true, "onfail_all": true,
	"prerequired": true}

// isInternal tells whether an argument is meant for the run, not for the function.
func isInternal(key string) bool {
	return internal[key] || high.IsRequisite(key) || high.Own(key) && key != "__reqs__"
}

// Verify tells what is wrong with a chunk before anything of it is called, in Salt's words, and finds its function.
func (p *Performer) Verify(chunk *payload.Map) (f *loader.Func, errs []string) {
	for _, key := range []string{"state", "fun", "name"} {
		if !chunk.Has(key) {
			errs = append(errs, fmt.Sprintf("Missing %q data", key))
		}
	}
	inSLS := ""
	if chunk.Has("__sls__") {
		inSLS = "in SLS '" + python.Str(chunk.Value("__sls__")) + "' "
	}
	name := chunk.Value("name")
	if _, isText := name.(string); python.Truth(name) && !isText {
		errs = append(errs, fmt.Sprintf("ID '%s' %sis not formed as a string, but is a %s", python.Str(name), inSLS,
			python.Type(name)))
	}
	if mask, given := chunk.Get("umask"); given {
		if _, err := umaskOf(mask); err != nil {
			errs = append(errs, "Invalid umask: "+python.Str(mask))
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	full := chunk.Str("state") + "." + python.Str(chunk.Value("fun"))
	f, ok := p.States.Lookup(full)
	switch {
	case !ok && inSLS == "":
		return nil, []string{"Specified state '" + full + "' was not found"}
	case !ok:
		return nil, []string{"State '" + full + "' was not found " + strings.TrimSuffix(inSLS, " "),
			"Reason: " + p.States.MissingText(full)}
	}
	for _, param := range f.Params {
		if param.Required && !chunk.Has(param.Name) {
			errs = append(errs, "Missing parameter "+param.Name+" for state "+full)
		}
	}
	return f, errs
}

// arguments are those of a chunk that its function gets, with slots filled in.
//
// Unlike Salt: an argument that the function does not know fails the chunk. In Salt it ends the whole run without any
// return, although states before it were applied.
func (p *Performer) arguments(c *loader.Call, f *loader.Func, chunk *payload.Map) (*payload.Map, error) {
	kw := payload.NewMap(chunk.Len())
	var unknown []string
	for key, v := range chunk.All() {
		name, isText := key.(string)
		switch {
		case isText && f.Takes(name):
		case isText && isInternal(name):
			continue
		case !isText || !f.KWArgs:
			unknown = append(unknown, "'"+python.Str(key)+"'")
			continue
		}
		filled, err := fillSlots(c, v)
		if err != nil {
			return nil, err
		}
		kw.Set(key, filled)
	}
	switch n := len(unknown); n {
	case 0:
		return kw, nil
	case 1:
		return nil, loader.InvocErr("%s is an invalid keyword argument for '%s'", unknown[0], f.Name)
	default:
		return nil, loader.InvocErr("%s and %s are invalid keyword arguments for '%s'", strings.Join(unknown[:n-1], ", "),
			unknown[n-1], f.Name)
	}
}

// umaskOf reads an octal number, which YAML has read as a number of tens perhaps.
func umaskOf(v any) (int, error) {
	n, err := strconv.ParseUint(python.Str(v), 8, 12)
	return int(n), err
}

// withUmask calls with a umask that holds for nothing else: for what the call's own goroutine does, and for the
// programs that it starts itself. A function that has a parameter of that name does it itself.
func withUmask(mask any, f *loader.Func, call func() (any, error)) (any, error) {
	if mask == nil || f.Takes("umask") {
		return call()
	}
	bits, err := umaskOf(mask)
	if err != nil {
		return nil, err
	}
	type answer struct {
		v   any
		err error
	}
	done := make(chan answer)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine, and its umask with it
		if err := unix.Unshare(unix.CLONE_FS); err != nil {
			done <- answer{nil, fmt.Errorf("set a umask for one state: %w", err)}
			return
		}
		unix.Umask(bits)
		v, err := call()
		done <- answer{v, err}
	}()
	got := <-done
	return got.v, got.err
}

// bringsModules tells whether the changes of a chunk may make modules loadable that were not.
func bringsModules(chunk *payload.Map) bool {
	name := python.Str(chunk.Value("name"))
	switch chunk.Str("state") {
	case "file":
		switch chunk.Value("fun") {
		case "managed":
			for _, end := range []string{".py", ".pyx", ".pyo", ".pyc", ".so"} {
				if strings.HasSuffix(name, end) {
					return true
				}
			}
		case "recurse":
			return true
		case "symlink":
			return strings.Contains(name, "bin")
		}
	case "pkg", "ports", "pip":
		return true
	}
	return false
}
