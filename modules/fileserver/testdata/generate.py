"""Writes salt3008.json: what Salt's file server answers about a tree of files, under several configurations.

Run with the Python of a Salt 3008 installation: python generate.py > salt3008.json
The tree stands in the answer, so that the test builds the same one. "$R" is the directory that it lies in.
"""

import base64
import gzip
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
    ["dir", "base/empty"], ["dir", "base/sub/deep"], ["dir", "base2"], ["dir", "dev"], ["dir", "any/qa"], ["dir", "outside"], ["dir", "missing-is-not-made/x"],
    ["file", "base/top.sls", "base:\n  '*':\n    - web\n"], ["file", "base/web/init.sls", "web: pkg.installed\n"], ["file", "base/sub/a.txt", "a" * 10], ["file", "base/sub/deep/b.bin", "b" * 300],
    ["file", "base/zero", ""], ["file", "base/odd name?x=1", "odd"], ["file", "base/|pipe", "pipe"], ["file", "base/\u00e9t\u00e9.txt", "summer"], ["file", "base/.hidden/file", "h"], ["file", "base/web/init.sls~", "backup"],
    ["file", "base/.svn/entries", "svn"], ["file", "base2/only2", "two"], ["file", "base2/top.sls", "second"], ["file", "dev/top.sls", "dev"], ["file", "any/qa/q.txt", "qa"], ["file", "outside/secret", "secret"],
    ["link", "base/inlink", "sub/a.txt"], ["link", "base/absin", "$R/base/sub/a.txt"], ["link", "base/out", "../outside/secret"], ["link", "base/absout", "$R/outside/secret"], ["link", "base/broken", "nowhere"],
    ["link", "base/dirlink", "sub"], ["link", "base/outdir", "../outside"], ["link", "base/sub/up", "../web/init.sls"], ["link", "base/sub/upup", "../../outside/secret"], ["link", "base/emptylink", "empty"],
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
        os.symlink(rest[0].replace("$R", R), path)

ROOTS = {"base": ["$R/base", "$R/base2"], "dev": ["$R/dev"], "gone": ["$R/not-there"], "none": []}
CONFIGS = [
    {"file_roots": ROOTS},
    {"file_roots": ROOTS, "fileserver_followsymlinks": False},
    {"file_roots": ROOTS, "fileserver_ignoresymlinks": True},
    {"file_roots": ROOTS, "file_ignore_regex": ["/\\.svn($|/)", "^web"], "file_ignore_glob": ["*~", "*.bin", "*/sub/a*"]},
    {"file_roots": ROOTS, "hash_type": "md5", "file_buffer_size": 100},
    {"file_roots": {"base": ["$R/base2"], "__env__": ["$R/any/__env__"]}, "hash_type": "sha512"},
]
PATHS = ["top.sls", "web/init.sls", "sub/a.txt", "sub/deep/b.bin", "zero", "only2", "\u00e9t\u00e9.txt", "inlink", "absin", "out", "absout", "broken", "dirlink", "dirlink/a.txt", "outdir/secret", "sub/up", "sub/upup",
         "empty", "sub", "", ".", "..", "../outside/secret", "sub/../top.sls", "sub/..", "/etc/passwd", "./top.sls", "sub//a.txt", "sub/a.txt/", "nothing", ".svn/entries", ".hidden/file", "web/init.sls~",
         "odd name?x=1", "|odd name?x=1", "||pipe", "|pipe", "top.sls?saltenv=dev", "top.sls?index=1", "top.sls?index=-1", "top.sls?index=7", "top.sls?index=x", "top.sls?x=1&saltenv=dev", "top.sls?env=dev", "q.txt", "q.txt?saltenv=qa",
         "top.sls?a?b=c", "a\x00b"]
ENVS = ["base", "dev", "gone", "none", "unknown", "qa"]


def loads():
    for env in ENVS:
        for cmd in ("file_list", "file_list_emptydirs", "dir_list", "symlink_list"):
            yield cmd, {"saltenv": env}
    for cmd in ("file_list", "file_list_emptydirs", "dir_list", "symlink_list"):
        yield cmd, {}
        for prefix in ("sub", "/sub/", "su", "web/", "nothing"):
            yield cmd, {"saltenv": "base", "prefix": prefix}
        for back in ("roots", ["roots"], "git", "-roots", "-git", ["roots", "git"]):
            yield cmd, {"saltenv": "dev", "fsbackend": back}
    for path in PATHS:
        for env in ("base", "dev", "qa") if path in ("top.sls", "q.txt") else ("base",):
            yield "file_find", {"path": path, "saltenv": env}
            yield "file_hash", {"path": path, "saltenv": env}
            yield "file_hash_and_stat", {"path": path, "saltenv": env}
            yield "serve_file", {"path": path, "saltenv": env, "loc": 0}
    for loc in (0, 5, 100, 299, 300, 301, 10**12):
        yield "serve_file", {"path": "sub/deep/b.bin", "saltenv": "base", "loc": loc}
        yield "serve_file", {"path": "sub/deep/b.bin", "saltenv": "base", "loc": loc, "gzip": 5}
    yield "serve_file", {"path": "zero", "saltenv": "base", "loc": 0, "gzip": 9}
    for missing in ({}, {"path": "top.sls"}, {"path": "top.sls", "saltenv": "base"}, {"saltenv": "base", "loc": 0}):
        for cmd in ("serve_file", "file_hash", "file_hash_and_stat", "file_find"):
            yield cmd, dict(missing)
    yield "file_envs", {}
    yield "file_envs", {"sources": True}
    yield "file_envs", {"back": "roots"}
    yield "file_envs", {"back": ["git"]}


def shown(value, load):
    """The answer as JSON can hold it; of a stat what a test can know."""
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(gzip.decompress(value) if load.get("gzip") and value else value).decode()}
    if isinstance(value, str):
        return value.replace(R, "$R")
    if isinstance(value, dict):
        return {k: [v[0], v[6]] if k == "stat" else shown(v, load) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        if len(value) == 10 and all(isinstance(x, int) for x in value):
            return [value[0], value[6]]
        return [shown(x, load) for x in value]
    return value


out = {"tree": TREE, "configs": []}
for config in CONFIGS:
    opts = salt.config.master_config(None)
    opts.update(cachedir=tempfile.mkdtemp(), fileserver_backend=["roots"], __role="master", fileserver_list_cache_time=20)
    opts.update(json.loads(json.dumps(config).replace("$R", R)))
    server = salt.fileserver.Fileserver(opts)
    answers = []
    for cmd, load in loads():
        asked = json.loads(json.dumps(load))
        try:
            answer = shown(getattr(server, cmd)(dict(load)), load)
        except Exception as err:  # pylint: disable=broad-except
            answer = {"raised": type(err).__name__}
        if cmd == "file_envs" and isinstance(answer, list):
            answer.sort()
        opts["fileserver_backend"] = ["roots"]  # "-roots" takes it out for good
        answers.append([cmd, asked, answer])
    out["configs"].append({"opts": config, "answers": answers})
    shutil.rmtree(opts["cachedir"])
print('{"tree": ' + json.dumps(out["tree"]) + ',\n"configs": [')
print(",\n".join('{"opts": ' + json.dumps(c["opts"]) + ',\n"answers": [\n' + ",\n".join(map(json.dumps, c["answers"])) + "\n]}" for c in out["configs"]))
print("]}")
shutil.rmtree(R)
