"""Writes options.json: which options Salt's get_returner_options finds for a returner.

Run with the Python of a Salt 3008 installation: python options.py > options.json
"""

import itertools
import json
import logging

import salt.config
import salt.loader
import salt.returners

logging.disable(logging.CRITICAL)

CONFS = [
    {},
    {"r.host": "plain"},
    {"r": {"host": "inmap"}},
    {"r": {"host": "inmap"}, "r.host": "plain"},
    {"r": {"host": ""}, "r.host": "plain"},
    {"r": {"host": None}, "r.host": "plain"},
    {"r": {"port": 1}, "r.host": "plain", "r.port": 2},
    {"r.port": 0, "r.host": False},
    {"alt.r.host": "other", "r.host": "plain"},
    {"alt.r": {"host": "othermap"}, "r.host": "plain", "alt.r.host": "other"},
    {"alt.r": {"host": ""}, "r": {"host": "inmap"}},
    {"alt.r": {"port": 0}, "r.port": 7},
    {"alt.r.port": 9, "r.port": 7},
    {"r": "text"},
    {"r": ["list"]},
    {"r.host": "", "r.port": ""},
    {"redis.host": "unrelated"},
    {"r.host": ["a", "b"], "r.port": {"deep": [1]}},
]
RETS = [
    None,
    {},
    {"ret_config": "alt"},
    {"ret_config": ""},
    {"ret_config": "missing"},
    {"ret_kwargs": {"host": "kwarg", "extra": 5}},
    {"ret_config": "alt", "ret_kwargs": {"host": ""}},
    {"ret_config": 5},
]
DEFAULTS = [None, {"host": "default", "port": 5432}]


def main():
    base = salt.config.minion_config("/nonexistent")
    base.update({"file_client": "local", "id": "web1", "grains": {}, "pillar": {}})
    rows = []
    for conf, ret, defaults in itertools.product(CONFS, RETS, DEFAULTS):
        opts = {**base, **conf}
        functions = salt.loader.minion_mods(opts) if not rows or rows[-1]["conf"] != conf else functions
        row = {"conf": conf, "ret": ret, "defaults": defaults}
        try:
            row["got"] = salt.returners.get_returner_options(
                "r", ret, {"host": "host", "port": "port"}, __salt__=functions, __opts__=opts, defaults=defaults
            )
        except Exception as exc:  # what such a call raises does not matter, that it does
            row["error"] = type(exc).__name__
        rows.append(row)
    print("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]")


main()
