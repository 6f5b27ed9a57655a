package console

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// writeHeader must be in every request that changes something. A page of another site cannot send it without a
// CORS preflight request, which this server never answers.
const writeHeader = "X-Brine-Console"

// policy permits the page to load and reach only addresses of the same server.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types " +
	"'none'"

// secured sets the headers of every answer.
func secured(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		set := w.Header().Set
		set("Content-Security-Policy", policy)
		set("X-Content-Type-Options", "nosniff")
		set("X-Frame-Options", "DENY")
		set("Referrer-Policy", "no-referrer")
		set("Cross-Origin-Opener-Policy", "same-origin")
		set("Cross-Origin-Resource-Policy", "same-origin")
		set("Cache-Control", "no-cache")
		if strings.HasPrefix(r.URL.Path, "/console/api/") {
			set("Cache-Control", "no-store")
		}
		h.ServeHTTP(w, r)
	})
}

// foreign tells whether a request comes from a page of another site.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") { // a page cannot set it, and no proxy changes it
	case "same-origin":
		return false
	case "", "none":
	default:
		return true
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || u.Host != r.Host
}

// guard refuses requests that need no check of the user.
func guard(r *http.Request) error {
	if foreign(r) {
		return &problem{http.StatusForbidden, "requests of other sites are not answered"}
	}
	if r.Method == http.MethodGet {
		return nil
	}
	if r.Header.Get(writeHeader) == "" {
		return &problem{http.StatusForbidden, "the header " + writeHeader + " is missing"}
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "application/json" {
		return &problem{http.StatusUnsupportedMediaType, "the body must be application/json"}
	}
	return nil
}

// session finds the user of a request by the cookie. A missing session is an error.
func (c *console) session(r *http.Request) (Session, error) {
	cookie, err := r.Cookie(c.Cookie)
	if err != nil || cookie.Value == "" {
		return Session{}, ErrNobody
	}
	return c.sessionOf(r.Context(), cookie.Value, sessionWithin)
}

// setCookie sets or removes the page's session cookie.
func (c *console) setCookie(w http.ResponseWriter, id string) {
	cookie := &http.Cookie{Name: c.Cookie, Value: id, Path: "/", HttpOnly: true, Secure: c.Secure,
		SameSite: http.SameSiteStrictMode}
	if id == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, cookie)
}

// address is the address of the client, without the port.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// reply writes an answer.
func reply(w http.ResponseWriter, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		fail(w, http.StatusInternalServerError, "the answer has no JSON form")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // the client may be gone
}

// fail writes an error.
func fail(w http.ResponseWriter, status int, text string) {
	body, err := json.Marshal(Problem{Error: text})
	if err != nil {
		body = []byte(`{"error":""}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
