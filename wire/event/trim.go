package event

import (
	"fmt"

	"brine/wire/payload"
)

const (
	trimmedValue = "VALUE_TRIMMED" // stands for a value that was too big

	// pythonBytes is what Python adds to the size of a byte string; Salt's limit counts it.
	pythonBytes = 33

	trimFrom = 50 // first pass: values above this percentage of the limit
	trimStep = 10 // every further pass: so many percent less
)

// trim packs data after head (a tag and its end) with big values replaced, in passes that replace smaller
// and smaller ones, until it is below limit or the passes are used up. Maps are walked, lists are replaced
// whole. Source: salt/utils/dicttrim.py, trim_dict.
//
// Unlike Salt: a list counts with what it holds, not with its number of elements.
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

// trimMap returns a copy of m in which every value above limit bytes is replaced.
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
