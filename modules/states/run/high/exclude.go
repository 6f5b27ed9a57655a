package high

import (
	"brine/wire/payload"
	"brine/wire/python/fnmatch"
)

// Exclude removes the IDs that the list under ExcludeKey names: texts and {sls: ...} are SLS or globs of them,
// {id: ...} are IDs. Other entries mean nothing. Source: _apply_exclude.
func Exclude(high *payload.Map) {
	list, _ := high.Value(ExcludeKey).([]any)
	high.Delete(ExcludeKey)
	var sls []*fnmatch.Pattern
	var ids []any
	for _, item := range list {
		switch item := item.(type) {
		case string:
			sls = append(sls, fnmatch.Compile(item))
		case *payload.Map:
			if item.Len() != 1 {
				continue
			}
			if name, ok := item.Value("sls").(string); ok {
				sls = append(sls, fnmatch.Compile(name))
			}
			if id, ok := item.Get("id"); ok && isKey(id) {
				ids = append(ids, id)
			}
		}
	}
	for id, v := range high.All() {
		if body, ok := v.(*payload.Map); ok && !Own(id) && anyMatches(sls, body.Str(SLSKey)) {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		high.Delete(id)
	}
}

func anyMatches(globs []*fnmatch.Pattern, name string) bool {
	if name == "" {
		return false
	}
	for _, g := range globs {
		if g.Match(name) {
			return true
		}
	}
	return false
}

// excludedNames are the SLS that are excluded, as they are written.
func excludedNames(high *payload.Map) (out []string) {
	list, _ := high.Value(ExcludeKey).([]any)
	for _, item := range list {
		switch item := item.(type) {
		case string:
			out = append(out, item)
		case *payload.Map:
			if name := item.Str("sls"); name != "" {
				out = append(out, name)
			}
		}
	}
	return out
}
