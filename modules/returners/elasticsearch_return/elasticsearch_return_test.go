package elasticsearch_return

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"brine/modules/returners"
	"brine/modules/returners/returnertest"
	"brine/wire/payload"
	"brine/wire/python"
	"brine/wire/python/pyjson"

	"github.com/google/go-cmp/cmp"
)

var (
	stampText = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00`)
	dayText   = regexp.MustCompile(`\d{4}\.\d\d\.\d\d`)
	uuidText  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
)

// startElastic answers as Elasticsearch does, of which only the existence of indices and the documents by id are kept.
func startElastic(t *testing.T) *returnertest.Recorder {
	there := map[string]string{}
	return returnertest.NewRecorder(t, func(a returnertest.Asked) (int, string) {
		index, rest, _ := strings.Cut(strings.TrimPrefix(a.Path, "/"), "/")
		switch {
		case index == "":
			return http.StatusOK,
				`{"name": "n", "cluster_name": "c", "version": {"number": "7.17.0", "build_flavor": "default"}, "tagline": "You Know, for Search"}`
		case a.Method == http.MethodHead && there[index] == "":
			return http.StatusNotFound, ""
		case a.Method == http.MethodPut && strings.HasPrefix(rest, "_alias/"):
			there[strings.TrimPrefix(rest, "_alias/")] = "alias"
		case a.Method == http.MethodPut && rest != "":
			there[a.Path] = a.Body
		case a.Method == http.MethodGet && there[a.Path] == "":
			return http.StatusNotFound, `{"found": false}`
		case a.Method == http.MethodGet:
			return http.StatusOK, `{"found": true, "_source": ` + there[a.Path] + `}`
		}
		return http.StatusOK, `{"acknowledged": true}`
	})
}

// cases gives the requests of each call, but those that only look whether the server is there; "error" where the
// returner failed.
func cases(t *testing.T, r *returnertest.Recorder, call func(opts *payload.Map, fun string, args ...any) error) []any {
	var out []any
	note := func(err error) {
		var list []any
		for _, a := range r.Take() {
			if a.Path == "/" {
				continue
			}
			body := any(stampText.ReplaceAllString(a.Body, "then"))
			if v, err := pyjson.Load(a.Body); err == nil && a.Method == http.MethodPut && !strings.Contains(a.Path,
				"/default/") {
				body = v // Salt's library writes these with other blanks
			}
			list = append(list,
				payload.M("asked", a.Method+" "+uuidText.ReplaceAllString(dayText.ReplaceAllString(a.Path, "day"),
					"uuid"), "body", body, "auth", a.Header.Get("Authorization")))
		}
		row := payload.M("requests", list)
		if err != nil {
			row.Set("error", true)
		}
		out = append(out, row)
	}
	plain := payload.M("elasticsearch", payload.M("host", strings.TrimPrefix(r.URL, "http://")))
	full := payload.M("elasticsearch", payload.M("hosts", []any{r.URL}, "username", "u", "password", "p", "index_date",
		true, "number_of_shards", int64(5), "number_of_replicas", int64(1), "states_count", true, "states_order_output",
		true, "states_single_index", true, "functions_blacklist", []any{"test.echo"}))
	for _, opts := range []*payload.Map{plain, full} {
		for _, ret := range returnertest.Shared(t, "returns.json").([]any) {
			note(call(opts, "elasticsearch.returner", ret))
		}
		for _, l := range returnertest.Shared(t, "loads.json").([]any) {
			l := l.(*payload.Map)
			note(call(opts, "elasticsearch.save_load", l.Value("jid"), l.Value("load")))
		}
		note(call(opts, "elasticsearch.event_return",
			[]any{payload.M("tag", "salt/a", "data", payload.M("x.y", int64(1)))}))
	}
	note(call(plain, "elasticsearch.returner", payload.M("id", "a", "jid", "1", "fun", "state.apply", "return",
		[]any{"Rendering failed"}, "retcode", int64(1))))
	return out
}

func onBrine(t *testing.T) func(opts *payload.Map, fun string, args ...any) error {
	return func(opts *payload.Map, fun string, args ...any) error {
		_, err := brine(t, opts).Try(fun, args...)
		return err
	}
}

// brine asks Elasticsearch for what Salt asks it for.
func TestElastic(t *testing.T) {
	returnertest.Same(t, returnertest.File(t, "elasticsearch.json").([]any), cases(t, startElastic(t), onBrine(t)), 20)
}

// All events arrive; loads can be read again.
func TestElasticReads(t *testing.T) {
	r := startElastic(t)
	s := brine(t, payload.M("elasticsearch", payload.M("host", r.URL)))
	s.Call("elasticsearch.event_return", []any{payload.M("tag", "a"), payload.M("tag", "b", "data", int64(1))})
	if seen := r.Take(); len(seen) != 5 || !strings.Contains(seen[3].Body, `"a"`) || !strings.Contains(seen[4].Body,
		`"b"`) {
		t.Errorf("the server was asked %v", seen)
	}
	load := returnertest.Shared(t, "loads.json").([]any)[1].(*payload.Map)
	s.Call("elasticsearch.save_load", load.Value("jid"), load.Value("load"))
	if diff := cmp.Diff(returnertest.Sorted(t, load.Value("load")),
		returnertest.Sorted(t, s.Call("elasticsearch.get_load", load.Value("jid")))); diff != "" {
		t.Error(diff)
	}
	if got := s.Call("elasticsearch.get_load", "none").(*payload.Map).Len(); got != 0 {
		t.Errorf("no load has %d fields", got)
	}
	if _, err := s.Try("elasticsearch.get_load", ".."); !returners.Hopeless(err) {
		t.Errorf("..: %v", err)
	}
}

// The names of indices and of kinds of documents are those of the options.
func TestElasticNames(t *testing.T) {
	r := startElastic(t)
	s := brine(t, payload.M("elasticsearch", payload.M("host", r.URL, "doc_type", "kind", "master_event_index",
		"events", "master_event_doc_type", "event", "master_job_cache_index", "jobs", "master_job_cache_doc_type",
		"job")))
	s.Call("elasticsearch.returner", returnertest.Ret())
	s.Call("elasticsearch.event_return", []any{payload.M("tag", "a")})
	s.Call("elasticsearch.save_load", "20261123093900000001", payload.M("fun", "test.ping"))
	if got := s.Call("elasticsearch.get_load", "20261123093900000001").(*payload.Map).Str("fun"); got != "test.ping" {
		t.Errorf("the load has fun %q", got)
	}
	var got []string
	for _, a := range r.Take() {
		if path := uuidText.ReplaceAllString(a.Path, "uuid"); strings.Count(path, "/") > 1 &&
			!strings.Contains(path, "_alias") {
			got = append(got, a.Method+" "+path)
		}
	}
	want := []string{"POST /salt-test_ping/kind", "PUT /events/event/uuid", "PUT /jobs/job/20261123093900000001",
		"GET /jobs/job/20261123093900000001"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Names of functions and jobs leave no index or document.
func TestElasticPaths(t *testing.T) {
	r := startElastic(t)
	s := brine(t, payload.M("elasticsearch", payload.M("host", r.URL)))
	s.Call("elasticsearch.returner", payload.M("id", "a", "jid", "1", "fun", "../_all?pretty#x/%2e", "return",
		int64(1)))
	s.Call("elasticsearch.save_load", "../../_all", payload.NewMap(0))
	for _, a := range r.Take() {
		if strings.ContainsAny(a.Path, "?#") || strings.Count(a.Path, "/") > 3 || strings.Contains(a.Path, "/..") &&
			!strings.Contains(a.Path, "/..%2F") {
			t.Errorf("asked %s %s", a.Method, a.Path)
		}
	}
}

// The next server is asked where one is away. A refused document is hopeless, other answers are not; no error has a
// secret.
func TestElasticFails(t *testing.T) {
	r := startElastic(t)
	ok := payload.M("elasticsearch", payload.M("hosts", []any{"127.0.0.1:1", r.URL}))
	if err := onBrine(t)(ok, "elasticsearch.returner", returnertest.Ret()); err != nil {
		t.Error(err)
	}
	for _, tt := range []struct {
		status   int
		body     string
		hopeless bool
		shown    string
	}{
		{http.StatusBadRequest, `{"error": {"type": "mapper_parsing_exception", "reason": "geheim"}}`, true,
			"mapper_parsing_exception"},
		{http.StatusUnauthorized, `{"error": {"type": "geheim-1"}}`, false, "401"},
		{http.StatusServiceUnavailable, "geheim", false, "503"},
		{http.StatusFound, "http://127.0.0.1:1/geheim", false, "302"},
	} {
		r := returnertest.NewRecorder(t, func(returnertest.Asked) (int, string) { return tt.status, tt.body })
		opts := payload.M("elasticsearch", payload.M("hosts", r.URL, "username", "u", "password", "geheim"))
		// the first request has no answer to read, so the second is looked at, too
		for _, fun := range []string{"elasticsearch.returner", "elasticsearch.get_load"} {
			var arg any = "1"
			if strings.HasSuffix(fun, "returner") {
				arg = returnertest.Ret()
			}
			err := onBrine(t)(opts, fun, arg)
			if err == nil || returners.Hopeless(err) != tt.hopeless || strings.Contains(err.Error(), "geheim") ||
				strings.HasSuffix(fun, "load") && !strings.Contains(err.Error(), tt.shown) {
				t.Errorf("%d, %s: %v, hopeless %t", tt.status, fun, err, returners.Hopeless(err))
			}
		}
	}
	for _, conf := range []*payload.Map{payload.M("host", "http://u:geheim@\x7f"), payload.M("hosts", []any{int64(1)}),
		payload.M("proxies", []any{payload.M("http", "geheim")})} {
		if err := onBrine(t)(payload.M("elasticsearch", conf), "elasticsearch.returner", returnertest.Ret()); err == nil ||
			returners.Hopeless(err) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%v: %v", conf, err)
		}
	}
}

// Hosts are read as elasticsearch-py reads them; a proxy is asked in their place.
func TestElasticHosts(t *testing.T) {
	for _, tt := range []struct {
		conf *payload.Map
		want []server
	}{
		{nil, []server{{"http://127.0.0.1:9200", ""}}},
		{payload.M("host", "a"), []server{{"http://a:9200", ""}}},
		{payload.M("hosts", []any{"a:1", "https://u%40:p@b/pre/", "https://c:2"}, "username", "x", "password", "y"),
			[]server{{"http://a:1", "x:y"}, {"https://b:443/pre", "u@:p"}, {"https://c:2", "x:y"}}},
		{payload.M("hosts", []any{payload.M("host", "a", "port", int64(3), "use_ssl", true), "[::1]:4"}),
			[]server{{"https://a:3", ""}, {"http://[::1]:4", ""}}},
		{payload.M("host", "a:1", "use_ssl", true), []server{{"https://a:1", ""}}},
	} {
		got, err := serversOf(tt.conf)
		if err != nil || !cmp.Equal(got, tt.want, cmp.AllowUnexported(server{})) {
			t.Errorf("%v: got %v, %v, want %v", tt.conf, got, err, tt.want)
		}
	}
	proxy := startElastic(t)
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword("u", "p")
	for _, proxies := range []any{payload.M("http", at.String()), []any{payload.M("https", "http://127.0.0.1:1"),
		payload.M("http", at.String())}} {
		if err := onBrine(t)(payload.M("elasticsearch", payload.M("host", "far.invalid:1", "proxies", proxies)),
			"elasticsearch.returner", returnertest.Ret()); err != nil {
			t.Error(err)
		}
		if seen := proxy.Take(); len(seen) == 0 || seen[0].Host != "far.invalid:1" ||
			!python.Truth(seen[0].Header.Get("Proxy-Authorization")) {
			t.Errorf("the proxy saw %v", seen)
		}
	}
}

// brine is the returner with options of a minion.
func brine(t *testing.T, opts *payload.Map) *returnertest.Store {
	t.Helper()
	return returnertest.New(t, opts, Module())
}
