//go:build interop

package browser

import (
	"os"
	"regexp"
	"testing"
)

// script is the block of JavaScript in docs/salt-api.md.
var script = regexp.MustCompile("(?s)```js\n(.*?)```")

// TestEventSource: the browser's own EventSource reads /events with the log-in's cookie, as docs/salt-api.md
// says. A token in the address is refused, as by Salt 3008.3.
func TestEventSource(t *testing.T) {
	raw, err := os.ReadFile("../../../docs/salt-api.md")
	if err != nil {
		t.Fatal(err)
	}
	block := script.FindSubmatch(raw)
	if block == nil {
		t.Fatal("docs/salt-api.md has no script")
	}
	s := newSite(t, plan{})
	s.open(800, 600)
	got := js[string](s, `(async () => {
		const json = 'application/json'
		const login = await fetch('/login', {method: 'POST', headers: {Accept: json, 'Content-Type': json},
			body: JSON.stringify({username: 'admin', password: 'right', eauth: 'sharedsecret'})})
		const token = (await login.json()).return[0].token
		const refused = await fetch('/events?token=' + token)
		let done
		const first = new Promise((resolve) => { done = resolve })
		const seen = (tag, data) => { if (tag === 'salt/netapi/hook/page') done(refused.status + ' ' + tag + ' ' + JSON.stringify(data.post)) }
		`+string(block[1])+`
		await new Promise((resolve, reject) => { events.onopen = resolve; events.onerror = () => reject(new Error('no stream')) })
		await fetch('/hook/page', {method: 'POST', body: '{"a": 1}', headers: {'Content-Type': json}})
		const got = await first
		events.close()
		return got
	})()`)
	if want := `400 salt/netapi/hook/page {"a":1}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
