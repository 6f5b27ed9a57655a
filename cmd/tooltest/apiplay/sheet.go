package apiplay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Sheet is a table of requests with the configuration of the salt-api that gets them, and what came back: from Salt
// 3008.3, and from brine where it answers otherwise by decision.
type Sheet struct {
	Name     string
	Conf     string // added to the master's configuration, see Fill
	Requests []Request
	Salt     map[string]Answer
	Ours     map[string]Answer // with the reason of each
}

// Sheets are the names of all tables in the order in which they are played; what the last one leaves behind disturbs no
// other.
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

// check finds answers to requests that are gone, and decisions that changed nothing.
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

// Want is what brine is to answer to a request.
func (s *Sheet) Want(name string) (Answer, bool) {
	if a, ok := s.Ours[name]; ok {
		return a, true
	}
	a, ok := s.Salt[name]
	return Theirs(a), ok
}

// Fill puts the values of a place into a configuration: {PORT}, {DIR} with what the test wrote, {DATA} with what stands
// here.
func Fill(text string, port int, dir, data string) string {
	return strings.NewReplacer("{PORT}", fmt.Sprint(port), "{DIR}", dir, "{DATA}", data).Replace(text)
}

// MasterConf is the configuration of a salt-api's master with that of a sheet; an option of the sheet replaces the
// master's.
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

// Differ says how an answer is not what is wanted; "" when it is.
func Differ(got, want Answer) string {
	if got.Same(want) {
		return ""
	}
	got.Why = want.Why
	return fmt.Sprintf("got\n%swant\n%s", got, want)
}
