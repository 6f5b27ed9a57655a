package fileserver

import (
	"bytes"
	"compress/gzip"
	"strings"
)

// split takes apart what a minion asks for: the path itself, its environment, and the rest of the query. A path that
// begins with "|" has none: question marks are its own. Answers to salt/utils/url.py.
func split(path, env string) (string, string, map[string]string) {
	if rest, escaped := strings.CutPrefix(path, "|"); escaped {
		return strings.TrimLeft(rest, "|"), env, nil
	}
	path, query, _ := strings.Cut(path, "?")
	query, _, _ = strings.Cut(query, "?")
	options := map[string]string{}
	for word := range strings.SplitSeq(query, "&") {
		if key, value, ok := strings.Cut(word, "="); ok {
			options[key] = value
		}
	}
	if named, ok := options["saltenv"]; ok {
		env = named
	}
	return path, env, options
}

// compress packs one piece as a whole gzip stream.
func compress(data []byte, level int) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
