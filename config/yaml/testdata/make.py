"""Writes salt3008.json: texts and what Salt's own YAML loader makes of them, as [text, value] pairs.

Run with the Python of a Salt 3008 installation: python make.py > salt3008.json
A value is written as show() below has it, an exception as "error", its class and its text.
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
         "a #b", "a# b", "#a", "a: # c", "{a:1}", "{a: 1,}", "[1,,2]", "[a b, c]", "{a}", "{a, b: c}", "- a\n-b", "-", "- -", "a:", "a:b",
         "[a?b]", "[?a]", "[a ? b]", "{a?: b}", "{a:1}", "[a:,b]", "[:a]", ": a", "[? : a]", "[? a : b]", "[?]", "{?}", "{? , a: b}", "?a: b", ":a: b",
         "[-a]", "[-,a]", "[- a]", "\ufeffa: b\nc: d", "- a\n\ufeff- b", "!a,b c", "!a[b] c", "[!!str, b]", "%TAG ! tag:x,y:\n--- !!str a",
         "!<tag:yaml.org,2002:str", "!<x> y", "!%41 x", "!%zz x", "!%c3%a9 x", "!%ff x", "!%c3x x", "!%c3%41 x", "!e!x y", "%TAG !e! tag:e.com,2000:\n---\n!e!x y", "&a,b c",
         "&a: b", "& a", "&a &b c", "%YAML\n---\n", "%YAML 1\n---", "%YAML 1.1 x\n---\n", "%YAML 2.0\n---\na", "%YAML 1.1\n%YAML 1.1\n---\na",
         "%YAML 1.1\na", "%YAML 1111111111.1\n---\n", "%\n", "%a!b\n", "%foo", "%TAG a b\n---\n", "%TAG !a b\n---\n", "%TAG !a!b\n---\n",
         "%TAG !a! b\n%TAG !a! c\n---\nx", "%TAG !a! \n---\n", "[a: b: c]", "[a\n: b]", "{a\n: b}", "{'a':b}", "['a':b]", "{a: {b: 1, b: 2}, a: 3}", "'a':b",
         "a:\n  b\n c: d", "a: |\n x\n y\n  z\n\nb: >\n x\n\n y\n", "a: 'x\n---\ny'", "a\n---", "--- |\n a\n...\n", "--- a\n--- \n", "a: b\n...\n",
         "a: b\n...\nc", "a\n...\n%YAML 1.1\n---\nb", "...", "!\n", "- !\n- b", "! [a]", '"a\\\n  b"', '"a \\\n  \\  b\n\n c"', '"\\/"', '"\\\'"', '"\\q"', '"\\u12"', '"\\ud800"',
         '"\\U00110000"', '"\\x41\\u00e9\\U0001f600\\N\\_\\L\\P\\e"', "!!int 0o17", "!!int 08", "!!int ''", "!!int '-'", "!!int 0b2", "!!int 0xg", "!!int 1:x", "!!float 1:x", "!!float ''",
         "!!binary \u00e9\u20ac", "!!binary a\u00e9b", "!!binary abcde", "!!binary ab", "!!bool X", "<<: {a: 1}\na: 2\n", "a: 1\n<<: {a: 2, b: 3}", "<<: [{a: 1},{a: 2}]",
         "<<: [1]", "&x a: b\nc: *x", "*x : b", "&a a: *a", "x: &x {a: *x}", "a: &a 1\nb: &a 2", "a: b\rc: d", "a: b\r\nc: d\r\n", "a: b\u0085c: d", "{{ a }}", "{% if %}",
         "- {{ a }}: b", "{{ a }} b", "{{a}}: {{b}}", "? [a, {b: c}]\n: d", "!!set {[a], b}", "a" * 1100 + ": b", "a: b\n" + "c" * 1100 + "\n", "a: - b", "a:\n- b\n-c",
         "\ta: b", "a: b\n\tc: d", "a: b\n\t\n\tc", "a: |\n\tx", "|2\n   a\n b", "|0\n a", "|+-\n a", "|3x\n a", "|2-\n   a\n", "|-2\n   a\n\n", ">+\n a\n\n\n", "--- >x\n",
         "a\u00e9\x07", "\u00e9: b: c", "{a: b", "{a: b]", "[a}", "a: [b]: c", "a: 'b' c", '"a" "b"', "- a\nb: c", "- - a\n - b", "a: &x {b: 1}\nc: *x y", "!!str {=: a}",
         "1.0: a\n1.0: b", "~: a\nnull: b", "!!binary aGk=: 1\n!!binary aGk=: 2", "'it''s': 1\n\"it's\": 2", "a: !!omap 1", "!!omap [1]", "!!omap [{a: b, c: d}]", "!!pairs {a: b}", "!!set [a]",
         "!<it's> x", "a: >\n\n x\n  y\n z\n\n\n w\n", "a: 'b\n  c\n\n  d'", "a: b\n  c\n\n  d", "? a\n? b\n: c\n", "?\n  a\n:\n  b", "a: #c\n  b", "- # x\n  - y", "a:\n- b\nc:\n- d"]


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
        return "set [" + "|".join(sorted(show(x) for x in v)) + "]"
    if isinstance(v, dict):
        return "{" + "|".join(show(k) + "=>" + show(x) for k, x in v.items()) + "}"
    return "[" + "|".join(show(x) for x in v) + "]"


def load(text):
    try:
        return show(salt.utils.yaml.safe_load(text))
    except RecursionError:
        return "error RecursionError"
    except Exception as exc:
        return f"error {type(exc).__name__}: {exc}"


random.seed(3008)
texts = list(dict.fromkeys(TEXTS + ["".join(random.choices(TOKENS, k=random.randint(1, 6))) for _ in range(800)]))
rows = [json.dumps([t, load(t)]) for t in texts]
print("[\n" + ",\n".join(rows) + "\n]")
