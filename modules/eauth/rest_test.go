package eauth

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"brine/wire/payload"
	"brine/wire/python"
)

// authority is a server that lets "ann" in with the password "OpenSesame" and answers with a text.
func authority(t *testing.T, status int, answer string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.FormValue("username") != "ann" ||
			r.PostFormValue("password") != "OpenSesame" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestRest(t *testing.T) {
	own := payload.M("ann", []any{"own.*"}, "*", []any{"all.*"})
	for _, tt := range []struct {
		name           string
		status         int
		answer         string
		conf           *payload.Map
		user, password string
		want           string // the rules; "" = refused
		fault          bool
	}{
		{"rules", 200, `["test.*", {"web*": ["pkg.*"]}]`, own, "ann", "OpenSesame",
			"['own.*', 'test.*', {'web*': ['pkg.*']}]", false},
		{"no own ones", 200, `["test.*"]`, payload.M("*", []any{"all.*"}), "ann", "OpenSesame", "['test.*']", false},
		{"none at all", 200, `[]`, payload.M("*", []any{"all.*"}), "ann", "OpenSesame", "['all.*']", false},
		{"null", 200, `null`, own, "ann", "OpenSesame", "['own.*']", false},
		{"wrong password", 200, `[]`, own, "ann", "x", "", false},
		{"a server that fails", 500, `["test.*"]`, own, "ann", "OpenSesame", "", false},
		{"another status", 204, ``, own, "ann", "OpenSesame", "", false},
		{"a redirect", 302, ``, own, "ann", "OpenSesame", "", false},
		{"no JSON", 200, `welcome`, own, "ann", "OpenSesame", "", true},
		{"no list", 200, `{"a": 1}`, own, "ann", "OpenSesame", "", true},
		{"a text", 200, `".*"`, own, "ann", "OpenSesame", "", true},
		{"a user that adds a field", 200, `[]`, own, "ann&password=OpenSesame", "x", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conf := payload.M("^url", authority(t, tt.status, tt.answer))
			conf.Update(tt.conf)
			s := service(t, func(o *Options) { o.External = payload.M("rest", conf) })
			login := payload.M("eauth", "rest", "username", tt.user, "password", tt.password)
			id, err := s.Check(login, "")
			var denied *Denied
			if tt.want == "" {
				if !errors.As(err, &denied) || (denied.Cause != nil) != tt.fault {
					t.Fatalf("got %v, %v", id, err)
				}
				if denied.Cause != nil && strings.Contains(denied.Cause.Error(), "127.0.0.1") {
					t.Errorf("the cause shows the URL: %v", denied.Cause)
				}
				return
			}
			if err != nil || python.Repr(id.List) != tt.want {
				t.Fatalf("got %v, %v, want %s", id, err, tt.want)
			}
			tok, err := s.MakeToken(login, "") // whose rules nobody can ask for again
			if err != nil {
				t.Fatal(err)
			}
			if id, err := s.Check(payload.M("token", tok.Str("token")), ""); err != nil ||
				python.Repr(id.List) != tt.want {
				t.Errorf("by token: got %v, %v, want %s", id, err, tt.want)
			}
		})
	}
}

// TestACLModule: eauth_acl_module has the rules of users that another backend lets in.
func TestACLModule(t *testing.T) {
	rest := payload.M("^url", authority(t, 200, `["test.*"]`))
	external := payload.M("auto", payload.M("*", []any{"all.*"}), "rest", rest)
	for _, tt := range []struct{ module, password, want string }{
		{"rest", "OpenSesame", "['test.*']"},
		{"rest", "x", "['all.*']"}, // the server knows no such user, so that it has no rules for him
		{"", "OpenSesame", "['all.*']"},
		{"file", "OpenSesame", "['all.*']"},
	} {
		s := service(t, func(o *Options) { o.External, o.ACLModule = external, tt.module })
		id, err := s.Check(payload.M("eauth", "auto", "username", "ann", "password", tt.password), "")
		if err != nil || python.Repr(id.List) != tt.want {
			t.Errorf("%+v: got %v, %v", tt, id, err)
		}
	}
	external.Set("rest", payload.M("^url", "http://127.0.0.1:1/"))
	s := service(t, func(o *Options) { o.External, o.ACLModule = external, "rest" })
	if id, err := s.Check(payload.M("eauth", "auto", "username", "ann", "password", "x"), ""); err == nil {
		t.Errorf("the rules cannot be had, and %+v comes in", id)
	}
}
