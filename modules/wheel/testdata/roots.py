"""Writes roots.json: what the wheel functions of file_roots and pillar_roots answer to calls.

Run in this directory with the Python of a Salt 3008 installation: python roots.py
DIR stands for the folder that holds the tree. What a call leaves in the files that it wrote stands beside its answer.
"""

import json
import os
import pathlib
import shutil
import tempfile

import salt.utils.stringutils  # noqa: F401, which the modules forget
import salt.utils.verify  # noqa: F401
import salt.wheel.file_roots as file_roots
import salt.wheel.pillar_roots as pillar_roots

os.umask(0o022)
TREE = {
    "a/top.sls": b"base: {}\n",
    "a/web/init.sls": "grüße\n".encode(),
    "a/bin": b"\x00\x01",
    "a/empty": b"",
    "a/latin": b"gr\xfc\xdfe" + b"x" * 40,
    "a/odd": bytes(range(1, 32)) * 3,
    "b/top.sls": b"second\n",
    "b/deep/er/x": b"1",
    "out/secret": b"secret\n",
}
LINKS = {"a/in": "web", "a/abs": "DIR/a/web", "a/out": "../out", "a/gone": "nothing", "a/leave": "../out/new", "a/file": "top.sls"}
CALLS = [
    *[("find", [p]) for p in ("top.sls", "web/init.sls", "bin", "empty", "odd", "latin", "none", "web", "", "in/init.sls", "abs/init.sls", "file",
                              "web/../top.sls", "gone", "a\0b")],
    ("find", ["top.sls", "nosuch"]), ("find", ["x", "deep"]),
    *[("read", [p]) for p in ("top.sls", "web/init.sls", "bin", "empty", "latin", "odd", "none", "in/init.sls")],
    ("read", ["top.sls", "nosuch"]),
    ("list_env", []), ("list_env", ["nosuch"]), ("list_roots", []),
    *[("write", ["text\n", p]) for p in ("new", "sub/dir/new", "top.sls", "/abs", "../x", "web/../../x", "web/../ok", "out/x", "in/x", "abs/x",
                                         "leave", "gone", "file", "web", "", "sub/", ".", "..", "top.sls/x", "a\0b", "./plain")],
    ("write", ["t", "x", "nosuch"]), ("write", ["t", "x", "base", 1]), ("write", ["t", "x", "base", 3]), ("write", ["t", "x", "base", -1]),
    ("write", ["t", "x", "base", -9]), ("write", ["t", "x", "base", 2]), ("write", [5, "x"]), ("write", [None, "x"]), ("write", ["", "x"]),
]
# What real Salt lets out of pillar_roots: brine does not (see roots_test.go).
LEAKS = [("find", ["../out/secret"]), ("read", ["../out/secret"]), ("read", ["out/secret"]), ("find", ["/etc/passwd"]), ("find", ["DIR/out/secret"])]


def plant(top):
    for name, data in TREE.items():
        path = pathlib.Path(top, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for name, to in LINKS.items():
        os.symlink(to.replace("DIR", top), os.path.join(top, name))


def state(top):
    out = {}
    for root, _, files in os.walk(top):
        for name in files:
            path = os.path.join(root, name)
            if not os.path.islink(path):
                out[os.path.relpath(path, top)] = pathlib.Path(path).read_bytes().decode("latin-1")
    return out


def call(mod, option, fun, args):
    top = os.path.realpath(tempfile.mkdtemp())
    try:
        plant(top)
        before = state(top)
        mod.__opts__ = {option: {"base": [f"{top}/a", f"{top}/b", f"{top}/c"], "deep": [f"{top}/b/deep/er"]}}
        args = [a.replace("DIR", top) if isinstance(a, str) else a for a in args]
        try:
            ret = {"return": getattr(mod, fun)(*args)}
        except Exception as exc:  # noqa: BLE001
            ret = {"raises": type(exc).__name__, "text": str(exc)}
        after = state(top)
        wrote = {k: v for k, v in after.items() if before.get(k) != v}
        return json.loads(json.dumps({**ret, "wrote": wrote}).replace(top, "DIR"))
    finally:
        shutil.rmtree(top)


out = []
for option, mod in (("file_roots", file_roots), ("pillar_roots", pillar_roots)):
    for fun, args in CALLS + LEAKS:
        out.append({"fun": f"{option}.{fun}", "args": args, "leaks": (fun, args) in LEAKS, **call(mod, option, fun, args)})
with open("roots.json", "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(o, sort_keys=True) for o in out) + "\n]\n")
