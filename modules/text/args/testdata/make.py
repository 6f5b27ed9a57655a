"""Writes salt3008.json: words and what salt.utils.args of Salt makes of them, as [word, kind, value].

kind "word" is yamlify_arg(word); kind "list" is parse_input([word]), as salt publishes it.
Run with the Python of a Salt 3008 installation: python make.py > salt3008.json
"""

import json
import math
import random

import salt.utils.args

TOKENS = ["a", "b", "x y", "1", "0", "007", "08", "1_0", "_", "-", "- ", "-1", "1.5", "1e3", "1.0e+3", "0x1F", "12:30", "1:30.5",
          "yes", "No", "off", "~", "null", "None", ".inf", "2024-01-01", "<<", "=", "==", "!", "! ", "!!str ", "!!int ", "!!binary ",
          "!!set ", "&a ", "*a", "{", "}", "[", "]", ", ", ": ", "#", " # c", "|", ">", '"', "'", '"q"', "'s'", "\\", "\n", "\t", "@", "%",
          "\u00e9", "\u00b2", "k=", "a.b=", "a-b=", "9a=", "_x=", "\u00e9=", "20261121024152123456", "99999999999999999999", "\r", "\x1c"]

WORDS = ["1", "1.50", "007", "010", "true", "yes", "on", "no", "off", "# c", "2024-01-01", "1e3", "1:30", "12:30", "12:30:45", '"q"', "'1'", "=x", "x=1,2",
         "two words", "0o17", "None", "null", "~", "{}", "{'a': 1}", "a: b", "1_000", "0x1f", "0x10", "%x", "!x", "@y", "[1", "[1, 2]", "a=b=c",
         "three=3", "1x=3", "a==b", "9a=b", "a-b=c", "a.b=c", "e=", "a=b\nc", "a=b\n", "a\n=b", "", " ", "---", "...", " --- ", "|", "!", ">", "#", " #",
         "{a: 1} # c", "[1] # c", "1 # c", "a # b", "null # b", "- a", "? a", "x: #", "{a: 2024-01-01}", "[!!binary aGk=]", "!!binary aGk=", "!!set {a}",
         "20261121024152123456", "jid=20261121024152123456", "20261121024152123456_1234", "[20261121024152123456]", "18446744073709551616",
         "18446744073709551615", "-5", "+5", "-010", "1.", ".5", "5e", "__kwarg__=True", "a=None", "a={b: [1, 2]}", "a=[1,2", "f=/etc/*", "*", "web*", "G@os:Debian",
         "/etc/passwd", "C:\\x", "a:b", "a: ", "http://x:80/", "\u00e9=1", "a\u00e9=1", "\u0661=1", "a\u0661=1", "a\u00b2=1", "a b=c", "-a=b", "a=-b", "a=#b", "a= b", "a=b ", " a=b",
         "Yes", "YES", "y", "n", "True", "FALSE", "tRue", ".nan", "-.inf", "1__0", "_1", "1_", "_", "1_a", " 1_0 ", "<<", "=", "&x y", "*x", "{a}", "{a, b}", "[]", "[a, {b: c}]",
         "{1: a, 1: b}", "{<<: {a: 1}}", "'it''s'", '"a\\nb"', '"\\x41"', "'", '"', "`a`", "$x", "a\\nb", "\u2028", "\x0b1", "\x1c", "\u00a0", "\x85", "12:60", "0:30"]


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


random.seed(3008)
words = list(dict.fromkeys(WORDS + ["".join(random.choices(TOKENS, k=random.randint(1, 4))) for _ in range(400)]))
rows = [json.dumps([w, "word", show(salt.utils.args.yamlify_arg(w))]) for w in words]
rows += [json.dumps([w, "list", show(salt.utils.args.parse_input([w]))]) for w in words]
print("[\n" + ",\n".join(rows) + "\n]")
