package netapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"testing"

	"brine/modules/netapi"
	"brine/wire/client"
	"brine/wire/payload"
)

// TestTokenGate: the number of questions is limited for invalid tokens, and not for others.
func TestTokenGate(t *testing.T) {
	asked := 0
	g := NewLogInGate(0, slog.New(slog.DiscardHandler))
	ask := func(from string, load *payload.Map, reply any) error {
		done, err := g.Pass(netapi.WithFrom(t.Context(), from), load)
		if err == nil {
			asked++
			done(reply, nil)
		}
		return err
	}
	get := func(token string) *payload.Map { return payload.M("cmd", "get_token", "token", token) }
	run := func(token string) *payload.Map { return payload.M("cmd", "runner", "token", token) }
	publish := func(token string) *payload.Map {
		return payload.M("cmd", "publish", "kwargs", payload.M("token", token))
	}
	no := func(name, text string) *payload.Map {
		return payload.M("error", payload.M("name", name, "message", text))
	}
	good := payload.M("token", "known", "name", "ann")
	if err := errors.Join(ask("a", get("known"), good), ask("a", payload.M("cmd", "mk_token", "eauth", "pam",
		"username", "ann"), payload.M("token", "made"))); err != nil {
		t.Fatal(err)
	}
	// A refused token leads to no further question for a while, in any kind of request.
	for i, load := range []*payload.Map{get("wrong"), publish("wrong"), run("wrong"), get("wrong")} {
		if err := ask("a", load, payload.NewMap(0)); (err == nil) != (i == 0) || i > 0 &&
			!errors.Is(err, client.ErrAuthentication) {
			t.Errorf("time %d: %v", i, err)
		}
	}
	asked = 0
	var busy *netapi.Error
	for i := range 500 {
		name := fmt.Sprint(i)
		load, reply := get(name), any(payload.NewMap(0))
		switch i % 4 {
		case 1:
			load, reply = publish(name), no("AuthenticationError", "Authentication error occurred.")
		case 2:
			load, reply = run(name), no("TokenAuthenticationError", `Authentication failure of type "token" occurred.`)
		case 3: // as for a function that nobody may run: the reply tells nothing about the token
			load, reply = publish(name), no("AuthorizationError", "Authorization error occurred.")
		}
		if err := ask("a", load, reply); err != nil && (!errors.As(err, &busy) ||
			busy.Status != http.StatusServiceUnavailable) {
			t.Fatal(err)
		}
	}
	if asked > wrongTokens || asked < wrongTokens-2 {
		t.Errorf("%d questions", asked)
	}
	for _, token := range []string{"known", "made"} {
		for range 200 {
			if err := ask("a", get(token), good); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := ask("b", run("theirs"), no("TokenAuthenticationError",
		`Authentication failure of type "token" occurred for user ben.`)); err != nil {
		t.Errorf("another address: %v", err)
	}
	if err := ask("a", get("theirs"), good); err != nil {
		t.Errorf("a token whose owner may not do everything: %v", err)
	}
	if done, err := g.Pass(t.Context(), get("known")); err != nil {
		t.Error(err)
	} else {
		done(nil, context.DeadlineExceeded) // the master is away
	}
	if err := errors.Join(ask("a", get("known"), good), ask("a", get("known"), payload.NewMap(0))); err != nil {
		t.Errorf("a token that is revoked in the end: %v", err)
	}
	if err := ask("a", get("known"), good); !errors.Is(err, client.ErrAuthentication) {
		t.Errorf("a token that is revoked: %v", err)
	}
}
