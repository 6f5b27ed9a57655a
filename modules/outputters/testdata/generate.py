"""Writes corpus.json: values, options and what Salt's own outputters print for them.

Run with the Python of a Salt 3008 installation: python generate.py > corpus.json
"""
import base64
import json
import random
import sys

import msgpack
import salt.config
import salt.output


def values():
    yield "null", None
    yield "true", True
    yield "int", 42
    yield "big int", 2**63
    yield "negative", -7
    for f in (1.0, 0.1, 1e-6, 1e16, 1e15, 123456789012345.6, 1e300, float("inf"), float("-inf"), float("nan"), -0.0):
        yield "float %r" % f, {"web1": f}
    yield "text", "hello"
    yield "empty text", ""
    yield "empty map", {}
    yield "empty list", []
    yield "true return", {"minion": True}
    yield "mixed", {"web1": {"a": 1, "b": ["x", {"c": 2}], "f": None, "h": True, "j": ""}}
    yield "lists", {"web1": [["a", "b"], [["c"]], {"x": 1, "y": [1, 2]}, "d", None, [], {}]}
    yield "nested maps", {"web1": {"a": {"b": {"c": {}}}, "l": [], "e": ""}}
    yield "list", ["a", "b", 3, None]
    yield "list of maps", [{"pool": ["web1", "web2"], "result": "same"}, {"pool": [], "result": ""}]
    yield "lines", {"web1": "one\ntwo\n\nthree\n"}
    yield "odd line ends", {"web1": "a\r\nb\rc\x0bd\x0ce\x1cf\x85g\u2028h"}
    yield "blanks", {"web1": "  lead", "web2": "trail  ", "web3": " \n x \n"}
    yield "escapes", {"we\x1bb1": "a\x1b[31mred\x1b[0m\x07"}
    yield "quotes", {"web1": "it's", "web2": 'say "x"', "web3": "both ' and \"", "w4": "back\\slash\ttab\nnl\rcr\x01\x7f"}
    yield "unicode", {"wéb": "grün 日本語 \u00a0 \u200b 😀 \ufeff \ue000"}
    yield "bytes", {"web1": b"\xff\xfe\x00abc", "web2": b"plain"}
    yield "int keys", {3: "c", 1: "a", 2: {"x": 1}}
    yield "mixed keys", {"b": 1, 2: 2, None: 3, True: 4}
    yield "bool keys", {True: 1, False: 2}
    yield "sorting", {"b": 1, "a": 2, "B": 3, "_": 4, "é": 5, "10": 6, "9": 7}
    words = ["yes", "no", "on", "Off", "true", "null", "~", "None", "1", "1.5", "1e3", "1.0e+3", "0x10", "010", "0o17",
             "12:30", "1_000", "2026-01-02", "2026-01-02 03:04:05", "2026-1-2T3:04:05Z", "<<", "=", "!x", "&a", "*b", "- a", "-", "--- x",
             "...", "a: b", "a:b", ":a", "a #b", "a#b", "#c", "?", "? x", "?x", "[a", "{b", "a]", "a,b", ",", "%x", "@y", "`z", "|", ">", "'q", '"q',
             "y", "n", "Y", ".inf", ".nan", "+1", "-1", ".5", "5.", "+.5", "1e+3", "0b101", "0", "00", "08", "1:60", "-12:30:45.5", "",
             " ", " a", "a ", "a\n", "\na", "a\n b", "a \nb", "a\n\nb", "a\tb", "\t", "x" * 200, "word " * 40, ("word " * 30).strip(), "it's: 'x'",
             "a" * 70 + " " + "b" * 30 + "  " + "c" * 20, "line one\nline two " + "w" * 90 + " tail", "trailing:", "key: ", "\u2028x", "\x85", "😀", "日本 " * 60,
             "é" * 90 + " x y", "\x1b[0m", "\\", "C:\\x", "\"", "'", "a'b", "x\"y", "\x00", "-a", "--", "----", "a-b", "=x", "..", "....", "1.2.3", "1 2",
             "2026-13-45", "0x", "1,000", "[]", "{}", "null ", "~x", "yes ", "TRUE", "tRue", "Null", "NULL", "NO"]
    for i, w in enumerate(words):
        yield "word %d" % i, {"k": w, "l": [w]}
        yield "key word %d" % i, {w: 1}
        yield "bare word %d" % i, w
    yield "long key", {"k" * 130: {"a": 1}, "s" * 127: [1]}
    yield "long list", {"web1": ["item number %d" % i for i in range(12)]}
    yield "long map", {"web1": {"key number %d" % i: "value %d" % (i * 7) for i in range(9)}}
    yield "deep long", {"web1": {"a": {"b": ["x" * 30, "y" * 30, {"z" * 10: "w" * 60, "short": [1, 2, 3]}], "c": "text " * 30}}}
    yield "long bytes", {"web1": bytes(range(256))}
    yield "long text", "lorem ipsum dolor sit amet " * 8
    yield "long lines", {"web1": "first line that is quite long indeed, with words\nsecond " * 3}
    yield "table dicts", {"web1": [{"active": True, "last_move": 0.5, "mac": "aa:bb"}, {"active": False, "last_move": 10, "mac": "cc"}]}
    yield "table strings", {"web1": ["a", "bbb", "cc cc"]}
    yield "table lists", {"web1": {"rows": [["a", "b"], ["ccc", "dd dd"]]}}
    yield "table wrapped", {"web1": [{"t": "word " * 20, "u": "other " * 20}, {"t": "x", "u": "y"}]}
    yield "table wide", {"web1": [["w" * 60 + " tail", "short"], ["a b", "c"]]}
    yield "table ints", {"web1": [1, 2]}
    yield "table mixed", {"web1": [1, "a"]}
    yield "table short rows", {"web1": [["a", "b", "c"], ["d", "e"]]}
    yield "table odd keys", {"web1": [{"a_b": 1, "c-d e": 2}, {"a_b": 3}]}
    yield "table deep", {"web1": {"comment": "", "out": {"x": [{"mac addr": "1", "ip4x": None}]}, "n": 3}}
    yield "keys", {"minions": ["web2", "web1", "Web3"], "minions_pre": [], "minions_denied": ["e"], "minions_rejected": ["r\x1bx"], "local": ["master.pub"]}
    yield "key texts", {"minions": {"web1": "aa:bb", "db": "cc"}, "local": {"master.pem": "x"}}
    yield "key return", {"return": "aa:bb"}
    yield "no return", {"web1": "Minion did not return. [No response]\nThe minions may not\n\nsalt-run x"}
    yield "no return map", {"web1": {"a": "x", "b": 1}}
    rng = random.Random(3008)
    for i in range(40):
        yield "random %d" % i, {"web%d" % (i % 3): rand(rng, 4)}


ALPHABET = list("abc XYZ019_-:,.'\"\\\n\t#{}[]&*!|>%@`?=~é日😀\x1b\x7f\u2028\xa0")


def rand(rng, depth):
    kind = rng.randrange(9 if depth else 6)
    if kind == 0:
        return rng.choice([None, True, False])
    if kind == 1:
        return rng.randrange(-10**6, 10**6)
    if kind == 2:
        return rng.choice([rng.uniform(-1, 1), rng.uniform(-1, 1) * 10 ** rng.randrange(-20, 25)])
    if kind in (3, 4, 5):
        return "".join(rng.choice(ALPHABET) for _ in range(rng.choice([0, 1, 3, 8, 30, 90])))
    if kind == 6:
        return [rand(rng, depth - 1) for _ in range(rng.randrange(5))]
    return {"".join(rng.choice(ALPHABET) for _ in range(rng.choice([1, 2, 6, 20]))): rand(rng, depth - 1) for _ in range(rng.randrange(6))}


OPTIONS = [
    ("nested", {}), ("nested", {"color": True}), ("nested", {"color": True, "strip_colors": False}), ("nested", {"nested_indent": 4}),
    ("json", {}), ("json", {"output_indent": 2}), ("json", {"output_indent": 0}), ("json", {"output_indent": -1}), ("json", {"output_indent": None}), ("json", {"output_indent": "pretty"}),
    ("yaml", {}), ("yaml", {"output_indent": 4}), ("yaml", {"output_indent": 0}), ("yaml", {"output_indent": -1}), ("yaml", {"output_indent": None}),
    ("raw", {}), ("pprint", {}), ("pprint", {"output_indent": 4}), ("pprint", {"output_indent": 0}), ("txt", {}),
    ("table", {}), ("table", {"color": True}), ("table", {"out.table.justify": "left", "out.table.width": 20, "out.table.separate_rows": False}), ("table", {"out.table.has_header": False, "out.table.delim": "|", "out.table.row_delimiter": "="}), ("table", {"out.table.rows_key": "rows", "out.table.title": "T"}),
    ("key", {}), ("key", {"color": True}), ("no_return", {}), ("no_return", {"color": True}), ("highstate", {}),
]
FEW = {"nested", "json", "yaml", "raw", "pprint", "txt"}


def main():
    base = salt.config.DEFAULT_MASTER_OPTS.copy()
    base.pop("color", None)
    base.update({"transport": "zeromq", "extension_modules": "", "no_color": True})
    base["output_indent"] = 0
    del base["output_indent"]
    cases = []
    for name, value in values():
        small = name.startswith(("word", "key word", "bare word", "random"))
        for out, options in OPTIONS:
            if small and (out not in FEW or "color" in options or "nested_indent" in options):
                continue
            if name.startswith("bare word") and out in ("pprint", "raw", "nested"):
                continue
            if "word" in name and (out not in ("yaml", "json") or options not in ({}, {"output_indent": -1})):
                continue
            if out == "highstate" and not name.startswith(("true return", "text", "int", "null")):
                continue
            opts = dict(base, **options)
            if options.get("color"):
                opts.update({"no_color": False, "force_color": True})
            try:
                text = salt.output.out_format(value, out, opts)
            except UnicodeDecodeError:  # Salt dies of it
                continue
            cases.append({"name": name, "out": out, "opts": options, "text": text})
            if not small and out == "nested" and options.get("color"):
                text = salt.output.out_format(value, out, opts, _retcode=1)
                cases.append({"name": name, "out": out, "opts": options, "retcode": 1, "text": text})
    packed = {}
    for name, value in values():
        packed[name] = base64.b64encode(msgpack.packb(value, use_bin_type=True)).decode()
    grouped = {}
    for c in cases:
        row = [c["out"], c["opts"], c.get("retcode", 0), c["text"]]
        grouped.setdefault(c["name"], []).append(row)
    json.dump({"about": "Made by generate.py with Salt 3008.3: for each named value (msgpack, base64) rows of outputter, options, retcode, text (null: nothing)",
               "values": packed, "cases": grouped}, sys.stdout, indent=0, sort_keys=True, ensure_ascii=True)


main()
