"""Writes salt3008.json: texts and what Salt's own YAML loader makes of them, as [text, value] pairs.

Run with the Python of a Salt 3008 installation: python make.py > salt3008.json
A value is written as show() below has it; "error" is any exception.
"""

import json
import math
import random

import salt.utils.yaml

TOKENS = ["a", "b", "x y", "1", "0", "007", "08", "1_0", "_", "-", "- ", "-1", "1.5", ".5", "1e3", "1.0e+3", "0x1F", "0b11",
          "0o17", "12:30", "12:60", "190:20:30", "1:30.5", "-010", "...", "---\n", "yes", "No", "off", "~", "null", "None",
          ".inf", ".nan", "2024-01-01", "<<", "=", "! ", "!!str ", "!!int ", "!!float ", "!!bool ", "!!binary ", "!!omap ",
          "!x ", "&a ", "*a", "{", "}", "[", "]", ", ", ": ", "? ", "#", " # c", "|", ">", '"', "'", '"q"', "'s'", "\\",
          "\n", "\n  ", "\n- ", "\t", "@", "%", "\u00e9", "\u2028", "\x07", " ", "a: 1\n", "b: 2\n", "<<: *a\n",
          "a: &a {k: v}\n", "k=v", "99999999999999999999", "9223372036854775808", "\r\n"]

TEXTS = ["", " ", "---", "--- 1\n--- 2", "a: 1\na: 2", "1: a\ntrue: b", "1: a\n1.0: b", "a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}",
         "x: &x {p: 1}\ny: &y {p: 2}\nz: {<<: [*x, *y]}", "{<<: {a: 1}, <<: {b: 2}}", "<<: 1", "a: [1, {b: c}]", "- !!set {a, b}",
         "!!binary aGk=", "!!binary aGk", "!!binary a", "!!pairs [a: 1, a: 2]", "!!omap [a: 1, b: 2]", "!!set {a}", "!!timestamp 2024-01-01",
         "2024-01-01 10:00:00", "d: 2024-01-01", "? [a]\n: b", "? {a: b}\n: c", "a: b: c", "a:\n  - b\n c", "[1", "{a: 1", "'", '"\\x"',
         "=: x", "a: =", "!!python/object:x y", "!!python/unicode x", "a: |\n  x\n  y\n", "a: >\n  x\n  y\n", "%YAML 1.2\n---\na", "\ufeffa: b",
         "! '12'", "! 12", "!", "[! 1]", "&a [*a]", "a: *b", "&a 1", "[&a 1, *a]", "[&a 1, &a 2]", "!!int '010'", "!!int x", "!!float 1",
         "!!bool maybe", "!!null x", "!!str 1", "!!map [a]", "!!seq {a: b}", "!!str [a]", "0", "00", "000", "010", "-010", "+010", "0_", "0b", "0x",
         "0b101", "0x1f", "0X1F", "1_000", "1__0", "+1", "--1", "1.", ".", "-.5", "+.5", ".5", "1.e+3", "1.0e3", "1e+3", "1.0e+3", "-1.5E-3",
         "190:20:30", "190:20:30.15", "-1:30", "1:60", "1:5", "0:30", "y", "n", "YES", "oN", "True", "FALSE", "~", "Null", "nULL",
         "18446744073709551615", "18446744073709551616", "-9223372036854775808", "-9223372036854775809", ".NaN", "-.INF", ".Inf",
         "a #b", "a# b", "#a", "a: # c", "{a:1}", "{a: 1,}", "[1,,2]", "[a b, c]", "{a}", "{a, b: c}", "- a\n-b", "-", "- -", "a:", "a:b"]


def show(v):
    if v is None:
        return "null"
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, int):
        return f"int {v}" if -(2**63) <= v < 2**64 else f"big {v}"
    if isinstance(v, float):
        return "float " + ("nan" if math.isnan(v) else "inf" if v == math.inf else "-inf" if v == -math.inf else "%.17g" % v)
    if isinstance(v, str):
        return "str " + v
    if isinstance(v, bytes):
        return "bytes " + v.hex()
    if isinstance(v, set):
        return "[" + "|".join(sorted(show(x) for x in v)) + "]"
    if isinstance(v, dict):
        return "{" + "|".join(show(k) + "=>" + show(x) for k, x in v.items()) + "}"
    return "[" + "|".join(show(x) for x in v) + "]"


def load(text):
    try:
        return show(salt.utils.yaml.safe_load(text))
    except Exception:
        return "error"


random.seed(3008)
texts = list(dict.fromkeys(TEXTS + ["".join(random.choices(TOKENS, k=random.randint(1, 6))) for _ in range(400)]))
rows = [json.dumps([t, load(t)]) for t in texts]
print("[\n" + ",\n".join(rows) + "\n]")
