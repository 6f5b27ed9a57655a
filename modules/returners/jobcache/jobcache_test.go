package jobcache_test

import (
	"slices"
	"strings"
	"testing"

	"brine/modules/all"
	"brine/modules/loader"
	"brine/modules/returners"
	"brine/modules/returners/jobcache"

	"github.com/google/go-cmp/cmp"
)

// TestMissing: which returners can be a job cache, and what the others lack. Salt's of these names lack the same, but
// for multi_returner.
func TestMissing(t *testing.T) {
	reg := loader.NewRegistry()
	reg.Offer(all.Returners(returners.Options{}))
	const all = "returner save_load get_load get_jid get_jids"
	want := map[string]struct{ master, ext, unread string }{
		"elasticsearch": {master: "get_jid get_jids", unread: "get_jid get_jids"},
		"nosuch":        {master: all, ext: "save_load", unread: "get_load get_jid get_jids"},
	}
	for _, name := range []string{"local", "multi_returner", "rawfile_json", "slack_webhook", "smtp", "syslog"} {
		want[name] = struct{ master, ext, unread string }{"save_load get_load get_jid get_jids", "save_load",
			"get_load get_jid get_jids"}
	}
	names := []string{"nosuch"}
	for _, fun := range reg.Names() {
		if name := loader.ModuleOf(fun); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range names {
		c := jobcache.Cache{Name: name, Registry: reg}
		for _, row := range []struct {
			got  []string
			want string
		}{{c.Missing(true), want[name].master}, {c.Missing(false), want[name].ext},
			{c.Unreadable(), want[name].unread}} {
			if diff := cmp.Diff(row.want, strings.ReplaceAll(strings.Join(row.got, " "), name+".", "")); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}
