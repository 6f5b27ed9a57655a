package pillar

import (
	"brine/modules/loader"
	"brine/modules/text/dicts"
	"brine/wire/payload"
	"brine/wire/python"
)

// unmasked tells whether values are shown as they are.
func unmasked(c *loader.Call, unmask any) bool {
	if unmask == nil {
		return loader.IsUnmasked(c.Ctx)
	}
	return python.Truth(unmask)
}

// shown is a copy of a value, masked or not.
func shown(v any, plain bool) any {
	if plain {
		return dicts.Clone(v)
	}
	return Mask(v)
}

// mask stands for a value that is not shown.
const mask = "**********"

// Mask hides each value that is not empty; keys stay (salt.utils.secret.serial).
func Mask(v any) any {
	switch v := v.(type) {
	case *payload.Map:
		out := payload.NewMap(v.Len())
		for k, e := range v.All() {
			out.Set(k, Mask(e))
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = Mask(v[i])
		}
		return out
	case []byte:
		if len(v) > 0 {
			return []byte(mask)
		}
		return v
	case payload.Bytes:
		if len(v) > 0 {
			return payload.Bytes(mask)
		}
		return v
	}
	if python.Truth(v) {
		return mask
	}
	return v
}
