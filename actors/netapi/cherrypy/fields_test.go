package cherrypy_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"brine/modules/netapi"
	"brine/wire/payload"
	"brine/wire/wiretest"
)

const marked = "said by a client"

// fieldsOfClients are the fields that code reads from requests, those of Salt's masters, and one unknown field.
func fieldsOfClients(t *testing.T) []string {
	return append(wiretest.FieldsOfRequests(t), "__user__", "__jid__", "__tag__", "__pub_user", "__new__", "of_nobody",
		"enc", "load", "AUTH_LIST")
}

// TestFieldsOfChunks: a field reaches the load for the master only if a table permits it, wherever a client
// puts it. The test tries each field that code reads from a request. The key of the master's user never travels
// with a client's credentials.
func TestFieldsOfChunks(t *testing.T) {
	clients := []any{"local_batch", "local_subset", "runner_async", "wheel_async"}
	s := open(t, payload.NewMap(0), clients...)
	token := s.login()
	for _, client := range append(clients, "local", "local_async", "runner", "wheel") {
		for where, body := range s.spelled(client.(string)) {
			kind := map[bool]string{true: "Content-Type: " + netapi.TypeYAML}[where == "YAML"]
			if where == "form" {
				kind = "Content-Type: application/x-www-form-urlencoded"
			}
			got := s.ask("POST", "/run", body, slices.DeleteFunc([]string{kind}, func(h string) bool {
				return h == ""
			})...)
			if got.StatusCode >= 500 {
				t.Errorf("%v %s: %d %s", client, where, got.StatusCode, got.body)
			}
			s.looked(fmt.Sprint(client, " ", where))
		}
	}
	every := map[string]any{"tgt": "m1", "fun": "test.ping"}
	for _, f := range fieldsOfClients(t) {
		if _, has := every[f]; !has && f != "client" && f != "token" && f != "arg" && f != "kwarg" {
			every[f] = marked
		}
	}
	body, _ := json.Marshal(every)
	s.ask("POST", "/minions", string(body), "X-Auth-Token: "+token)
	s.looked("/minions")
	for f, v := range map[string]any{"username": "ann", "password": "sekrit", "eauth": "pam", "mid": "m9",
		"kwarg": map[string]any{"id_": "../" + marked}, "arg": []any{marked}} {
		every[f] = v
	}
	body, _ = json.Marshal(every)
	for _, path := range []string{"/login", "/token", "/keys"} {
		s.ask("POST", path, string(body))
		s.looked(path)
	}
}

// spelled returns chunks for a client with every field, in every possible place.
func (s *site) spelled(client string) map[string]string {
	chunk := func(more ...any) *payload.Map {
		low := payload.M("client", client, "tgt", "m1", "fun", "test.ping", "username", "ann", "password", "sekrit",
			"eauth", "pam", "timeout", 5)
		low.Update(payload.M(more...))
		return low
	}
	beside, inside, form, twice, yaml := chunk(), payload.NewMap(0), url.Values{}, "", ""
	for _, f := range fieldsOfClients(s.t) {
		inside.Set(f, marked)
		if !beside.Has(f) && f != "token" && f != "arg" && f != "kwarg" {
			beside.Set(f, marked)
			form.Set(f, marked)
		}
		if f != "token" { // it would have to be a valid token
			twice += fmt.Sprintf(`%q: 1, %q: %q, `, f, f, marked)
		}
		yaml += fmt.Sprintf("? !!binary %q\n: %q\n", base64.StdEncoding.EncodeToString([]byte(f)), marked)
	}
	for k, v := range chunk().All() {
		form.Set(fmt.Sprint(k), fmt.Sprint(v))
		yaml += fmt.Sprintf("%v: %v\n", k, v)
	}
	jsonOf := func(v any) string {
		b, err := netapi.JSON(v)
		if err != nil {
			s.t.Fatal(err)
		}
		return string(b)
	}
	last := jsonOf(chunk("arg", []any{}, "kwarg", payload.NewMap(0)))
	return map[string]string{
		"beside": jsonOf(beside), "kwarg": jsonOf(chunk("kwarg", inside)),
		"arg":    jsonOf(chunk("arg", []any{inside.Clone().Set("__kwarg__", true)})),
		"kwargs": jsonOf(chunk("kwargs", inside)), "twice": "{" + twice + strings.TrimPrefix(last, "{"), "YAML": yaml,
		"form": form.Encode(),
	}
}

// looked checks the loads that the master got since the last time. salt-api answers a wheel_async before it
// asks the master.
func (s *site) looked(what string) {
	s.t.Helper()
	until(s.t, what+": the master is asked", func() bool { return s.lookedOnce(what) > 0 })
}

// lookedOnce checks the loads that the master got for clients, and returns their number.
func (s *site) lookedOnce(what string) (n int) {
	s.t.Helper()
	s.master.loads.Range(func(k, _ any) bool {
		s.master.loads.Delete(k)
		load := k.(*payload.Map)
		if load.Value("fun") == "doc.runner" { // salt-api's own question
			s.only(what, load, "cmd", "fun", "kwarg", "key", "user")
			return true
		}
		n++
		command := payload.Command(load)
		switch command {
		case payload.CmdPublish:
			s.only(what, load, "cmd", "tgt", "fun", "arg", "tgt_type", "ret", "jid", "kwargs", "user")
			s.only(what+" kwargs", load.Map("kwargs"), "delimiter", "metadata", "start_event", "nocache", "id",
				"master_id", "ret_config", "ret_kwargs", "module_executors", "executor_opts", "eauth", "username",
				"password", "token")
		case payload.CmdRunner:
			s.only(what, load, "cmd", "fun", "kwarg", "eauth", "username", "password", "token")
			s.only(what+" kwarg", load.Map("kwarg"), "kwarg", "arg")
			s.unmarked(what+" keywords", load.Map("kwarg").Map("kwarg"))
		case payload.CmdWheel:
			s.unmarked(what, load, "key", "user", "cmd", "client", "print_event", "full_return")
		case payload.CmdMkToken:
			s.only(what, load, "cmd", "eauth", "username", "password", "token_expire")
		default:
			s.t.Errorf("%s: the master is asked for %s", what, command)
		}
		if load.Value("user") == marked || load.Has("key") {
			s.t.Errorf("%s: the load is said to be of %v, with a key: %v", what, load.Value("user"), load.Has("key"))
		}
		return true
	})
	return n
}

// only fails the test if a map has other keys.
func (s *site) only(what string, m *payload.Map, names ...string) {
	s.t.Helper()
	for _, k := range m.Keys() {
		if name, _ := k.(string); !slices.Contains(names, name) {
			s.t.Errorf("%s: %v is in the load", what, k)
		}
	}
}

// unmarked fails the test if a client could set a field of masters and their tools: a name that begins with __,
// or another.
func (s *site) unmarked(what string, m *payload.Map, others ...string) {
	s.t.Helper()
	for k, v := range m.All() {
		name, text := k.(string)
		own := strings.HasPrefix(name, "__") || slices.Contains(others, name)
		if !text || own && v == marked {
			s.t.Errorf("%s: %v is in the load", what, k)
		}
	}
}
