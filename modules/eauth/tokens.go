package eauth

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brine/modules/host/wholefile"
	"brine/wire/payload"
)

// MakeToken authenticates by external authentication and stores a new token.
//
// It returns {start, expire, name, eauth[, auth_list][, groups], token}, times in float epoch seconds. The error is a *Denied when
// the authentication failed; another means that the token could not be stored.
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
	return tok, s.storeToken(name, tok)
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

// storeToken writes a token file (mode 0600).
func (s *Service) storeToken(name string, tok *payload.Map) error {
	b, err := payload.Marshal(tok)
	if err != nil {
		return fmt.Errorf("pack token: %w", err)
	}
	if err := wholefile.Write(filepath.Join(s.opt.TokenDir, name), b, wholefile.Options{}); err != nil {
		return fmt.Errorf("store token: %w", err)
	}
	return nil
}

// tokenPath is the file of a token, or "" for text that is no token: names come from outside.
func (s *Service) tokenPath(name string) string {
	if len(name) < 32 || len(name) > payload.MaxToken {
		return ""
	}
	if _, err := hex.DecodeString(name); err != nil {
		return ""
	}
	return filepath.Join(s.opt.TokenDir, name)
}

// Token is the data of a token; nil when it is unknown, unreadable or expired. A damaged file is removed, and so is an
// expired one unless the clock may be wrong.
func (s *Service) Token(name string) *payload.Map {
	path := s.tokenPath(name)
	if path == "" {
		return nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	tok, err := payload.UnmarshalMap(b)
	expire, ok := number(tok.Value("expire"))
	switch damaged := err != nil || !ok; {
	case !damaged && expire >= epoch(s.opt.Now()): // no number is an end, either
		return tok
	case damaged || s.opt.Calm == nil || s.opt.Calm(): // else it may be the clock that is wrong
		_ = os.Remove(path) // a file that stays is refused the next time, too
	}
	return nil
}

// CleanTokens removes expired tokens and says how many.
func (s *Service) CleanTokens() (int, error) {
	entries, err := os.ReadDir(s.opt.TokenDir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	n := 0
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || s.tokenPath(e.Name()) == "" {
			continue
		}
		if s.Token(e.Name()) == nil {
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
