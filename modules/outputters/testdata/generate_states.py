"""Writes states.json: state returns, options and what Salt's own highstate outputter prints for them.

Run with the Python of a Salt 3008 installation: python generate_states.py > states.json
"""
import base64
import copy
import json
import random
import sys

import msgpack
import salt.config
import salt.output


def state(rng, run):
    name = rng.choice(["same", "other name", "n%d" % run])
    sid = rng.choice(["same", "id %d" % run])
    key = "_|-".join([rng.choice(["test", "file", "salt", "module_with_long_name"]), sid, name, rng.choice(["nop", "managed", "state"])])
    ret = {
        "result": rng.choice([True, True, True, False, None]),
        "comment": rng.choice(["Success!", "", " spaced \n two lines\nthree ", "ünï", ["a", "b"], 5, "x\x1by"]),
        "changes": rng.choice([{}, {}, {"testing": {"new": "x", "old": None}}, {"diff": "a\nb\n"}, "odd", [1, 2], None,
                               {"ret": {"web1": True, "web2": "text\nlines"}, "out": "highstate"},
                               {"ret": {"web1": {"test_|-a_|-a_|-nop": {"result": True, "comment": "in", "changes": {"k": 1}, "__run_num__": 0, "start_time": "1", "duration": 3}}}, "out": "highstate"},
                               {"ret": {"web1": ["Rendering SLS failed"]}, "out": "highstate"}]),
        "name": name, "__id__": sid, "__sls__": rng.choice(["ok", "a.b"]), "__run_num__": run,
    }
    if rng.random() < 0.9:
        ret["start_time"] = "10:56:%02d.123456" % run
        ret["duration"] = rng.choice([0.512, 12.3456, 1500.0, 3, "0.5 ms", "7"])
    if rng.random() < 0.15:
        ret["warnings"] = rng.choice([["careful now"], "careful", ["a long warning " * 12, "second-line with-hyphens and\ttabs"], ["word" * 40 + " re-use of well-known-things " * 5]])
    if rng.random() < 0.1:
        ret["__parallel__"] = True
    if rng.random() < 0.1:
        ret["data"] = rng.choice([["x", 1], {"k": "v", "n": None}, "tail"])
    if rng.random() < 0.04:
        del ret["__run_num__"]
    return key, ret


def tidy(key, ret):
    """What state_compress_ids does not stumble over."""
    ret["changes"] = ret["changes"] if isinstance(ret["changes"], dict) else {}
    ret.update(start_time=ret.get("start_time", "10:56:00"), duration=2.25, __run_num__=ret.get("__run_num__", 0))
    return key, ret


def values(seed, count):
    yield "compile error", {"web1": ["No matching sls found for 'zzz' in env 'base'", "second\x1b[0m"]}
    yield "text", {"web1": "No Top file\nfound", "web2": "x"}
    yield "numbers", {"web1": 3, "web2": True, "web3": None}
    yield "empty states", {"web1": {}}
    yield "no states", {}
    yield "bare text", "just text"
    yield "bare number", 7
    yield "none", None
    yield "list", ["a"]
    yield "wrapped", {"return": {"web1": {"test_|-a_|-a_|-nop": {"result": True, "comment": "", "changes": {}, "__run_num__": 0}}}}
    yield "orchestration", {"data": {"host_master": {"salt_|-a_|-a_|-state": {"result": True, "comment": "", "changes": {}, "__run_num__": 0}}, "retcode": 0}, "outputter": "highstate", "retcode": 0}
    yield "inner orchestration", {"host_master": {"salt_|-a_|-state.orch_|-runner": {"result": True, "comment": "c", "name": "state.orch", "__run_num__": 0,
                                  "changes": {"return": {"data": {"h_master": {"test_|-b_|-b_|-nop": {"result": False, "comment": "no", "changes": {}, "__run_num__": 0, "name": "b"}}}}}}}}
    yield "job", {"web1": {"jid": "1", "fun": "state.apply", "return": {"data": {"web1": {"test_|-a_|-a_|-nop": {"result": None, "comment": "", "changes": {}, "__run_num__": 0}}}}}}
    yield "missing comment", {"web1": {"test_|-a_|-a_|-nop": {"result": True, "changes": {}, "__run_num__": 0}}}
    yield "missing changes", {"web1": {"test_|-a_|-a_|-nop": {"result": True, "comment": "", "__run_num__": 0}}}
    yield "not states", {"web1": {"a": 1, "b": {"c": 2}}}
    rng = random.Random(seed)
    for i in range(count):
        host = rng.choice(["web1", "wéb\x1b2"])
        yield "run %d" % i, {host: dict(state(rng, n) for n in range(rng.choice([1, 3, 5, 12])))}
        yield "tidy run %d" % i, {host: dict(tidy(*state(rng, n)) for n in range(rng.choice([3, 12])))}
    same = {"test_|-multi_|-%s_|-nop" % n: {"result": n != "c", "comment": n, "changes": {"v": n} if n != "b" else {}, "name": n, "__id__": "multi",
            "__sls__": "ok", "__run_num__": i, "start_time": "10:0%d" % (9 - i), "duration": 1.5 * i} for i, n in enumerate("abcd")}
    same["test_|-single_|-single_|-nop"] = dict(same["test_|-multi_|-a_|-nop"], __id__="single", name="single", __run_num__=9)
    yield "compressible", {"web1": same}


OPTIONS = [{}, {"color": True}, {"state_output": "terse"}, {"state_output": "mixed", "color": True}, {"state_output": "changes"}, {"state_output": "full_id"},
           {"state_output": "terse_id"}, {"state_verbose": False}, {"state_output_diff": True}, {"state_output_profile": False}, {"state_output_pct": True, "color": True},
           {"state_output": "terse", "state_tabular": True}, {"state_output": "filter", "state_output_exclude": ["True"], "state_output_terse": "False,None"},
           {"state_output": "filter", "arg": [{"__kwarg__": True, "exclude": "True,"}]}, {"state_compress_ids": True}, {"state_compress_ids": True, "state_output": "terse_id"},
           {"strip_colors": False}]


def main(seed=3008, count=3):
    base = salt.config.DEFAULT_MASTER_OPTS.copy()
    base.pop("color", None)
    base.update({"transport": "zeromq", "extension_modules": "", "no_color": True})
    base.pop("output_indent", None)
    cases, packed = {}, {}
    for name, value in values(seed, count):
        packed[name] = base64.b64encode(msgpack.packb(value, use_bin_type=True)).decode()
        for options in OPTIONS:
            if "state_compress_ids" in options and name.startswith("run"):
                continue
            opts = dict(base, **options)
            if options.get("color"):
                opts.update({"no_color": False, "force_color": True})
            text = salt.output.out_format(copy.deepcopy(value), "highstate", opts)
            cases.setdefault(name, []).append(["highstate", options, 0, text])
    json.dump({"about": "Made by generate_states.py with Salt 3008.3; form as corpus.json", "values": packed, "cases": cases},
              sys.stdout, indent=0, sort_keys=True, ensure_ascii=True)


main(*map(int, sys.argv[1:]))
