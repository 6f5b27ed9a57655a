// Package environ is the execution module environ: the environment variables of the job that calls its functions
// (modules/host/environ). It answers to salt/modules/environ.py.
package environ

import (
	"log/slog"

	"brine/modules/host/environ"
	"brine/modules/loader"
	"brine/wire/payload"
	"brine/wire/python"
)

// logger is the name that the reference puts before its lines.
const logger = "salt.loaded.int.module.environ"

// Module is the module environ.
func Module() loader.Module {
	return loader.Module{File: "environ", Virtual: loader.Always, Funcs: func() []loader.Func {
		return append(readers(), writers()...)
	}}
}

func readers() []loader.Func {
	return []loader.Func{
		loader.Fn("get", get, "Show an environment variable.", "environ.get HOME", "environ.get baz default=False"),
		loader.Fn("has_value", hasValue,
			"Tell whether there is an environment variable, and whether it has this value.", "environ.has_value foo"),
		loader.Fn("item", item, "Show some environment variables.", "environ.item '[foo, baz]' default=None"),
		loader.Fn("items", items, "Show all environment variables.", "environ.items"),
	}
}

type wanted struct {
	Key     any `arg:"key"`
	Default any `arg:"default=''"`
}

func get(c *loader.Call, a wanted) (any, error) {
	key, ok := a.Key.(string)
	if !ok {
		return noText(c, "key", a.Key), nil
	}
	return valueOf(c, key, a.Default), nil
}

// noText notes an argument that is no text. The answer is False then.
func noText(c *loader.Call, name string, v any) bool {
	c.Log(slog.LevelDebug, logger+": '"+name+"' argument is not a string type: '"+python.Str(v)+"'")
	return false
}

func valueOf(c *loader.Call, key string, otherwise any) any {
	if value, ok := environ.Of(c.Ctx).Get(key); ok {
		return value
	}
	return otherwise
}

type compared struct {
	Key   any `arg:"key"`
	Value any `arg:"value=None"`
}

func hasValue(c *loader.Call, a compared) (any, error) {
	key, ok := a.Key.(string)
	if !ok {
		return noText(c, "key", a.Key), nil
	}
	value, there := environ.Of(c.Ctx).Get(key)
	return there && (a.Value == nil || a.Value == any(value)), nil
}

type some struct {
	Keys    any `arg:"keys"`
	Default any `arg:"default=''"`
}

func item(c *loader.Call, a some) (any, error) {
	var keys []any
	switch x := a.Keys.(type) {
	case string:
		keys = []any{x}
	case []any:
		keys = x
	default:
		c.Log(slog.LevelDebug, logger+": 'keys' argument is not a string or list type: '"+python.Str(x)+"'")
	}
	out := payload.NewMap(len(keys))
	for _, k := range keys {
		key, ok := k.(string)
		if !ok {
			return nil, notText(k)
		}
		out.Set(key, valueOf(c, key, a.Default))
	}
	return out, nil
}

// notText is the error of Python's os.environ.
func notText(v any) error {
	return &loader.ArgumentError{Message: "str expected, not " + python.Type(v)}
}

func items(c *loader.Call, _ struct{}) (*payload.Map, error) { return all(c), nil }
