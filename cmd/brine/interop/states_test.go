//go:build interop

package interop

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mixedTree are states that both kinds of minions apply below a directory of their own, with requisites of all kinds.
var mixedTree = map[string]string{
	"top.sls": "base: {'*': [site, site.users]}\n",
	"site/init.sls": `{% set dir = salt['config.get']('root_dir') ~ '/site' %}
include: [site.tools]
{{ dir }}: {file.directory: [{mode: '0755'}, {makedirs: true}]}
{{ dir }}/motd:
  file.managed:
    - source: salt://site/motd.jinja
    - template: jinja
    - mode: '0640'
    - context: {name: {{ grains['id'] }}, greeting: {{ pillar.get('greeting', 'hello') }}}
    - require: [{file: {{ dir }}}]
{{ dir }}/plain: {file.managed: [{contents: [one, two]}, {require: [{file: {{ dir }}}]}]}
link: {file.symlink: [{name: {{ dir }}/link}, {target: {{ dir }}/plain}, {require: [{file: {{ dir }}/plain}]}]}
edit:
  file.replace:
    - {name: {{ dir }}/plain, pattern: two, repl: three, backup: false}
    - require: [{file: {{ dir }}/plain}]
appended: {file.append: [{name: {{ dir }}/log}, {text: [a, b]}, {require: [{file: {{ dir }}}]}]}
count: {cmd.run: [{name: 'wc -l < {{ dir }}/plain'}, {onchanges: [{file: edit}]}]}
restart: {cmd.wait: [{name: echo restarted}, {watch: [{file: {{ dir }}/motd}]}]}
never: {cmd.run: [{name: echo never}, {unless: 'true'}]}
breaks: {cmd.run: [{name: 'echo out; echo err >&2; exit 3'}]}
handles: {test.nop: [{onfail: [{cmd: breaks}]}]}
needs: {test.nop: [{require: [{cmd: breaks}]}]}
before: {cmd.run: [{name: echo before}, {prereq: [{file: {{ dir }}/late}]}]}
{{ dir }}/late: {file.managed: [{contents: late}, {require: [{file: {{ dir }}}]}]}
listens: {cmd.wait: [{name: echo heard}, {listen: [{file: {{ dir }}/late}]}]}
gone: {file.absent: [{name: {{ dir }}/nothing}]}
`,
	"site/motd.jinja": "{{ greeting }} {{ name }} {{ salt['test.echo']('x') }}\n",
	"site/tools.sls":  "tools: {test.succeed_with_changes: []}\nwatching: {test.nop: [{watch: [{test: tools}]}]}\n",
	"site/users.sls":  "{% for n in range(3) %}\nn{{ n }}: {test.nop: [{require: [{sls: site}]}]}\n{% endfor %}\n",
}

// mixedRuns are what both kinds of minions are asked, in this order.
var mixedRuns = [][]string{
	{"state.highstate", "test=True"}, {"state.highstate"}, {"state.highstate"}, {"state.apply", "test=True"},
	{"state.apply", "site", "pillar={'greeting': 'good day'}"}, {"state.apply", "site.tools"},
	{"state.apply", "nosuch"}, {"state.sls_id", "watching", "site.tools"}, {"state.single", "test.nop", "name=x"},
	{"state.highstate", "terse=True"}, {"state.disable", "site.tools"}, {"state.apply", "site.tools"},
	{"state.enable", "site.tools"}, {"state.running"},
}

// TestMixedStates applies the same states to a brine minion and to a Salt 3008 minion, behind a brine master and behind
// a Salt master. Their returns are the same but for times and process ids.
func TestMixedStates(t *testing.T) {
	t.Parallel()
	onlyWith(t, reference)
	for _, master := range []string{brine, reference} {
		t.Run("master of "+master, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, master, brine, map[string]string{"mours": brine, "m" + reference: reference}, plain)
			roots := f.masterPath("states")
			for name, text := range mixedTree {
				f.write(filepath.Join(roots, name), text)
			}
			f.configMaster(fleetMaster + fmt.Sprintf("file_roots: {base: [%s]}\n", roots))
			f.startAll()
			f.acceptAll()
			for i, words := range mixedRuns {
				f.step(fmt.Sprintf("%02d %s", i, strings.Join(words[:1], " ")), func(f *fleet) {
					got := f.answered(f.t, words)
					want := f.steady(got["m"+reference], "m"+reference)
					if diff := cmp.Diff(want, f.steady(got["mours"], "mours")); diff != "" {
						f.t.Errorf("%q: (-Salt +brine)\n%s", words, diff)
					}
				})
			}
		})
	}
}

// steady is an answer without what differs from minion to minion.
func (f *fleet) steady(answer any, id string) any {
	b, err := json.Marshal(answer)
	if err != nil {
		f.t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal([]byte(f.neutral(string(b), id)), &out); err != nil {
		f.t.Fatal(err)
	}
	return out
}
