// Package sdb is the execution module sdb: values behind URIs such as sdb://osenv/HOME, whose profile stands in the
// options or the pillar. The drivers are those of the core of 3008.3, env and yaml; the others are extensions of Salt,
// and refused by name. It answers to salt/modules/sdb.py, salt/utils/sdb.py and salt/sdb/*.py.
package sdb

import (
	"crypto/rand"
	"math/big"
	"strings"

	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// Module is the module sdb.
func Module() loader.Module {
	return loader.Module{File: "sdb", Virtual: loader.Always, Funcs: func() []loader.Func {
		return []loader.Func{
			loader.Fn("get", show,
				"Show the value of a URI. What is no URI of a profile is shown as it is, or refused with strict.",
				"sdb.get sdb://mymemcached/foo strict=True"),
			loader.Fn("set", set, "Give a URI a value; False where it is none of a profile.",
				"sdb.set sdb://mymemcached/foo bar").Named("set_"),
			loader.Fn("delete", remove, "Delete the value of a URI; False where it is none of a profile.",
				"sdb.delete sdb://mymemcached/foo"),
			loader.Fn("get_or_set_hash", getOrSet, "Show the value of a URI, or give it one by chance and show that.",
				"sdb.get_or_set_hash 'sdb://mymemcached/SECRET_KEY' 50"),
		}
	}}
}

// scheme begins every URI.
const scheme = "sdb://"

// place is what a URI means: a profile, its driver and a key.
type place struct {
	call    *loader.Call
	profile *payload.Map
	driver  string
	key     string
}

// parts are the profile's name and the key in a URI.
func parts(uri string) (profile, key string, ok bool) {
	rest, is := strings.CutPrefix(uri, scheme)
	profile, key, _ = strings.Cut(rest, "/")
	return profile, key, is && key != ""
}

// placeOf finds the profile in the options, else in the pillar.
func placeOf(c *loader.Call, uri any) (place, bool) {
	text, _ := uri.(string)
	name, key, ok := parts(text)
	if !ok {
		return place{}, false
	}
	found := c.Opts().Value(name)
	if !python.Truth(found) {
		found = c.Pillar().Value(name)
	}
	profile, _ := found.(*payload.Map)
	if !profile.Has("driver") {
		return place{}, false
	}
	return place{c, profile, python.Str(profile.Value("driver")), key}, true
}

// missing refuses a driver, or what a driver does not have.
func (p place) missing(fun string) error {
	if p.driver == "env" || p.driver == "yaml" {
		return loader.Raise("KeyError", "'%s.%s'", p.driver, fun)
	}
	return loader.ExecErr("the sdb driver '%s' is not there: brine has 'env' and 'yaml'", p.driver)
}

type shown struct {
	URI    any  `arg:"uri"`
	Strict bool `arg:"strict=False"`
}

func show(c *loader.Call, a shown) (any, error) { return get(c, a.URI, a.Strict) }

type given struct {
	URI   any `arg:"uri"`
	Value any `arg:"value"`
}

func set(c *loader.Call, a given) (any, error) {
	p, ok := placeOf(c, a.URI)
	if !ok {
		return false, nil
	}
	return p.set(a.Value)
}

type removed struct {
	URI any `arg:"uri"`
}

func remove(c *loader.Call, a removed) (any, error) {
	p, ok := placeOf(c, a.URI)
	if !ok {
		return false, nil
	}
	return nil, p.missing("delete")
}

func get(c *loader.Call, uri any, strict bool) (any, error) {
	p, ok := placeOf(c, uri)
	if !ok && strict {
		return nil, notFound(uri)
	}
	if !ok {
		return uri, nil
	}
	return p.get()
}

// notFound is what is wrong with a URI.
func notFound(uri any) error {
	text, _ := uri.(string)
	if !strings.HasPrefix(text, scheme) {
		return loader.InvocErr(`SDB uri must start with "sdb://"`)
	}
	name, _, ok := parts(text)
	if !ok {
		return loader.InvocErr("SDB uri must have a profile name as a first part of the uri before the /")
	}
	return loader.InvocErr(`SDB profile "%s" wasnt found in the minion configuration`, name)
}

func (p place) get() (any, error) {
	switch p.driver {
	case "env":
		return getEnv(p), nil
	case "yaml":
		return getYAML(p)
	}
	return nil, p.missing("get")
}

func (p place) set(value any) (any, error) {
	switch p.driver {
	case "env":
		return setEnv(p, value)
	case "yaml":
		return nil, loader.Raise("salt.exceptions.NotImplemented", "")
	}
	return nil, p.missing("set")
}

// maxHash is the longest value that is made.
const maxHash = 1 << 20

type chosen struct {
	URI    any    `arg:"uri"`
	Length any    `arg:"length=8"`
	Chars  string `arg:"chars=abcdefghijklmnopqrstuvwxyz0123456789!@#$%^&*(-_=+)"`
}

func getOrSet(c *loader.Call, a chosen) (any, error) {
	uri, isText := a.URI.(string)
	if !isText || !strings.HasPrefix(uri, scheme) {
		return false, nil
	}
	old, err := get(c, uri, false)
	if err != nil || python.Truth(old) {
		return old, err
	}
	if old != nil {
		return nil, loader.Raise("UnboundLocalError",
			"cannot access local variable 'val' where it is not associated with a value")
	}
	length, ok := a.Length.(int64)
	if !ok {
		return nil, &loader.ArgumentError{Message: "'" + python.Type(a.Length) +
			"' object cannot be interpreted as an integer"}
	}
	if length > maxHash {
		return nil, loader.ExecErr("a value of %d characters is too long", length)
	}
	made, err := choose(int(length), []rune(a.Chars))
	if err != nil {
		return nil, err
	}
	if p, ok := placeOf(c, uri); ok {
		if _, err := p.set(made); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// choose makes a text of so many of these characters.
func choose(length int, chars []rune) (string, error) {
	if length > 0 && len(chars) == 0 {
		return "", loader.Raise("IndexError", "Cannot choose from an empty sequence")
	}
	var b strings.Builder
	for range length {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(chars))))
		if err != nil {
			return "", err
		}
		b.WriteRune(chars[n.Int64()])
	}
	return b.String(), nil
}
