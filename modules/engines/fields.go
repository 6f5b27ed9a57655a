package engines

import (
	"errors"
	"fmt"
	"time"

	"brine/config"
	"brine/wire/payload"
	"brine/wire/python"
)

// fields reads the options of one engine. What is wrong with them, and what nobody has asked for, is told by close.
type fields struct {
	m     *payload.Map // what has not been read yet
	wrong []error
}

func (f *fields) has(key string) bool { return f.m.Value(key) != nil }

func (f *fields) take(key string) any {
	v := f.m.Value(key)
	f.m.Delete(key)
	return v
}

func (f *fields) fault(key string, v any, want string) {
	f.wrong = append(f.wrong, fmt.Errorf("option %s with value %v is no %s", key,
		config.Redacted(payload.M(key, v)).Value(key), want))
}

// need is a text that must be there.
func (f *fields) need(key string) string {
	if !f.has(key) {
		f.wrong = append(f.wrong, fmt.Errorf("option %s is missing", key))
	}
	return f.text(key, "")
}

func (f *fields) text(key, std string) string {
	switch v := f.take(key).(type) {
	case nil:
		return std
	case string:
		return v
	case *payload.Map, []any:
		f.fault(key, v, "text")
		return std
	default:
		return text(v)
	}
}

func (f *fields) whole(key string, std int) int {
	switch v := f.take(key).(type) {
	case nil:
		return std
	case int64:
		if v >= 0 && v <= 1<<31 {
			return int(v)
		}
		f.fault(key, v, "whole number of that size")
	default:
		f.fault(key, v, "whole number")
	}
	return std
}

// seconds is a time; whole numbers and others may stand for one.
func (f *fields) seconds(key string, std time.Duration) time.Duration {
	var s float64
	switch v := f.take(key).(type) {
	case nil:
		return std
	case int64:
		s = float64(v)
	case float64:
		s = v
	default:
		f.fault(key, v, "number of seconds")
		return std
	}
	const most = 100 * 365 * 24 * 3600
	if !(s >= 0 && s <= most) {
		f.fault(key, s, "number of seconds")
		return std
	}
	return time.Duration(s * float64(time.Second))
}

func (f *fields) yes(key string) bool { return python.Truth(f.take(key)) }

// texts is a list of texts, or a single one.
func (f *fields) texts(key string) []string {
	v := f.take(key)
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return []string{v}
	case []any:
		out := make([]string, 0, len(v))
		for _, one := range v {
			s, ok := one.(string)
			if !ok {
				f.fault(key, one, "text")
			}
			out = append(out, s)
		}
		return out
	}
	f.fault(key, v, "list of texts")
	return nil
}

// rest is what has not been read: for engines that have options of others.
func (f *fields) rest() *payload.Map {
	m := f.m
	f.m = payload.NewMap(0)
	return m
}

func (f *fields) close() error {
	for key := range f.m.All() {
		f.wrong = append(f.wrong, fmt.Errorf("there is no option %v", key))
	}
	return errors.Join(f.wrong...)
}
