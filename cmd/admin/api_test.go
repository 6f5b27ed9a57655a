package admin

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"brine/cmd/options"
	"brine/cmd/optparse"
	"brine/cmd/session"
	"brine/cmd/tool"
	"brine/cmd/tooltest"
	"brine/config"
	"brine/wire/control"
	"brine/wire/control/controltest"
)

// TestAPINumber: without a number, the tool asks the first running salt-api and names the others. With a
// number, it asks the named one, whether that runs or not.
func TestAPINumber(t *testing.T) {
	parser := func(c *tool.Call) *optparse.Parser {
		p := options.NewParser(c, "", "")
		options.AddConfigDir(p)
		return p
	}
	run := func(t *testing.T, running ...int) *tooltest.Client {
		c := tooltest.MustOpen(t, parser, "sock_dir: /s\n")
		for _, n := range running {
			at := &session.Session{Master: &config.Master{}}
			at.Master.SockDir = filepath.Join(c.Common.SockDir, control.APIFolder(n))
			controltest.Serve(t, at.Master.SockDir, control.Handlers{})
		}
		return c
	}
	for _, tt := range []struct {
		name    string
		running []int
		number  string
		want    string // folder
		told    string
	}{
		{"none", nil, "", "api", ""},
		{"one", []int{1}, "", "api", ""},
		{"a later one", []int{3}, "", "api-3", ""},
		{"several", []int{2, 4, 9}, "", "api-2", "This is number 2; --api-number asks another: 4, 9\n"},
		{"named", []int{1, 2}, "2", "api-2", ""},
		{"named first", []int{2}, "1", "api", ""},
		{"named, not there", []int{1}, "9", "api-9", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := run(t, tt.running...)
			got, err := placeOfAPI(c.Session, tt.number)
			if want := filepath.Join(c.Common.SockDir, tt.want); err != nil || got != want {
				t.Errorf("got %s, %v, want %s", got, err, want)
			}
			if told := c.Err.String(); !strings.HasSuffix(told, tt.told) || tt.told == "" && told != "" {
				t.Errorf("told %q, want %q", told, tt.told)
			}
		})
	}
	c := run(t)
	for _, number := range []string{"0", "10", "-1", "two", "1x"} {
		_, err := placeOfAPI(c.Session, number)
		var exit *tool.ExitError
		if !errors.As(err, &exit) || !strings.HasPrefix(err.Error(), fmt.Sprintf("exit %d: ", tool.ExitUsage)) ||
			!strings.Contains(err.Error(), `"`+number+`" is no number from 1 to 9`) {
			t.Errorf("%s: %v", number, err)
		}
	}
}
