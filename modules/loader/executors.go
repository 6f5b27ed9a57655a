package loader

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"brine/modules/host/program"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/shlex"
)

// invocation is a function with its loaded arguments, on the way through the executors.
type invocation struct {
	call   *Call
	fun    string
	target *Func // nil: unknown, which only sudo can call
	args   []any
	kw     *payload.Map
	load   *payload.Map
}

// Perform calls f with loaded arguments through the executors named, for a caller that is no job: no blackout is
// looked at and errors come back as they are. data is what stands for the publish load. It never panics.
func Perform(c *Call, f *Func, args []any, kw, data *payload.Map, executors []string) (any, error) {
	run := invocation{call: c, fun: f.Name, target: f, args: args, kw: kw, load: data}
	return guard(func() (any, error) { return run.through(executors) })
}

// executorNames picks the executors of a job: its own, else the minion's, else direct_call. With sudo_user set
// the last one becomes sudo.
func executorNames(c *Call, load *payload.Map) ([]string, error) {
	spec := load.Value("module_executors")
	if !python.Truth(spec) {
		if v, ok := c.Opts().Get("module_executors"); ok {
			spec = v
		} else {
			spec = "direct_call"
		}
	}
	var names []string
	switch x := spec.(type) {
	case string:
		names = []string{x}
	case []any:
		for _, v := range x {
			names = append(names, Text(v))
		}
	}
	if len(names) == 0 {
		return nil, InvocErr("Wrong executors specification: %s. String or non-empty list expected", python.Str(spec))
	}
	if python.Truth(c.Opts().Value("sudo_user")) {
		names[len(names)-1] = "sudo"
	}
	return names, nil
}

// through hands the invocation to each executor until one returns something.
func (v invocation) through(names []string) (any, error) {
	for _, name := range names {
		run := v.executor(name)
		if run == nil {
			return nil, InvocErr("Executor '%s' is not available", name)
		}
		value, err := run()
		if err != nil || value != nil {
			return value, err
		}
	}
	return nil, nil
}

func (v invocation) executor(name string) func() (any, error) {
	switch name {
	case "direct_call":
		return v.direct
	case "splay":
		return v.splay
	case "sudo":
		if program.Which("sudo") != "" && python.Truth(v.call.Opts().Value("sudo_user")) {
			return v.sudo
		}
	}
	return nil
}

func (v invocation) direct() (any, error) {
	if v.target == nil {
		return nil, &ArgumentError{Message: "'str' object is not callable"}
	}
	bound, err := Bind(v.target, v.args, v.kw)
	if err != nil {
		return nil, err
	}
	return v.target.Run(v.call, bound)
}

const (
	splayDefault = 300  // seconds (salt/executors/splay.py)
	splaySteps   = 8192 // values of the hash
)

func (v invocation) splay() (any, error) {
	seconds := float64(splayDefault)
	from := v.call.Opts().Value("splaytime")
	if own, ok := v.load.Map("executor_opts").Get("splaytime"); ok {
		from = own
	}
	if f, ok := python.Number(from); ok {
		seconds = f
	}
	if seconds <= 0 {
		return nil, Raise("ValueError", "splaytime must be a positive integer")
	}
	return nil, sleep(v.call.Ctx, time.Duration(splayDelay(v.call.ID, seconds))*time.Second)
}

// splayDelay spreads minions over splaytime by their id, in whole seconds.
func splayDelay(id string, splaytime float64) int {
	return int(splaytime * float64(splayHash(id)) / splaySteps)
}

// splayHash is Jenkins' one-at-a-time hash of the id, cut to 13 bits.
func splayHash(id string) uint32 {
	var h uint32
	for i := range len(id) {
		h += uint32(id[i])
		h += h << 10
		h ^= h >> 6
	}
	h += h << 3
	h ^= h >> 11
	h += h << 15
	return h & (splaySteps - 1)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// sudo runs the function in a salt-call of its own under sudo_user.
func (v invocation) sudo() (any, error) {
	user := Text(v.call.Opts().Value("sudo_user"))
	argv := []any{"sudo", "-u", user, "salt-call", "--priv", user, "--out", "json", "--metadata",
		"-c", Text(v.call.Opts().Value("config_dir")), "--", v.fun}
	kw := v.kw.Clone()
	switch v.fun {
	case "state.sls", "state.highstate", "state.apply":
		kw.Set("concurrent", true)
	}
	for _, a := range v.args {
		argv = append(argv, shlex.Quote(python.Str(a)))
	}
	for k, val := range kw.All() {
		argv = append(argv, shlex.Quote(python.Str(k)+"="+python.Str(val)))
	}
	out, err := v.call.Call("cmd.run_all", []any{argv}, payload.M("use_vt", true, "python_shell", false))
	if err != nil {
		return nil, err
	}
	ran, _ := out.(*payload.Map)
	if code, _ := ran.Int("retcode"); code != 0 {
		v.call.SetRetcode(int(code))
		return ran.Value("stderr"), nil
	}
	return v.sudoReturn(ran.Str("stdout"))
}

func (v invocation) sudoReturn(stdout string) (any, error) {
	var answer struct {
		Local struct {
			Return  json.RawMessage `json:"return"`
			Retcode int             `json:"retcode"`
		} `json:"local"`
	}
	if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
		return nil, fmt.Errorf("read the answer of salt-call: %w", err)
	}
	v.call.SetRetcode(answer.Local.Retcode)
	if len(answer.Local.Return) == 0 {
		return nil, nil
	}
	return decodeJSON(answer.Local.Return)
}
