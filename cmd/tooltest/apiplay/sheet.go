package apiplay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sheet is a table of requests with the configuration of the salt-api that gets them, and the answers: of Salt
// 3008.3, and of brine where it differs on purpose.
type Sheet struct {
	Name     string
	Conf     string // added to the master's configuration, see Fill
	Requests []Request
	Salt     map[string]Answer
	Ours     map[string]Answer // with their reasons
}

// Sheets are the names of all tables in the order of play. The traces of the last one disturb no other.
func Sheets() []string {
	return []string{"cherrypy", "app", "prefix", "acl", "ips", "tornado", "wsgi", "spec"}
}

// ReadSheet reads NAME.conf, NAME.requests, NAME.salt3008 and NAME.brine below dir. The last two may be missing.
func ReadSheet(dir, name string) (*Sheet, error) {
	s := &Sheet{Name: name}
	texts := map[string]string{}
	for _, end := range []string{"conf", "requests", "salt3008", "brine"} {
		raw, err := os.ReadFile(filepath.Join(dir, name+"."+end))
		if err != nil && !(errors.Is(err, fs.ErrNotExist) && (end == "salt3008" || end == "brine")) {
			return nil, err
		}
		texts[end] = string(raw)
	}
	s.Conf = texts["conf"]
	var err error
	if s.Requests, err = ParseRequests(texts["requests"]); err != nil {
		return nil, fmt.Errorf("%s.requests: %w", name, err)
	}
	if s.Salt, err = ParseAnswers(texts["salt3008"]); err != nil {
		return nil, fmt.Errorf("%s.salt3008: %w", name, err)
	}
	if s.Ours, err = ParseAnswers(texts["brine"]); err != nil {
		return nil, fmt.Errorf("%s.brine: %w", name, err)
	}
	return s, s.check()
}

// check finds answers without a request, and answers of brine that do not differ from Salt's.
func (s *Sheet) check() error {
	known := map[string]bool{}
	for _, r := range s.Requests {
		known[r.Name] = true
	}
	for name := range s.Salt {
		if !known[name] {
			return fmt.Errorf("%s.salt3008: no request %s", s.Name, name)
		}
	}
	for name, a := range s.Ours {
		switch {
		case !known[name]:
			return fmt.Errorf("%s.brine: no request %s", s.Name, name)
		case a.Why == "":
			return fmt.Errorf("%s.brine: %s says not why", s.Name, name)
		case a.Same(Theirs(s.Salt[name])):
			return fmt.Errorf("%s.brine: %s is what Salt answers", s.Name, name)
		}
	}
	return nil
}

// Want is the answer that brine must give to a request.
func (s *Sheet) Want(name string) (Answer, bool) {
	if a, ok := s.Ours[name]; ok {
		return a, true
	}
	a, ok := s.Salt[name]
	return Theirs(a), ok
}

// Fill replaces placeholders in a configuration: {PORT}; {DIR}, the folder of the test's files; {DATA}, the
// folder of the tables.
func Fill(text string, port int, dir, data string) string {
	return strings.NewReplacer("{PORT}", fmt.Sprint(port), "{DIR}", dir, "{DATA}", data).Replace(text)
}

// MasterConf combines the configuration of the master with that of a sheet. The sheet's options replace those
// of the master.
func MasterConf(master, sheet string) string {
	var b strings.Builder
	for line := range strings.Lines(master) {
		if key, _, ok := strings.Cut(line, ":"); ok && strings.Contains("\n"+sheet, "\n"+key+":") {
			continue
		}
		b.WriteString(line)
	}
	return b.String() + sheet
}

// Differ describes the difference from the expected answer. It is "" if there is none.
func Differ(got, want Answer) string {
	if got.Same(want) {
		return ""
	}
	got.Why = want.Why
	return fmt.Sprintf("got\n%swant\n%s", got, want)
}
