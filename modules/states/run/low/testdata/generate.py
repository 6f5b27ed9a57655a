"""Writes salt3008.json: what Salt's Compiler makes of high data.

Run with the Python of a Salt 3008 installation: python generate.py > salt3008.json
Salt keeps some of its nodes in sets, so that it finds one circle or another; such rows say "circle" in place of a text.
"""

import copy
import json
import logging
import os
import random
import subprocess
import sys

import salt.config
import salt.state

logging.disable(logging.CRITICAL)
rng = random.Random(3008)
S = {"__sls__": "web", "__env__": "base"}


def b(**body):
    """A body with what render_highstate adds."""
    return {**{k.replace("__DOT__", "."): v for k, v in body.items()}, **S}


FIXED = [
    {"a": "test.nop"}, {"a": "test"}, {"a": "test.x.y"}, {"a": {"test.nop": []}}, {"a": {"test.nop": [{"name": "n"}]}}, {"a": {"test": ["nop"]}}, {"a": {"test": "nop"}}, {"a": b(test="nop")},
    {"a": b(test=None)}, {"a": b(test=[])}, {"a": b(test=["nop", "other"])}, {"a": {"test.nop": ["other"], **S}}, {"a": {"test.nop": [], "test.fail": [], **S}}, {"a": {"test.nop": [], "file.managed": [{"source": "x"}], **S}},
    {"a": b(test=["nop thing"])}, {"a": b(test=["nop", {"names": "x"}])}, {"a": b(test=["nop", {"require": "x"}])}, {"a": b(test=["nop", {"require": ["b"]}]), "b": b(test=["nop"])},
    {"a": b(test=["nop", {"require": [{"test": "b"}]}]), "b": b(test=["nop"])}, {"a": b(test=["nop", {"require": [{"test.nop": "b"}]}]), "b": b(test=["nop"])}, {"a": b(test=["nop", {"require": [{"test": ["b"]}]}])},
    {"a": b(test=["nop", {"require": [{"test": "b", "file": "c"}]}])}, {"a": b(test=["nop", {"require": [5]}])}, {"a": b(test=["nop", {"require": [{"test": "gone"}]}])}, {"a": b(test=["nop", {"require": [{"test": 5}]}])},
    {"a": b(test=["nop", {"require": [{"test": None}]}])}, {"a": b(test=["nop", {"require": [{"test": "b"}], "watch": []}])}, {"a": b(test=["nop", {"watch": [{"sls": "web"}]}])}, {"a": b(test=["nop", {"watch": [{"sls": "other"}]}])},
    {"a": b(test=["nop", {"watch": [{"sls": "oth*"}]}])}, {"a": b(test=["nop", {"require": [{"test": "b*"}]}]), "b1": b(test=["nop"]), "b2": b(test=["nop"])}, {"a": b(test=["nop", {"require": [{"id": "b"}]}]), "b": b(file=["managed"])},
    {"a": b(test=["nop", {"require": [{"test": "b"}]}]), "b": b(test=["nop", {"require": [{"test": "a"}]}])}, {"a": b(test=["nop", {"prereq": [{"test": "b"}]}]), "b": b(test=["nop"])},
    {"a": b(test=["nop", {"prereq": [{"test": "b"}]}]), "b": b(test=["nop", {"prereq": [{"test": "c"}]}]), "c": b(test=["nop"])}, {"a": b(test=["nop", {"prereq": [{"test": "b"}]}]), "b": b(test=["nop", {"require": [{"test": "a"}]}])},
    {"z": b(test=["nop"]), "y": b(test=["nop"]), "x": b(test=["nop", {"order": 1}])}, {"a": b(test=["nop", {"order": "last"}]), "b": b(test=["nop"]), "c": b(test=["nop", {"order": "first"}])},
    {"a": b(test=["nop", {"order": -1}]), "b": b(test=["nop", {"order": -2}]), "c": b(test=["nop", {"order": 50}]), "d": b(test=["nop"])}, {"a": b(test=["nop", {"order": "odd"}]), "b": b(test=["nop", {"order": 1.5}])},
    {"a": b(test=["nop", {"names": ["z", "y", "x"]}])}, {"a": b(test=["nop", {"names": ["z", {"y": [{"k": 1}, {"name": "over"}]}, "z"]}])}, {"a": b(test=["nop", {"names": ["z"], "k": 1}])}, {"a": b(test=["nop", {"names": ["z", "y"]}, {"order": 3}])},
    {"a": b(test=["nop", {"name": "other"}]), "b": b(test=["nop", {"name": "other"}])}, {"a": b(test=["nop", {"name": 5}])}, {"a": b(test=["nop"], file=["managed"], cmd=["run"])}, {"__exclude__": [], "a": b(test=["nop"])},
    {"a": b(test=["nop", {"order": 7}, {"require": [{"test": "b"}]}]), "b": b(test=["nop"])}, {"a": "no dot", "b": b(test=["nop"])}, {"a": ["list"]}, {"a": 5}, [], "text", None, {}, {"a": {**S}}, {"a": b(__x=5, test=["nop"])},
    {"restart": {"local.state.apply": [{"tgt": "web1"}, {"arg": ["x"]}], **S}, "clean": {"runner.cache.clear_all": [{"args": [{"tgt": "*"}]}], **S}, "k": {"wheel.key.accept": [{"args": [{"match": "m"}]}], **S}, "c": {"caller.file.touch": [{"args": ["/tmp/x"]}], **S}},
    {"a": {"cmd.test.ping": [{"tgt": "*"}], **S}}, {"a": b(test=["nop", {"listen": [{"test": "b"}]}]), "b": b(test=["nop"])}, {"a": b(test=["nop", {"onchanges_any": ["b", "c"]}]), "b": b(test=["nop"]), "c": b(test=["nop"])},
]


def random_high():
    ids = [f"s{i}" for i in range(rng.randrange(2, 9))]
    rng.shuffle(ids)
    high = {}
    for id_ in ids:
        args = ["nop"]
        if rng.random() < 0.4:
            args.append({"order": rng.choice([1, 2, 5, 10, -1, -5, "first", "last", 2.5])})
        if rng.random() < 0.3:
            args.append({"name": rng.choice(ids + ["n"])})
        if rng.random() < 0.25:
            args.append({"names": rng.sample(["q", "p", "o", "n"], rng.randrange(1, 4))})
        if rng.random() < 0.5:
            kind = rng.choice(["require", "watch", "onchanges", "onfail", "prereq", "require_any", "watch_any", "onfail_any", "onfail_all", "onchanges_any"])
            later = ids[: ids.index(id_)] if rng.random() < 0.85 else ids
            if later:
                args.append({kind: [rng.choice([{"test": o}, {"id": o}, o]) for o in rng.sample(later, min(len(later), rng.randrange(1, 3)))]})
        rng.shuffle(args)
        high[id_] = {"test": args, "__sls__": rng.choice(["web", "db"]), "__env__": "base"}
    return high


def shown(high):
    asked = json.loads(json.dumps(high))
    compiler = salt.state.Compiler(opts, {})
    try:
        if isinstance(high, dict):
            high = compiler.pad_funcs(high)
        errors = compiler.verify_high(high)
        if errors:
            return [asked, {"verify": errors}]
        chunks, errors = compiler.compile_high_data(copy.deepcopy(high))
    except Exception as err:  # pylint: disable=broad-except
        return [asked, {"raised": f"{type(err).__name__}: {err}"}]
    return [asked, {"errors": errors, "chunks": [] if errors else chunks}]


opts = salt.config.master_config(None)
rows = [shown(copy.deepcopy(h)) for h in FIXED + [random_high() for _ in range(700)]]
if len(sys.argv) == 1:
    for seed in range(1, 8):
        again = json.loads(subprocess.run([sys.executable, __file__, "once"], env={**os.environ, "PYTHONHASHSEED": str(seed)}, stdout=subprocess.PIPE, check=True).stdout)
        for row, other in zip(rows, again):
            if json.loads(json.dumps(row[1])) != other[1]:
                row[1] = {"circle": True}
print("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]")
