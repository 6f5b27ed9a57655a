package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Faults are all faults of a configuration. The first one gives the exit code.
type Faults []*Error

func (f Faults) Error() string {
	texts := make([]string, len(f))
	for i, e := range f {
		texts[i] = e.Error()
	}
	return strings.Join(texts, "\n")
}

// Unwrap lets errors.As find the first one.
func (f Faults) Unwrap() []error {
	out := make([]error, len(f))
	for i, e := range f {
		out[i] = e
	}
	return out
}

// Err is no error where there are no faults.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// fault passes an error on. For a loader that looks for all faults it keeps the error and returns none: the loading
// goes on with the default in the place of what is wrong.
func (ld *loading) fault(err error) error {
	var e *Error
	if !ld.All || !errors.As(err, &e) {
		return err
	}
	ld.faults = append(ld.faults, e)
	if ld.opts == nil {
		return nil
	}
	if std, ok := ld.standard.Get(e.Key); ok {
		ld.opts.Set(e.Key, std)
	} else {
		ld.opts.Delete(e.Key)
	}
	return nil
}

// inTurn makes corrections one after the other, up to the first fault that ends the loading.
func (ld *loading) inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := ld.fault(step()); err != nil {
			return err
		}
	}
	return nil
}

// logLevels are Salt's names of them, without regard to case (salt/_logging/impl.py).
var logLevels = []string{"all", "garbage", "trace", "debug", "profile", "info", "warning", "error", "critical", "quiet"}

// LogLevels lists the names of the levels of logs.
func LogLevels() []string { return slices.Clone(logLevels) }

// checkLevels tells of levels of the log that do not exist. Unlike Salt: it logs errors only then; here the default
// holds.
func (ld *loading) checkLevels() {
	for _, key := range []string{"log_level", "log_level_logfile"} {
		name, ok := ld.layers.value(key).(string)
		if !ok || name == "" || slices.Contains(logLevels, strings.ToLower(name)) {
			continue
		}
		ld.warn("Config option '%s' with value %s names no level of the log, the default holds; there are %s (%s)",
			key, name, strings.Join(logLevels, ", "), ld.layers.origin(key))
	}
}

// fromVariable names the environment variable that set an option, for messages in Salt's words, which tell no place.
func (ld *loading) fromVariable(key string) string {
	if o := ld.layers.origin(key); o.Layer == LayerEnvironment {
		return fmt.Sprintf(" (%s)", o)
	}
	return ""
}
