package netapi

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// accepted is one element of an Accept header.
type accepted struct {
	value   string
	quality float64
}

// readAccept reads the header, the best first: by quality, then by the text from behind, as CherryPy sorts.
func readAccept(header string) []accepted {
	var list []accepted
	for one := range strings.SplitSeq(header, ",") {
		fields := strings.Split(one, ";")
		a := accepted{value: strings.TrimSpace(fields[0]), quality: 1}
		for _, param := range fields[1:] {
			name, value, _ := strings.Cut(param, "=")
			if strings.TrimSpace(name) != "q" {
				continue
			}
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				q = 0
			}
			a.quality = q
		}
		list = append(list, a)
	}
	slices.SortStableFunc(list, func(a, b accepted) int {
		switch {
		case a.quality > b.quality:
			return -1
		case a.quality < b.quality:
			return 1
		}
		return strings.Compare(b.value, a.value)
	})
	return list
}

// Negotiate picks the media type of an answer among those offered; the first one serves whoever has no wish. The error
// is a 406 (cherrypy/lib/cptools.py, accept).
func Negotiate(header string, offered ...string) (string, error) {
	if header == "" {
		return offered[0], nil
	}
	for _, a := range readAccept(header) {
		if a.quality <= 0 {
			continue
		}
		if a.value == "*/*" {
			return offered[0], nil
		}
		if family, any := strings.CutSuffix(a.value, "/*"); any {
			for _, o := range offered {
				if strings.HasPrefix(o, family+"/") {
					return o, nil
				}
			}
		}
		if slices.Contains(offered, a.value) {
			return a.value, nil
		}
	}
	return "", &Error{http.StatusNotAcceptable, "Your client sent this Accept header: " + header +
		". But this resource only emits these media types: " + strings.Join(offered, ", ") + "."}
}

// AcceptsGzip says whether a client wants an answer compressed, by its header Accept-Encoding: it does not where it
// likes identity as well or better (cherrypy/lib/encoding.py, gzip).
func AcceptsGzip(header string) bool {
	for _, a := range readAccept(header) {
		switch {
		case a.value == "identity" && a.quality != 0:
			return false
		case a.value == "gzip" || a.value == "x-gzip":
			return a.quality != 0
		}
	}
	return false
}
