"""Writes salt3008.json: calls of the module pillar and what Salt answers.

Run with the Python of a Salt 3008.3 installation: python generate.py > salt3008.json
A row is [function, arguments, keywords, options, called by a template?, answer as JSON, or "error CLASS: TEXT"].
"""

import json
import logging
import tempfile

import salt.config
import salt.loader
import salt.utils.secret

logging.disable(logging.CRITICAL)

PILLAR = {"a": "x", "n": 0, "i": 7, "f": 1.5, "t": True, "no": False, "none": None, "e": "", "l": ["p", 0, {"q": "r"}], "role": "web", "roles": ["db", "web"],
          "m": {"k": {"d": [1, 2], "s": "deep"}, "l": [1, 2]}, "b": b"raw".decode()}
UNSET = object()


def rows():
    for key in ("a", "n", "i", "f", "t", "no", "none", "e", "l", "m", "m:k", "m:k:s", "m:k:d:1", "l:q", "nosuch", "m:nosuch", "a:b", "l:9", ""):
        for more in ({}, {"unmask": True}, {"unmask": False}):
            yield "get", [key], more
        yield "item", [key], {}
        yield "keys", [key], {}
        yield "raw", [key], {}
    yield "get", ["nosuch", "def"], {}
    yield "get", ["nosuch", {"d": ["secret", 0]}], {}
    yield "get", ["nosuch"], {"default": None}
    for lists in (None, True, False):
        yield "get", ["m", {"l": [2, 3], "z": "own", "k": {"d": [9]}}], {"merge": True, "merge_nested_lists": lists, "unmask": True}
    yield "get", ["l", ["p", "own"]], {"merge": True, "unmask": True}
    yield "get", ["l", {"a": 1}], {"merge": True, "unmask": True}
    yield "get", ["m", [1]], {"merge": True, "unmask": True}
    yield "get", ["a", "text"], {"merge": True, "unmask": True}
    yield "get", ["nosuch", {"a": 1}], {"merge": True, "unmask": True}
    yield "get", ["nosuch", [1, 1]], {"merge": True, "unmask": True}
    yield "get", ["m|k|s"], {"delimiter": "|", "unmask": True}
    yield "fetch", ["m:k:s"], {"unmask": True}
    yield "item", ["a", "m:k:s", "nosuch"], {"unmask": True}
    yield "item", ["nosuch", "m|k"], {"default": "d", "delimiter": "|", "unmask": True}
    yield "item", [], {}
    yield "raw", [], {}
    yield "raw", [], {"unmask": False}
    yield "raw", ["m"], {"unmask": False}
    yield "filter_by", [{"web": "W", "db": "D", "default": "x"}, "role"], {}
    yield "filter_by", [{"web": "W", "db": "D", "default": "x"}, "roles"], {}
    yield "filter_by", [{"w*": {"a": 1}, "default": {"a": 2}, "base": {"z": 1}}, "role"], {"base": "base", "merge": {"m": 1}}
    yield "filter_by", [{"default": "x"}, "nosuch"], {}


def main():
    opts = salt.config.DEFAULT_MINION_OPTS.copy()
    root = tempfile.mkdtemp()
    opts.update(root_dir=root, cachedir=root, extension_modules=root + "/ext", file_client="local", id="m", grains={})
    out = []
    for more in ({}, {"pillar_raise_on_missing": True, "pillar_merge_lists": True}):
        functions = salt.loader.minion_mods(dict(opts, **more), pillar=PILLAR, whitelist=["pillar"])
        for fun, args, kwargs in rows():
            for template in (False, True):
                token = salt.utils.secret.mask_pillar.set(not template)
                try:
                    answer = json.dumps(functions["pillar." + fun](*args, **kwargs))
                except Exception as exc:  # pylint: disable=broad-except
                    answer = f"error {type(exc).__name__}: {exc}"
                salt.utils.secret.mask_pillar.reset(token)
                out.append(json.dumps(["pillar." + fun, args, kwargs, more, template, answer]))
    print(json.dumps(PILLAR).join(('{"pillar": ', ',\n"rows": [\n')) + ",\n".join(out) + "\n]}")


main()
