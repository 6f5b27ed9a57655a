package eauth

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/wire/disk/setaside"
	"brine/wire/payload"
)

// MakeToken authenticates by external authentication and stores a new token.
//
// It returns {start, expire, name, eauth[, auth_list][, groups], token}, times in float epoch seconds. The error is a
// *Denied when the authentication failed; another means that the token could not be stored.
func (s *Service) MakeToken(fields *payload.Map, from string) (*payload.Map, error) {
	c := payload.NewCredentials(fields)
	if !c.HasEauth() {
		return nil, &Denied{Kind: KindEauth, Name: "EauthAuthenticationError", message: "no eauth"}
	}
	in, denied := s.authenticate(c, from)
	if denied != nil {
		return nil, denied
	}
	start := epoch(s.opt.Now())
	eauth, user := c.Eauth(), c.Username()
	life := s.opt.TokenExpire.Seconds()
	if wanted, ok := number(c.TokenExpire()); ok && !math.IsNaN(wanted) && s.mayChooseExpire(eauth, user) {
		life = wanted
	}
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // crypto/rand never fails: it ends the process instead
	tok := payload.M("start", start, "expire", start+life, "name", user, "eauth", eauth)
	if s.opt.KeepACL {
		tok.Set("auth_list", listOrNil(in.rules))
	}
	if len(in.groups) > 0 {
		tok.Set("groups", in.groups)
	}
	name := hex.EncodeToString(raw)
	tok.Set("token", name)
	if err := s.tokens.put(name, tok); err != nil {
		return nil, fmt.Errorf("store token: %w", err)
	}
	return tok, nil
}

// listOrNil is nil for no rules of a backend's own: then those of external_auth hold.
func listOrNil(rules []any) any {
	if rules == nil {
		return nil
	}
	return rules
}

func epoch(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// mayChooseExpire reads token_expire_user_override.
func (s *Service) mayChooseExpire(eauth, user string) bool {
	switch o := s.opt.ExpireOverride.(type) {
	case bool:
		return o
	case *payload.Map:
		return slices.Contains(o.List(eauth), any(user))
	}
	return false
}

// tokenName tells whether a text may be a token: names come from outside, and become names of files and keys.
func tokenName(name string) bool {
	if len(name) < 32 || len(name) > payload.MaxToken {
		return false
	}
	_, err := hex.DecodeString(name)
	return err == nil
}

// Token is the data of a token; nil when it is unknown, unreadable or expired, and while its store is away. What is
// damaged is set aside, or removed where it is no file; what has expired is removed unless the clock may be wrong.
func (s *Service) Token(name string) *payload.Map {
	if !tokenName(name) {
		return nil
	}
	b, err := s.tokens.get(name)
	if err != nil || b == nil {
		return nil
	}
	tok, err := unpackToken(b)
	expire, ok := number(tok.Value("expire"))
	switch damaged := err != nil || !ok; {
	case !damaged && expire >= epoch(s.opt.Now()): // no number is an end, either
		return tok
	case damaged && s.setAside(name, err):
	case damaged || s.opt.Calm == nil || s.opt.Calm(): // else it may be the clock that is wrong
		_ = s.tokens.remove(name) // what stays is refused the next time, too
	}
	return nil
}

// shownOfToken is how many characters of a token are said.
const shownOfToken = 6

// setAside keeps a damaged token that is a file, and tells of it without showing it.
func (s *Service) setAside(name string, why error) bool {
	files, ok := s.tokens.(fileTokens)
	if !ok {
		return false
	}
	kept, err := files.aside(name)
	if s.opt.Damaged != nil && (kept != "" || err != nil) {
		cover := func(path string) string { return strings.Replace(path, name[shownOfToken:], "...", 1) }
		if kept != "" {
			kept = cover(kept)
		}
		if err != nil {
			err = errors.New(cover(err.Error()))
		}
		s.opt.Damaged(setaside.Damage{Path: cover(filepath.Join(string(files), name)), Kept: kept,
			Err: errors.Join(fmt.Errorf("a token counts no more, its owner has to log in again: %w",
				cmp.Or(why, errNoToken)), err)})
	}
	return err == nil
}

var errNoToken = errors.New("it says no end")

// Revoke removes a token from its store, whether it is there or not. Who may do so is for the caller to know. The error
// does not show the token.
func (s *Service) Revoke(name string) error {
	if !tokenName(name) {
		return errors.New("revoke token: it is none")
	}
	if err := s.tokens.remove(name); err != nil {
		return fmt.Errorf("revoke token: %w", err)
	}
	return nil
}

// CleanTokens removes expired tokens and says how many.
func (s *Service) CleanTokens() (int, error) {
	names, err := s.tokens.names()
	n := 0
	for _, name := range names {
		if tokenName(name) && s.Token(name) == nil {
			n++
		}
	}
	return n, err
}

// listOfToken is what the owner of a token may do.
func (s *Service) listOfToken(tok *payload.Map) []any {
	if list, ok := tok.Get("auth_list"); ok && s.opt.KeepACL && list != nil {
		return asList(list)
	}
	return s.listFor(tok.Str("eauth"), tok.Str("name"), tok.List("groups"))
}
