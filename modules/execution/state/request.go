package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"brine/modules/loader"
	"brine/wire/disk/wholefile"
	"brine/wire/payload"
	"brine/wire/python"
)

// requesting are the functions that ask for a run which somebody else lets happen, and those around runs.
func requesting() []loader.Func {
	return []loader.Func{
		loader.Fn("request", request, "Show what state.apply would do, and keep it for state.run_request.",
			"state.request", "state.request stuff").Shows("highstate"),
		loader.Fn("check_request", checkRequest, "Show the runs that were asked for.", "state.check_request").
			Shows("highstate"),
		loader.Fn("clear_request", clearRequest, "Forget the runs that were asked for, or one of them.",
			"state.clear_request"),
		loader.Fn("run_request", runRequest, "Apply a run that was asked for.", "state.run_request").Shows("highstate"),
		loader.Fn("running", running, "Tell which functions of states run at the moment.", "state.running"),
		loader.Fn("resume_run", resumeRun, "Go on with a run of states that was interrupted; brine's own.",
			"state.resume_run 20171130110407769519").Shows("highstate"),
		loader.Fn("clear_cache", clearCache, "Remove the high data that runs have kept.", "state.clear_cache"),
	}
}

type (
	nameArg struct {
		Name any `arg:"name=None"`
	}
	requested struct {
		Name string       `arg:"name=default"`
		KW   *payload.Map `arg:"**kwargs"`
	}
	runningArgs struct {
		Concurrent any `arg:"concurrent=False"`
	}
)

func running(c *loader.Call, a runningArgs) ([]any, error) {
	return payload.AnyList(conflicts(c, shown{KW: payload.M("concurrent", a.Concurrent)})), nil
}

func requestsPath(c *loader.Call) string {
	return filepath.Join(c.Opts().Str("cachedir"), "req_state.p")
}

// requests are the runs that were asked for, by name.
func requests(c *loader.Call) (*payload.Map, error) {
	b, err := os.ReadFile(requestsPath(c))
	if errors.Is(err, fs.ErrNotExist) {
		return payload.NewMap(0), nil
	}
	if err != nil {
		return nil, err
	}
	m, err := payload.UnmarshalMap(b)
	if err != nil {
		return nil, loader.ExecErr("%s: %v", requestsPath(c), err)
	}
	return m, nil
}

// write keeps the runs that were asked for.
func write(c *loader.Call, all *payload.Map) error {
	b, err := payload.MarshalBin(all)
	if err != nil {
		return err
	}
	return wholefile.Write(requestsPath(c), b, wholefile.Options{Mode: 0o600})
}

func request(c *loader.Call, a applied) (any, error) {
	a.KW = a.KW.Clone().Set("test", true)
	ret, err := apply(c, a)
	if err != nil {
		return nil, err
	}
	all, err := requests(c)
	if err != nil {
		return nil, err
	}
	name := any("default")
	if v, given := a.KW.Get("name"); given {
		name = v
	}
	kept := payload.NewMap(a.KW.Len())
	for key, v := range a.KW.All() {
		kept.Set(key, v)
	}
	all.Set(name, payload.M("test_run", ret, "mods", a.Mods, "kwargs", kept))
	return ret, write(c, all)
}

// checkRequest gives nothing for a name that nobody asked for. Unlike Salt: it fails with a traceback.
func checkRequest(c *loader.Call, a nameArg) (any, error) {
	all, err := requests(c)
	if err != nil || !python.Truth(a.Name) {
		return all, err
	}
	if v, ok := all.Get(a.Name); ok {
		return v, nil
	}
	return payload.NewMap(0), nil
}

func clearRequest(c *loader.Call, a nameArg) (bool, error) {
	all, err := requests(c)
	switch {
	case err != nil:
		return false, err
	case all.Len() == 0:
		return true, nil
	case !python.Truth(a.Name):
		err := os.Remove(requestsPath(c))
		return err == nil, err
	case !all.Has(a.Name):
		return false, nil
	}
	all.Delete(a.Name)
	return true, write(c, all)
}

func runRequest(c *loader.Call, a requested) (any, error) {
	all, err := requests(c)
	if err != nil {
		return nil, err
	}
	wanted, ok := all.Value(a.Name).(*payload.Map)
	if !ok || !wanted.Has("mods") || !wanted.Has("kwargs") {
		return payload.NewMap(0), nil
	}
	kw := wanted.Map("kwargs").Clone()
	kw.Update(a.KW)
	kw.Delete("test")
	ret, err := apply(c, applied{wanted.Value("mods"), kw})
	if err != nil {
		return nil, err
	}
	return ret, os.Remove(requestsPath(c))
}
