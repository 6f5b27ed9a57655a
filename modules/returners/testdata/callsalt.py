"""Calls returners of an installed Salt: the judge of brine's.

    python callsalt.py LIBRARIES ROOT < CALLS

LIBRARIES is a folder with the client libraries that Salt's returners want (.ci/store-peers), ROOT a scratch folder. Each
line of CALLS is JSON: {"opts": {...}, "fun": "redis.returner", "args": [...]}; each gets a line back, {"value": ...} or
{"error": "..."}. Calls with the same opts share what the returner keeps between calls.
"""

import json
import logging
import sys

LIBRARIES, ROOT = sys.argv[1:3]
sys.path.append(LIBRARIES)

import salt.config
import salt.loader

logging.disable(logging.CRITICAL)
LOADED = {}


def load(opts):
    """The returners that a minion with these options has."""
    key = json.dumps(opts, sort_keys=True)
    if key not in LOADED:
        conf = salt.config.minion_config(None, minion_id="web1")
        for name in ("root_dir", "cachedir", "pki_dir", "conf_file", "sock_dir", "extension_modules"):
            conf[name] = ROOT
        conf.update(opts)
        conf["grains"] = opts.get("grains", {"id": "web1"})
        conf["pillar"] = {}
        functions = salt.loader.minion_mods(conf)
        LOADED[key] = salt.loader.returners(conf, functions)
    return LOADED[key]


def main():
    out = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        call = json.loads(line)
        try:
            answer = {"value": load(call["opts"])[call["fun"]](*call.get("args", []), **call.get("kwargs", {}))}
            text = json.dumps(answer, ensure_ascii=False)
        except Exception as exc:  # pylint: disable=broad-except
            text = json.dumps({"error": f"{type(exc).__name__}: {exc}"}, ensure_ascii=False)
        out.write(text + "\n")
        out.flush()


main()
