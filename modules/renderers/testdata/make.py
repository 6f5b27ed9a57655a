"""Writes salt3008.json: templates and what Salt's compile_template makes of them.

Run with the Python of a Salt 3008 installation: python make.py > salt3008.json
A row is [as file or string, default renderer, text, result, log lines]. A result is written as show() has it, an exception
as "error", its class and its text. DIR stands for the directory of the files.
"""

import json
import logging
import math
import os
import random
import tempfile

import salt.config
import salt.loader
import salt.template

os.environ["PATH"] = "/usr/bin:/bin"

SLS = [
    "", " \n", "\n\n# nothing\n", "a: b", "a: 1\nb: [x, y]\n", "/etc/motd:\n  file.managed:\n    - source: salt://motd\n    - mode: 0644\n    - user: root\n",
    "pkgs:\n  pkg.installed:\n    - pkgs:\n      - vim: 2:8.2\n      - git\n", "base:\n  '*':\n    - common\n  'G@os:Debian and web*':\n    - match: compound\n    - web\n",
    "nginx:\n  service.running:\n    - enable: yes\n    - watch:\n      - file: /etc/nginx.conf\n  pkg.installed: []\n", "a:\n  b:\n  c: ~\n  d: ''\n", "- a\n- b\n", "just text", "42", "0", "false", "~", "[]", "{}", "''",
    "a: {{ b }}", "{{ a }}: b", "a: {{ b }} c", "{% if a %}\nb: c\n{% endif %}", "a: {% b %}", "a: '{{ b }}'", "{{ a }}", "- {{ a }}\n- {{ b }}", "a:\n  - {{ b }}: c\n", "a: {b: {{ c }}}",
    "a: b: c", "a:\n\tb: c\n", "a:\n  b: 1\n c: 2\n", "a: 1\na: 2\n", "a:\n  file.managed: []\n  file.managed: []\n", "x: {a: 1, a: 2}\nx: 3\n", "1: a\ntrue: b\n", "yes: 1\non: 2\n", "a: *b\n", "a: &x 1\nb: &x 2\n",
    "a: !foo b\n", "!!python/object:os.system x\n", "a: !!python/name:os.system\n", "a: !!binary aGVsbG8=\n", "a: !!binary h\n", "a: !!set {x, y}\n", "a: !!omap {x: 1, y: 2}\n", "a: !!omap [x: 1]\n", "a: !!pairs [x: 1, x: 2]\n",
    "a: !!timestamp 2024-01-01\n", "d: 2024-01-01\nt: 2024-01-01 10:00:00\nz: 2024-01-01T10:00:00Z\n", "o: 0644\np: 010\nq: 0o17\nr: 0x1f\ns: 0b11\n", "f: 1e3\ng: 1.0e+3\nh: 1.5\ni: .5\nj: -.inf\n", "s: 12:30\nt: 1:30.5\nu: 190:20:30\n",
    "y: y\nn: n\nyes: Yes\nno: NO\non: On\noff: oFF\n", "a: 'it''s'\nb: \"x\\ty\"\nc: \"\\u00e9\"\n", "a: |\n  one\n  two\nb: >\n  one\n  two\n\n  three\n", "a: |-\n  x\nb: |+\n  y\n\nc: >2\n    z\n", "a: b #c\nd: e#f\n# g\n",
    "base: &base\n  a: 1\n  b: 2\nmore:\n  <<: *base\n  b: 3\n", "a: &a {x: 1}\nb: &b {y: 2}\nc: {<<: [*a, *b], z: 3}\n", "a: &a {x: 1}\nb: &b {x: 2}\nc: {<<: [*a, *b]}\n", "a: {<<: 1}\n", "a: &a [1, 2]\nb: *a\nc: [*a, *a]\n",
    "---\na: b\n", "---\na: b\n...\n", "a: b\n---\nc: d\n", "---\n---\n", "--- a\n--- b\n", "%YAML 1.2\n---\na: b\n", "%YAML 3.0\n---\na: b\n", "%FOO\n---\na\n", "...\n", "a: [1, 2\nb: 3\n", "a: {b: 1\nc: 2\n", "a: 'b\n", "a: \"b\\q\"\n", "a: \"b\n", "@a: b\n",
    "a: `b`\n", "a: %b\n", "- a\nb: c\n", "a: b\n- c\n", "a: - b\n", "a:\n- b\n-c\n", "? a\n: b\n", "? [a, b]\n: c\n", "? {a: b}\n: c\n", "[a]: b\n", "{a: b}: c\n", "a: b\r\nc: d\r\n", "a: b\rc: d\r", "\u00fc: \u00e9\n\u65e5\u672c: \u8a9e\n", "a: \U0001f600\n", "a: \x07\n",
    "a: \u00e9\x00\n", "\ufeffa: b\n", "a: b\n \n  \nc: d\n", "a:   b   \n", "a : b\n", "'a b': c\n\"d e\": f\n", "a: !!str 1\nb: !!int '2'\nc: !!float 3\nd: !!bool yes\ne: !!null x\n", "a: !!int x\n", "a: !!float x\n", "a: !!bool x\n", "a: !!map [b]\n", "a: !!seq {b: c}\n", "a: !!str [b]\n",
    "a: !<tag:yaml.org,2002:int> 7\n", "!e!a b\n", "%TAG !e! tag:yaml.org,2002:\n---\na: !e!int '7'\n", "a: &a\n  b: *a\n", "&a [*a]\n", "a: =\n", "=: a\n", "<<: a\n", "a: <<\n", "99999999999999999999: a\nb: 99999999999999999999\n", "a: 1_000\nb: 1__0.5\n",
    "a: -1\nb: +1\nc: --1\n", "a: 1.2.3\nb: 1:2:3:4\nc: 1:60\n", "include:\n  - a.b\n  - .c\nextend:\n  x:\n    file:\n      - mode: 600\n", "#!yaml\na: b\n", "#!yaml|yaml\na: b\n", "#!json\n{\"a\": 1}\n", "#!json\n", "#!nosuch\na: b\n", "#!yaml|nosuch\na: b\n", "#!/bin/sh\na: b\n",
    "#!yaml foo\na: b\n", "#! yaml\na: b\n", "#!\na: b\n", "#!yaml|\na: b\n", "#!|yaml\na: b\n", "#!gpg\na: b\n", "#!yaml|gpg\na: b\n", "#!gpg|yaml\na: b\n", "#!gpg|json\n{}\n", "#!json|yaml\n{}\n", "#!json|yaml\n{\"a\": 1}\n", "#!json|yaml\n[1]\n", "#!json|json\n5\n", "#!yaml|json\n- a\n",
    "#!gpg\r\na: b\r\n", "#!yaml|gpg\na: [1, b, {c: !!binary aGk=}]\n", " #!yaml\na: b\n", "\n#!json\na: b\n", "#!json\nnull\n", "#!json|gpg\nnull\n",
]

JSON = [
    "", " ", "{}", "[]", "null", "true", "1", "-1", "1.5", "1e3", "-0", "01", "1.", ".5", "+1", "-", "1e", "1e+", "1E5", "NaN", "Infinity", "-Infinity", "-Inf", "nul", "\"a\"", "'a'", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\u00e9\"",
    "\"\\ud83d\\ude00\"", "\"\\ud83d\\uzzzz\"", "\"a\tb\"", "\"a\nb\"", "\"\\n\\t\\/\\b\\f\\r\\\\\\\"\"", "{\"a\": 1}", "{\"a\": 1,}", "{\"a\" 1}", "{\"a\":}", "{a: 1}", "{\"a\": 1 \"b\": 2}", "{\"a\": 1, \"a\": 2}", "{\"b\": 1, \"a\": {\"d\": [], \"c\": null}}",
    "[1,]", "[1 2]", "[", "[1", "[1,", "{", "{\"a\"", "{\"a\":", "{\"a\": 1", "{\"a\": 1,", "[}", "{]", "[1]]", "{} {}", "1 2", "\ufeff{}", "[\u00e91]", "{\n  \"a\": 1,\n  \"b\": x\n}", "9223372036854775808", "18446744073709551616", "-9223372036854775809", "1.0e400", "1" * 4301,
    "[[[[1]]]]", "\u00a0{}", "{\"\u00e9\": \"\u65e5\"}", "[1,\n2,\n\u00e9]", "#!json\n{\"a\": 1}", "#!json", "// c\n{}", "[true, false, null]", "[tru]", "{\"a\": [1, {\"b\": 2.0}]}", "{\"true\": true, \"1\": 1}",
]

YAMLEX = [
    "", "a: b", "a: 1\na: 2\n", "a: !aggregate [1]\na: !aggregate [2]\n", "a: !aggregate {b: 1}\na: !aggregate {c: 2}\n", "!reset a: 1\nb: !aggregate x\n", "0", "[]", "- a\n- b: !aggregate [c]\n", "#!yamlex\na: {b: 1}\na: {c: 2}\n",
    "a:\n  b: !aggregate [1, 2]\n  b: !aggregate [3]\n  !reset b: [4]\n",
]

YAML_TOKENS = ["a", "b", "c", "x y", "1", "0", "010", "1.5", "yes", "~", "- ", "-", ": ", ":", ", ", ",", "{", "}", "[", "]", "\n", "\n  ", "\n    ", "\n- ", "\n  - ", "&a ", "*a", "!!str ", "!!int ", "!x ", "! ", "|\n  ", ">\n  ", "'", "\"", "'q'", "\"d\"", "#", " # c",
               "? ", "<<: ", "{{ a }}", "{% b %}", "\t", "---\n", "...\n", "%", "a: b\n", "c:\n  d: e\n", "- f\n", "g: |\n  h\n", "=", "\u00e9", "\\"]
JSON_TOKENS = ["{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "\"", "1", "-2.5", "1e5", "true", "null", " ", "\n", "\\u0041", "x", "{}", "[]", "\"c\": ", "\u00e9", "0"]


def show(v):
    if v is None:
        return "null"
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, int):
        return f"int {v}"
    if isinstance(v, float):
        return "float " + ("nan" if math.isnan(v) else "inf" if v == math.inf else "-inf" if v == -math.inf else "%.17g" % v)
    if isinstance(v, str):
        return "str " + v
    if isinstance(v, bytes):
        return "bytes " + v.hex()
    if isinstance(v, (set, frozenset)):
        return "set [" + "|".join(sorted(show(x) for x in v)) + "]"
    if isinstance(v, dict):
        return "{" + "|".join(show(k) + "=>" + show(x) for k, x in v.items()) + "}"
    return "[" + "|".join(show(x) for x in v) + "]"


class Keep(logging.Handler):
    lines = []

    def emit(self, record):
        if record.name == "salt.template":
            self.lines.append(record.levelname + " " + record.getMessage())


def main():
    work = tempfile.mkdtemp()
    opts = salt.config.minion_config(None, defaults=dict(salt.config.DEFAULT_MINION_OPTS, root_dir=work, gpg_keydir=work, conf_file=work + "/minion"))
    renderers = salt.loader.render(opts, {})
    handler = Keep()
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)
    random.seed(30083)

    def mixed(tokens, n):
        return ["".join(random.choices(tokens, k=random.randint(2, 9))) for _ in range(n)]

    cases = [(kind, "yaml", t) for t in SLS for kind in ("file", "string")]
    cases += [("string", "yaml", t) for t in mixed(YAML_TOKENS, 400)]
    cases += [("file", "json", t) for t in JSON + mixed(JSON_TOKENS, 150)]
    cases += [("string", d, "a: b") for d in ("yaml_jinja_x", "", "|", "yaml|yaml", " yaml ", "json", "gpg", "yaml | gpg", "nosuch")]
    cases += [("file", "yaml", None)]
    cases += [("string", "yamlex", t) for t in YAMLEX]
    rows, seen = [], set()
    for kind, default, text in cases:
        if (kind, default, text) in seen:
            continue
        seen.add((kind, default, text))
        path = ":string:"
        if kind == "file":
            path = os.path.join(work, "t.sls")
            if text is None:
                os.unlink(path)
            else:
                with open(path, "w", encoding="utf-8", newline="") as f:
                    f.write(text)
        Keep.lines.clear()
        try:
            out = salt.template.compile_template(path, renderers, default, [], [], input_data="" if text is None else text)
            result = show(out.read() if hasattr(out, "read") else out)
        except RecursionError:
            result = "error RecursionError"
        except Exception as exc:  # pylint: disable=broad-except
            result = f"error {type(exc).__name__}: {exc}"
        rows.append(json.dumps([kind, default, text, result, [line.replace(work, "DIR") for line in Keep.lines]]))
    print("[\n" + ",\n".join(rows) + "\n]")


main()
