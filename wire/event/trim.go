package event

import (
	"fmt"

	"brine/wire/payload"
)

const (
	trimmedValue = "VALUE_TRIMMED" // replaces a value that was too big

	// pythonBytes is Python's overhead for a byte string; Salt's limit includes it.
	pythonBytes = 33

	trimFrom = 50 // first pass: values above this percentage of the limit
	trimStep = 10 // each further pass: so many percentage points less
)

// trim packs data after head (a tag and its end) and replaces big values. Each pass replaces smaller values than the
// one before, until the size is below limit or no passes are left. Inside maps it replaces single values, but it
// replaces a list as a whole. Source: salt/utils/dicttrim.py, trim_dict.
//
// Unlike Salt: the size of a list is that of its content, not its number of elements.
func trim(head []byte, data *payload.Map, limit int) ([]byte, error) {
	for percent := trimFrom; ; percent -= trimStep {
		var err error
		if data, err = trimMap(data, limit*percent/100); err != nil {
			return nil, err
		}
		body, err := payload.AppendBin(head, data)
		if err != nil {
			return nil, err
		}
		if len(body)-len(head)+pythonBytes < limit || percent == trimStep {
			return body, nil
		}
	}
}

// trimMap returns a copy of m in which every value larger than limit bytes is replaced.
func trimMap(m *payload.Map, limit int) (*payload.Map, error) {
	out := payload.NewMap(m.Len())
	for k, v := range m.All() {
		if sub, ok := v.(*payload.Map); ok {
			short, err := trimMap(sub, limit)
			if err != nil {
				return nil, err
			}
			out.Set(k, short)
			continue
		}
		n, err := sizeOf(v)
		if err != nil {
			return nil, err
		}
		if n > limit {
			v = trimmedValue
		}
		out.Set(k, v)
	}
	return out, nil
}

func sizeOf(v any) (int, error) {
	switch v := v.(type) {
	case string:
		return len(v) + pythonBytes, nil
	case []byte:
		return len(v) + pythonBytes, nil
	case nil, bool, int64, uint64, float64:
		return pythonBytes, nil
	}
	b, err := payload.MarshalBin(v)
	if err != nil {
		return 0, fmt.Errorf("size of a value: %w", err)
	}
	return len(b) + pythonBytes, nil
}
