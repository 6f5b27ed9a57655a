package bench

import (
	"fmt"
	"slices"
	"sync"
)

// Series is the result of one contender in one row.
type Series struct {
	N    int     `json:"n"`
	Min  float64 `json:"min"`
	P50  float64 `json:"median"`
	Max  float64 `json:"max"`
	Note string  `json:"note,omitempty"` // why samples are missing
}

// summarize computes the statistics of samples.
func summarize(samples []float64) Series {
	if len(samples) == 0 {
		return Series{}
	}
	s := slices.Sorted(slices.Values(samples))
	return Series{N: len(s), Min: s[0], P50: median(s), Max: s[len(s)-1]}
}

// median of sorted samples.
func median(s []float64) float64 {
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// recorder collects samples by row and contender.
type recorder struct {
	only map[string]bool // nil: all

	mu      sync.Mutex
	samples map[string]map[string][]float64
	notes   map[string]map[string]string
}

func newRecorder(keys []string) *recorder {
	r := &recorder{samples: map[string]map[string][]float64{}, notes: map[string]map[string]string{}}
	if len(keys) > 0 {
		r.only = map[string]bool{}
		for _, k := range keys {
			r.only[k] = true
		}
	}
	return r
}

func (r *recorder) wants(row string) bool { return r.only == nil || r.only[row] }

func (r *recorder) wantsAny(rows []string) bool { return slices.ContainsFunc(rows, r.wants) }

func (r *recorder) add(row, who string, value float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.samples[row] == nil {
		r.samples[row] = map[string][]float64{}
	}
	r.samples[row][who] = append(r.samples[row][who], value)
}

// fail notes an error in those rows in which a contender has no sample.
func (r *recorder) fail(rows []string, who string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range rows {
		if len(r.samples[row][who]) > 0 {
			continue
		}
		if r.notes[row] == nil {
			r.notes[row] = map[string]string{}
		}
		r.notes[row][who] = fmt.Sprint(err)
	}
}

func (r *recorder) series(row, who string) Series {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := summarize(r.samples[row][who])
	if s.N == 0 {
		s.Note = r.notes[row][who]
	}
	return s
}
