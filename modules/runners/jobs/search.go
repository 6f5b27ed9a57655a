package jobs

import (
	"slices"
	"sort"
	"strings"

	"brine/modules/fleet/jobrecord"
	"brine/modules/loader"
	"brine/modules/runners"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/fnmatch"
)

// loads returns all jids in order and the loads by jid.
func (m *master) loads() ([]string, *payload.Map, error) {
	if m.Jobs == nil {
		return nil, nil, runners.Unavailable("job cache")
	}
	loads, err := m.Jobs.Loads()
	if err != nil {
		return nil, nil, err
	}
	jids := make([]string, 0, loads.Len())
	for jid := range loads.All() {
		jids = append(jids, python.Str(jid))
	}
	sort.Strings(jids)
	return jids, loads, nil
}

// words reads a filter: one text with commas, or a list.
func words(v any) []string {
	if !python.Truth(v) {
		return nil
	}
	return loader.StringList(v)
}

// jobFilter are the filters of jobs.list_jobs.
type jobFilter struct {
	metadata         any
	function, target []string
	start, end       any
}

// search lists the jobs that fit every filter given.
func (m *master) search(c *loader.Call, ext string, f jobFilter) (*payload.Map, error) {
	start, hasStart, err := parseTime(f.start)
	if err != nil {
		return nil, err
	}
	end, hasEnd, err := parseTime(f.end)
	if err != nil {
		return nil, err
	}
	from, err := m.source(c, ext)
	if err != nil {
		return nil, err
	}
	records, err := from.records(c)
	if err != nil {
		return nil, err
	}
	out := payload.NewMap(0)
	for k, v := range records.All() {
		jid := python.Str(k)
		record, ok := v.(*payload.Map)
		if !ok || !f.fits(record) {
			continue
		}
		at, known := jobrecord.Moment(jid)
		if hasStart && (!known || at.Before(start)) || hasEnd && (!known || at.After(end)) {
			continue
		}
		out.Set(jid, record)
	}
	return out, nil
}

func (f *jobFilter) fits(record *payload.Map) bool {
	if python.Truth(f.metadata) && !sharesEntry(record.Map("Metadata"), f.metadata) {
		return false
	}
	if f.target != nil && !anyMatches(targets(record.Value("Target")), f.target) {
		return false
	}
	return f.function == nil || anyMatches([]string{python.Str(record.Value("Function"))}, f.function)
}

// sharesEntry tells whether a key has the same value in both.
func sharesEntry(have *payload.Map, want any) bool {
	m, ok := want.(*payload.Map)
	if !ok {
		return false
	}
	for k, v := range m.All() {
		if have.Has(k) && payload.Equal(have.Value(k), v) {
			return true
		}
	}
	return false
}

func targets(v any) []string {
	if list, ok := v.([]any); ok {
		return loader.StringList(list)
	}
	return []string{python.Str(v)}
}

func anyMatches(texts, globs []string) bool {
	for _, g := range globs {
		glob := fnmatch.Compile(strings.TrimSpace(g))
		if slices.ContainsFunc(texts, glob.Match) {
			return true
		}
	}
	return false
}
