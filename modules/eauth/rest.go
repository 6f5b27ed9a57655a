package eauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"brine/modules/host/web"
	"brine/wire/payload"
	"brine/wire/python/pyjson"
)

// authRest posts user and password as a form to ^url. Status 200 lets the user in; the answer is a list of rules, in
// JSON, that holds together with the user's own entry of external_auth. Source: salt/auth/rest.py.
func authRest(ctx context.Context, a *attempt) (*admitted, error) {
	own, err := fetchRest(ctx, a)
	if own == nil || err != nil {
		return nil, err
	}
	return &admitted{rules: restJoined(a, own)}, nil
}

// restRules are the rules for a user whom another backend has let in; nil when there are none.
func restRules(ctx context.Context, a *attempt) ([]any, error) {
	own, err := fetchRest(ctx, a)
	return restJoined(a, own), err
}

// restJoined puts the user's own entry before what the server said; nil when neither has rules: then all of
// external_auth holds.
func restJoined(a *attempt, said []any) []any {
	own := asList(a.opt.External.Map(restName).Value(a.user))
	if len(own)+len(said) == 0 {
		return nil
	}
	return append(append([]any{}, own...), said...)
}

const restPatience = 20 * time.Second

// fetchRest asks the server. nil without an error is a refusal. Unlike Salt: an answer that is no list (nor null) is an
// error.
func fetchRest(ctx context.Context, a *attempt) ([]any, error) {
	at := a.opt.External.Map(restName).Str("^url")
	if at == "" {
		return nil, errors.New("external_auth: rest: no ^url")
	}
	client, err := web.New(web.Options{Patience: restPatience})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	form := url.Values{"username": {a.user}, "password": {a.password}}
	answer, err := client.Ask(ctx, http.MethodPost, at,
		http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("external_auth: rest: %w", err)
	}
	if answer.Status != http.StatusOK {
		return nil, nil
	}
	v, err := pyjson.Load(string(answer.Body))
	if err != nil {
		return nil, fmt.Errorf("external_auth: rest: the answer: %w", err)
	}
	switch v := v.(type) {
	case nil:
		return []any{}, nil
	case []any:
		return append([]any{}, v...), nil
	case *payload.Map:
		if v.Len() == 0 {
			return []any{}, nil
		}
	}
	return nil, errors.New("external_auth: rest: the answer is no list of rules")
}
