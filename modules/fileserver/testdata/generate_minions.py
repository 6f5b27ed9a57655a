"""Writes minions3008.json: what Salt's file server answers about files that minions have pushed, beside those of its roots.

Run with the Python of a Salt 3008 installation: python generate_minions.py > minions3008.json
The form is that of generate.py: "$R" is the directory that the tree lies in, $R/cache the cache of the master.
"""

import base64
import json
import logging
import os
import shutil
import sys
import tempfile

import salt.config
import salt.fileserver

logging.disable(logging.CRITICAL)
R = os.path.realpath(tempfile.mkdtemp())

TREE = [
    ["file", "base/top.sls", "base: {}\n"], ["file", "base/web1/etc/motd", "of the roots"], ["file", "base/own", "own"],
    ["file", "cache/minions/web1/files/etc/motd", "of web1"], ["file", "cache/minions/web1/files/etc/app/conf", "conf of web1"],
    ["file", "cache/minions/web1/files/top.sls", "bad"], ["file", "cache/minions/web1/files/srv/top.sls", "bad"],
    ["file", "cache/minions/web1/files/backup~", "old"], ["file", "cache/minions/web1/files/two words?x=1", "odd"],
    ["file", "cache/minions/web1/data.p", "grains"], ["file", "cache/minions/web2/files/etc/motd", "of web2"], ["dir", "cache/minions/web2/files/empty/inner"],
    ["file", "cache/minions/db1/files/var/dump", "d" * 25], ["dir", "cache/minions/silent"], ["file", "cache/minions/files/files/f", "f"],
    ["file", "cache/minions/files/data.p", "grains"], ["link", "cache/minions/db1/files/link", "var/dump"], ["link", "cache/minions/db1/files/dirlink", "var"],
    ["file", "cache/minions/db.2/files/x", "x"], ["file", "cache/minions/plain", "no minion"],
]
for kind, name, *rest in TREE:
    path = os.path.join(R, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if kind == "dir":
        os.makedirs(path, exist_ok=True)
    elif kind == "file":
        with open(path, "w", encoding="utf-8") as f:
            f.write(rest[0])
        os.chmod(path, 0o644)
    else:
        os.symlink(rest[0], path)

COMMON = {"file_roots": {"base": ["$R/base"], "dev": []}, "file_recv": True, "cachedir": "$R/cache", "fileserver_list_cache_time": 20}
CONFIGS = [
    {"fileserver_backend": ["minionfs"]},
    {"fileserver_backend": ["roots", "minionfs"]},
    {"fileserver_backend": ["minionfs", "roots"]},
    {"fileserver_backend": ["roots", "minionfs"], "file_recv": False},
    {"fileserver_backend": ["roots", "minionfs"], "minionfs_env": "pushed"},
    {"fileserver_backend": ["roots", "minionfs"], "minionfs_mountpoint": "salt://from"},
    {"fileserver_backend": ["minionfs"], "minionfs_mountpoint": "a/b", "file_buffer_size": 10, "hash_type": "md5"},
    {"fileserver_backend": ["minionfs"], "minionfs_whitelist": ["web*"]},
    {"fileserver_backend": ["minionfs"], "minionfs_whitelist": ["db\\d", "web1"]},
    {"fileserver_backend": ["minionfs"], "minionfs_blacklist": ["web1", "d.*"]},
    {"fileserver_backend": ["minionfs"], "minionfs_whitelist": ["web*", "[", "("], "minionfs_blacklist": ["*2"]},
    {"fileserver_backend": ["minionfs"], "file_ignore_glob": ["*~", "*/app/*"], "file_ignore_regex": ["^db1/var"]},
]
BELOW = ["web1/etc/motd", "web1/etc/app/conf", "web1/etc", "web1", "web1/", "web1/top.sls", "web1/srv/top.sls", "web1/backup~", "web1/two words?x=1", "|web1/two words?x=1", "web2/etc/motd",
         "db1/var/dump", "db1/link", "db1/dirlink/dump", "db.2/x", "silent/x", "nobody/x", "plain", "plain/x", "./data.p", "files/f", "web1/./etc/motd",
         "web1/etc/motd/", "../data.p", "web1/../data.p", "web1/etc/motd?saltenv=pushed"]
PREFIXES = ["web1", "web1/", "web1/etc", "web1/et", "web1/etc/", "web1/etc/app", "web1/etc/motd", "db1", "db1/var", "nobody/x", "silent/x", "web2/empty"]


def loads(config):
    mount = config.get("minionfs_mountpoint", "").replace("salt://", "")
    names = BELOW + [mount + "/" + name for name in BELOW] * bool(mount) + ["top.sls", "own", "/etc/passwd", "/web1/etc/motd"]
    for env in ("base", "dev", "pushed", "nope"):
        for cmd in ("file_list", "file_list_emptydirs", "dir_list"):
            yield cmd, {"saltenv": env}
    for env in ("base", "pushed"):
        for prefix in PREFIXES + [mount + "/" + p for p in PREFIXES] * bool(mount) + ["own", "from", "a", "a/b"]:
            yield "file_list", {"saltenv": env, "prefix": prefix}
            yield "dir_list", {"saltenv": env, "prefix": prefix}
        for back in ("minionfs", "roots", ["minionfs"], "-minionfs", "-roots", "roots,minionfs"):
            yield "file_list", {"saltenv": env, "fsbackend": back}
        for name in names:
            yield "file_find", {"path": name, "saltenv": env}
            yield "file_hash", {"path": name, "saltenv": env}
            for loc in (0, 20):
                yield "serve_file", {"path": name, "saltenv": env, "loc": loc}
    yield "file_envs", {}
    yield "file_envs", {"sources": True}
    yield "file_envs", {"back": "minionfs"}


def shown(value):
    """The answer as JSON can hold it; of a stat what a test can know."""
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, str):
        return value.replace(R, "$R")
    if isinstance(value, dict):
        return {k: [v[0], v[6]] if k == "stat" else {"base64": base64.b64encode(v.encode()).decode()} if k == "data" and isinstance(v, str) and v else shown(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown(x) for x in value]
    return value


out = {"tree": TREE, "configs": []}
for own in CONFIGS:
    config = {**COMMON, **own}
    opts = salt.config.master_config(None)
    opts.update(__role="master")
    opts.update(json.loads(json.dumps(config).replace("$R", R)))
    backends = list(opts["fileserver_backend"])
    answers = []
    for cmd, load in loads(config):
        asked = json.loads(json.dumps(load))
        opts["fileserver_backend"] = list(backends)  # "-roots" takes it out for good
        server = salt.fileserver.Fileserver(opts)
        try:
            answer = shown(getattr(server, cmd)(dict(load)))
        except Exception as err:  # pylint: disable=broad-except
            answer = {"raised": type(err).__name__}
        if cmd == "file_envs" and isinstance(answer, list):
            answer.sort()
        answers.append([cmd, asked, answer])
    out["configs"].append({"opts": config, "answers": answers})
    for kept in ("file_lists", "roots", "minionfs"):
        shutil.rmtree(os.path.join(R, "cache", kept), ignore_errors=True)
print('{"tree": ' + json.dumps(out["tree"]) + ',\n"configs": [')
print(",\n".join('{"opts": ' + json.dumps(c["opts"]) + ',\n"answers": [\n' + ",\n".join(map(json.dumps, c["answers"])) + "\n]}" for c in out["configs"]))
print("]}")
shutil.rmtree(R)
