package http_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"brine/modules/modtest"
	"brine/modules/states/statetest"
	"brine/wire/payload"
)

// TestAsSalt compares with what Salt 3008.3 answered.
func TestAsSalt(t *testing.T) {
	statetest.Compare(t, "testdata/trees_3008.json", map[string]string{})
}

// TestAnswers: what a server answers is compared with what is wanted.
func TestAnswers(t *testing.T) {
	t.Parallel()
	var asked, posted atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posted.Add(1)
		}
		if r.URL.Path == "/later" && asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "all SUCCESS here")
	}))
	defer server.Close()
	env, _ := statetest.Minion(t, nil, nil)
	for _, tt := range []struct {
		path, fun string
		kw        *payload.Map
		result    any
		comment   string
	}{
		{"/", "query", payload.M("match", "SUCCESS"), true, `Match text "SUCCESS" was found.`},
		{"/", "query", payload.M("match", "FAILURE", "status", int64(200)), false,
			`Match text "FAILURE" was not found. Status 200 was found.`},
		{"/", "query", payload.M("match", "^all S", "match_type", "pcre", "status", "20.", "status_type", "pcre"), true,
			`Match pattern "^all S" was found. Status pattern "20." was found.`},
		{"/", "query", payload.M("status", []any{int64(201), int64(200)}, "status_type", "list"), true,
			"Status 200 was found."},
		{"/", "query", payload.M("status", []any{int64(201)}, "status_type", "list"), false,
			"Statuses [201] were not found."},
		{"/", "query", payload.M("status", int64(404), "method", "POST"), false, "Status 404 was not found."},
		{"/", "query", payload.M("status", int64(200), "method", "POST", "test", true), nil,
			"Status 200 was not found. (TEST MODE)"},
		{"/later", "wait_for_successful_query", payload.M("status", int64(200), "request_interval", 0.01,
			"wait_for", int64(5)), true, "Status 200 was found."},
		{"/", "wait_for_successful_query", payload.M("match", "FAILURE", "request_interval", 0.01,
			"wait_for", 0.05), false, `Match text "FAILURE" was not found.`},
		{"/", "wait_for_successful_query", payload.M("match", "SUCCESS", "test", true), nil,
			`Match text "SUCCESS" was not found. (TEST MODE)`},
	} {
		v, _, err := modtest.Call(t, env, "state.single", []any{"http." + tt.fun},
			tt.kw.Set("name", server.URL+tt.path))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range v.(*payload.Map).All() {
			ret := row.(*payload.Map)
			if ret.Value("result") != tt.result || ret.Value("comment") != tt.comment {
				t.Errorf("%s %v: %v, %v", tt.fun, tt.kw, ret.Value("result"), ret.Value("comment"))
			}
		}
	}
	if n := posted.Load(); n != 1 {
		t.Error(fmt.Sprint("test mode changed something: ", n, " questions were posted"))
	}
}
