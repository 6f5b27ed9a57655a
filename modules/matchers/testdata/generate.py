"""Writes corpus.json: what Salt's own matchers answer.

Run with the Python of a Salt 3008 installation: python generate.py [seed [factor]] > corpus.json
"""
import atexit
import base64
import json
import logging
import os
import random
import sys
import shutil
import tempfile
import warnings

import msgpack
import salt.config
import salt.loader
import salt.utils.data
import salt.utils.minions

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 3008
FACTOR = int(sys.argv[2]) if len(sys.argv) > 2 else 1
rng = random.Random(SEED)


def pack(value):
    return base64.b64encode(msgpack.packb(value, use_bin_type=True)).decode()


GRAINS = {
    "os": "Debian", "os_family": "Debian", "num_cpus": 4, "mem": 1.5, "virtual": True, "none": None, "roles": ["web", "DB", 3], "empty": {}, "elist": [], "saltpath": "/a:b/c",
    "ip4": {"eth0": ["10.0.0.1"], "lo": []}, "nest": {"k1": "v1", "K2": {"deep": "Value", "list": [{"name": "x", "port": 80}, "y"]}, "a:b": "c"}, "a:b": "top", "dicts": [{"n1": "w1"}, {"n2": {"m": "q"}}, [1]],
    "5": "five", 6: "six", "version": [12, 4], "path": "x.y", "osé": "ÉTÉ", "k": "a\nb", "fqdn": "web1.example.com", "ipv4": ["127.0.0.1", "10.0.0.5"], "ipv6": ["::1", "fe80::1"], "big": {"x": {"y": {"z": "end"}}},
}


def subdicts():
    fixed = ["os:Debian", "os:deb*", "os:DEBIAN", "os", "nos:x", "roles:web", "roles:db", "roles:3", "num_cpus:4", "num_cpus:[0-9]", "mem:1.5", "virtual:True", "virtual:true", "none:None", "none:none", "none:*", "empty:*", "elist:*",
             "nest:k1:v1", "nest:k1", "nest:K*", "nest:k2", "nest:K2:deep:value", "nest:K2:*", "nest:*", "nest:*:deep", "*:v1", "*:k1", "*:K2", "*:web", "*:deep", "*:*", "*:os:Debian", "nest:K2:list:x", "nest:K2:list:name:x", "nest:K2:list:0:name:x", "nest:K2:list:1:y",
             "nest:K2:list:-1", "nest:K2:list:name", "nest:a:b:c", "a:b:top", "a:b", "saltpath:/a:b/c", "saltpath:/a:b*", "dicts:n1:w1", "dicts:n1", "dicts:w1", "dicts:n2:m:q", "dicts:n2:m", "dicts:0:n1:w1", "dicts:2:0:1", "5:five", "6:six", "version:12", "version:0:12",
             "version:[12, 4]", "path:x.y", "osé:été", "k:a", "k:a*", "k:a.b", "big:x:y:z:end", "big:x:y:z:*", "big:*:z:end", "big:x:*:end", "*:z", "*:end", "big:*:end", "::", ":", "", "os:", ":x", "ip4:eth0:10.0.0.1", "ip4:eth0:*", "ip4:*:10.0.0.1", "ip4:lo:*", "os:De.*", "os:De[a-c]+n", "os:(", "roles:w.b$", "num_cpus:\\d", "num_cpus:\\D", "os:\\Webian", "nest:k.", "os|Debian", "big|x|y|z|end", "nest:K2:list:port:80"]
    keys = ["os", "nest", "k1", "K2", "deep", "list", "0", "*", "big", "x", "y", "z", "end", "dicts", "n1", "roles", "web", "*1", "d*", "[a-z]*", "name"]
    for _ in range(600 * FACTOR):
        fixed.append(":".join(rng.choice(keys) for _ in range(rng.randrange(1, 6))))
    for expr in fixed:
        for delimiter in (":", "|") if "|" in expr else (":",):
            for mode, kw in (("glob", {}), ("regexp", {"regex_match": True}), ("exact", {"exact_match": True})):
                yield [expr, delimiter, mode, bool(salt.utils.data.subdict_match(GRAINS, expr, delimiter=delimiter, **kw))]


PILLAR = {"role": "web", "app": {"port": 8080, "name": "shop"}}
NODEGROUPS = {"webs": "L@web1,web2", "dbs": "E@db.*", "plain": "web1 db1", "regex": "web[12] x", "words": ["web1", "or", "G@os:Debian"], "nested": "N@webs and not N@dbs", "two": "web1 or db1", "deep": ["N@nested", "or", "db2"],
              "loop": "N@loop2 or web1", "loop2": "N@loop", "bad": "N@nosuch", "odd": 5, "empty": "", "star": "web*", "mixed": "N@plain or db2", "listed": ["web1", "web2"]}


def nodegroups():
    for name in list(NODEGROUPS) + ["nosuch"]:
        ret = salt.utils.minions.nodegroup_comp(name, NODEGROUPS)
        yield [name, list(ret) if ret else []]


ATOMS = ["web1", "web*", "db?", "*", "nosuch", "G@os:Debian", "G@os:RedHat", "G@roles:web", "P@os:(Deb|Red).*", "P@os:(", "I@role:web", "I@app:port:8080", "J@role:w.b", "L@web1,db1", "L@web1,gone", "L@gone", "E@web[12]", "S@10.0.0.5", "S@10.0.0.0/8",
         "S@10.0.0.1/8", "S@fe80::/10", "S@::1", "N@webs", "N@dbs", "N@nested", "N@plain", "N@two", "N@nosuch", "N@loop", "N@words", "G|@os|Debian", "G@@os@Debian", "I|@app|name|shop", "G@", "X@foo", "L@", "G@os", "M@web1", "S@bad", "E@", "a@b"]


def expressions():
    fixed = ["", "and", "not", "web1 and", "or web1", "not not web1", "( web1", "web1 )", "( web1 ) )", "( and web1 )", "( )", "not ( )", "web1 web2", "web1 not web2", "web1 and not web2", "not web1 and web2", "not web1 or web2", "web1 or db1 and not db1", "( web1 or db1 ) and not db1",
             "not ( web1 or db1 )", "not ( web1 and ( db1 or not web2 ) )", "( ( web1 )", "not ( web1", "web1 and ( not db1 )", "web1 or not db1", "web1 and or db1", "not and web1", "web1 ( db1 )", "( web1 ) ( db1 )", "* and not L@web1,gone", "L@web1,gone and not L@other", "N@two and not web1", "not N@two", "not N@nested",
             "web1 and N@two", "S@bad", "web1 or S@bad", "web1 or P@os:(", "web1 or X@foo", "R@foo", "web1 or R@foo", "T@x", "web1 or T@dummy"]
    opers = ["and", "or", "not", "and not", "or not", "( ", " )", "and (", "or (", ""]
    for _ in range(250 * FACTOR):
        words = []
        for _ in range(rng.randrange(1, 5)):
            words += [rng.choice(ATOMS), rng.choice(opers)]
        if rng.random() < 0.7 and words:
            words.pop()
        if rng.random() < 0.3:
            words.insert(0, rng.choice(["not", "(", "not ("]))
        fixed.append(" ".join(words))
    return fixed


def minion_opts():
    opts = salt.config.DEFAULT_MINION_OPTS.copy()
    root = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    opts.update({"id": "web1", "grains": dict(GRAINS), "pillar": PILLAR, "nodegroups": NODEGROUPS, "root_dir": root, "cachedir": root, "extension_modules": root, "optimization_order": [0, 1, 2], "resources": {}})
    return opts


def minion_cases():
    opts = minion_opts()
    matchers = salt.loader.matchers(opts)
    cases = [["glob", t] for t in ("web1", "web*", "WEB1", "db*", "*", "", ["web1"], "web1,db1")]
    cases += [["pcre", t] for t in ("web", "^web1$", "eb1", "db", ".*", "")]
    cases += [["list", t] for t in ("web1", "web1,db1", "db1,web1", "a,web1,b", "web10,db1", ["web1", "db1"], ["db1"], "", "web1,", ",web1", [], "xweb1,web1x")]
    for kind in ("grain", "grain_pcre", "pillar", "pillar_pcre", "pillar_exact"):
        cases += [[kind, t] for t in ("os:Debian", "os:deb*", "os:De.*", "os", "role:web", "role:w*", "role:w.b", "app:port:8080", "app:name", "app", "")]
    cases += [["ipcidr", t] for t in ("10.0.0.5", "10.0.0.6", "10.0.0.0/8", "10.0.0.0/255.0.0.0", "10.0.0.0/0.255.255.255", "10.0.0.1/8", "192.168.0.0/16", "::1", "fe80::/10", "fe80::1/10", "0.0.0.0/0", "::/0", "10.0.0.5/32", "010.0.0.5", "10.0.0", "x", "", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/255.0.255.0", "FE80::1", "fe80:0::1")]
    cases += [["compound", t] for t in expressions()]
    cases += [["compound", t] for t in (["web1", "or", "db1"], ["not", "web1"], [], 5, None)]
    cases += [["managing_minion", "web1"], ["managing_minion", "web*"], ["resource", "x"]]
    for kind, tgt in cases:
        try:
            ret = bool(matchers[kind + "_match.match"](tgt, opts=opts))
        except Exception:  # the minion drops such a job
            ret = False
        yield [kind, tgt, ret]


IDS = {"web1": ("Debian", "10.0.0.5", "web"), "web2": ("Debian", "10.0.1.6", "web"), "db1": ("RedHat", "192.168.1.1", "db"), "db2": ("Debian", "fe80::7", "db"), "Zed": None, "cold": ("RedHat", "10.9.9.9", None)}


def master_cases():
    opts = salt.config.DEFAULT_MASTER_OPTS.copy()
    root = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    opts.update({"root_dir": root, "pki_dir": root + "/pki", "cachedir": root + "/cache", "extension_modules": root, "nodegroups": NODEGROUPS, "id": "m_master", "__role": "master", "sock_dir": root, "cluster_id": None, "optimization_order": [0, 1, 2], "user": None, "transport": "zeromq"})
    for d in ("minions", "minions_pre", "minions_rejected", "minions_denied"):
        os.makedirs(root + "/pki/" + d)
    for id_ in IDS:
        with open(root + "/pki/minions/" + id_, "w") as fh:
            fh.write("key")
    with open(root + "/pki/minions_pre/pend", "w") as fh:
        fh.write("key")
    data = {}
    ck = salt.utils.minions.CkMinions(opts)
    for id_, known in list(IDS.items()) + [("ghost", ("Debian", "10.0.0.9", "web"))]:
        if known is None:
            continue
        os_, ip, role = known
        grains = {"os": os_, "roles": [role], "ipv6" if ":" in ip else "ipv4": [ip, "127.0.0.1"] if ":" not in ip else [ip]}
        pillar = {"role": role, "app": {"port": 8080, "name": "shop"}} if role else None
        ck.cache.store("grains", id_, grains)
        if pillar:
            ck.cache.store("pillar", id_, pillar)
        data[id_] = [grains, pillar]
    cases = [["glob", t] for t in ("*", "web*", "WEB*", "web1", "nosuch", "", "[wd]*", "pend", "Z*")]
    cases += [["pcre", t] for t in ("web", "^db\\d$", "eb1", ".*", "(", "")]
    cases += [["list", t] for t in ("web1,db1", "db1,web1", "web1,gone", "gone,pend", "", ["web2", "x", "web1"], ",web1,,")]
    for kind in ("grain", "grain_pcre", "pillar", "pillar_pcre", "pillar_exact"):
        cases += [[kind, t] for t in ("os:Debian", "os:deb*", "os:De.*", "os", "role:web", "role:w*", "role:w.b", "role:db", "app:port:8080", "roles:web", "*:web", "")]
    cases += [["ipcidr", t] for t in ("10.0.0.5", "10.0.0.0/8", "10.0.0.0/16", "fe80::/10", "fe80::7", "192.168.0.0/16", "127.0.0.1", "bad", "10.0.0.1/8")]
    cases += [["nodegroup", t] for t in NODEGROUPS if t != "odd"] + [["nosuchtype", "x"], ["range", "x"]]
    skip = ("R@", "T@", "S@bad", "S@10.0.0.1/8")  # told apart on purpose: see the test
    for expr in expressions():
        if not any(s in expr for s in skip):
            cases += [["compound", expr], ["compound_pillar_exact", expr]]
    for kind, tgt in cases:
        for greedy in (True, False):
            ret = ck.check_minions(tgt, kind, greedy=greedy)
            minions = ret["minions"]
            yield [kind, tgt, greedy, minions if kind == "list" else sorted(minions), ret["missing"]]
    return data


def main():
    master = master_cases()
    rows = []
    while True:
        try:
            rows.append(next(master))
        except StopIteration as stop:
            data = stop.value
            break
    json.dump({
        "about": "Made by generate.py with Salt 3008.3. grains, pillar, cached: msgpack, base64",
        "grains": pack(GRAINS), "pillar": pack(PILLAR), "nodegroup_defs": pack(NODEGROUPS),
        "subdicts": list(subdicts()), "nodegroups": list(nodegroups()), "minion": list(minion_cases()), "ids": list(IDS), "cached": pack(data), "master": rows,
    }, sys.stdout, indent=None, separators=(",", ":"), ensure_ascii=True)


main()
