package pillar

import (
	"fmt"
	"testing"

	"brine/wire/payload"
)

// BenchmarkCompile compiles the pillars of many minions from a tree of 25 files with targets, includes, imports and
// merges. testdata/bench.py times Salt with the same files.
func BenchmarkCompile(b *testing.B) {
	files := payload.NewMap(0)
	top := "base:\n  '*':\n    - common\n    - users\n  'G@os:Debian and web*':\n    - web\n  'E@^db\\d+':\n    - db\n"
	for i := range 20 {
		top += fmt.Sprintf("  'P@role:^(r%d|all)$':\n    - role.r%d\n", i, i)
		files.Set(fmt.Sprintf("base/role/r%d.sls", i), fmt.Sprintf("role%d:\n  ports: [80, 44%d]\n  name: {{ "+
			"grains.id }}-%d\n", i, i, i))
	}
	files.Set("base/top.sls", top).Set("base/map.jinja", "{% set ports = {'Debian': 80, 'Suse': 8080} %}\n").
		Set("base/common.sls", "include:\n  - defaults\nsite: main\nmerged:\n  own: {b: 2}\n").Set("base/defaults.sls",
		"merged:\n  own: {a: 1}\n  list: [1, 2, 3]\n").
		Set("base/users.sls", "users:\n{% for i in range(50) %}\n  user{{ i }}:\n    uid: {{ 1000 + i }}\n    "+
			"shell: /bin/sh\n    groups: [a, b]\n{% endfor %}\n").
		Set("base/web.sls", "{% from 'map.jinja' import ports %}\nweb:\n  port: {{ ports[grains.os] }}\n  host: {{ "+
			"salt['grains.get']('id') }}\n").
		Set("base/db.sls", "db: 1\n")
	c := compiler(b, files, payload.NewMap(0))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		id := fmt.Sprintf("web%d", n)
		out, err := c.Compile(b.Context(), Question{ID: id, Grains: payload.M("id", id, "os", "Debian", "role", "all")})
		if err != nil || out.Has("_errors") || out.Map("users").Len() != 50 ||
			out.Map("role7").Str("name") != id+"-7" || out.Map("web").Str("host") != id {
			b.Fatal(answer(out, err))
		}
	}
}
