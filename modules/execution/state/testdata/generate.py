"""Writes trees_3008.json: what Salt 3008.3 shows of the trees of trees.txt.

Run with the Python of a Salt 3008 installation, as root: PYTHONHASHSEED=0 python generate.py > trees_3008.json
The minion is web1, masterless; ROOT stands for the directory of a tree.
"""

import json
import logging
import os
import shlex
import shutil
import sys
import tempfile

import salt.client
import salt.config
import salt.loader

logging.disable(logging.CRITICAL)
HERE = os.path.dirname(os.path.abspath(__file__))
OF_SLS = "show_sls t; show_low_sls t; show_lowstate"
OF_TOP = "show_top; show_highstate; show_lowstate; show_states"


def trees():
    found, tree, path = [], None, None
    for line in open(os.path.join(HERE, "trees.txt"), encoding="utf-8"):
        if line.startswith("== "):
            tree, path = {"name": line[3:].strip(), "opts": {}, "calls": None, "files": {}}, None
            found.append(tree)
        elif tree is None:
            continue
        elif line.startswith("-- "):
            path = line[3:].strip()
            tree["files"][path] = ""
        elif path is None and line.startswith("opts: "):
            tree["opts"] = json.loads(line[6:])
        elif path is None and line.startswith("calls: "):
            tree["calls"] = line[7:].strip()
        else:
            tree["files"][path] += line
    return found


def parsed(call):
    """A call as [function, arguments, keywords]."""
    fun, *words = shlex.split(call, posix=True) if "{" not in call else call.split()
    args, kw = [], {}
    for word in words:
        key, is_kw, value = word.partition("=")
        if not is_kw:
            args.append(word)
            continue
        try:
            value = {"True": True, "False": False}.get(value) if value in ("True", "False") else json.loads(value)
        except ValueError:
            pass
        kw[key] = value
    return ["state." + fun, args, kw]


def record(tree):
    root = tempfile.mkdtemp(prefix="trees")
    if tree["calls"] is None:
        if "base/top.sls" in tree["files"]:
            tree["calls"] = OF_TOP
        else:
            tree["calls"] = OF_SLS
            tree["files"]["base/top.sls"] = "base: {'*': [t]}\n"
    for path, text in tree["files"].items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)
    own = {"root_dir": root, "cachedir": root + "/cache", "id": "web1", "file_client": "local", "pillar_roots": {"base": [root + "/pillar"]},
           "file_roots": {env: [f"{root}/{env}"] for env in ("base", "dev")}, **{k: v for k, v in tree["opts"].items() if k != "grains"}}
    with open(root + "/minion", "w", encoding="utf-8") as file:
        json.dump(own, file)
    grains = {"id": "web1", "os": "Debian", "os_family": "Debian", "kernel": "Linux", **tree["opts"].get("grains", {})}
    salt.loader.grains = lambda *_args, **_kw: dict(grains)
    os.makedirs(root + "/cache")
    opts = salt.config.minion_config(root + "/minion")
    opts.update({"__cli": "salt-call", "local": True})
    caller = salt.client.Caller(mopts=opts)
    functions = caller.sminion.functions
    answers = []
    for call in tree["calls"].split(";"):
        fun, args, kw = parsed(call.strip())
        context = functions.pack["__context__"]
        context.clear()
        try:
            answer = {"return": functions[fun](*args, **kw), "retcode": context.get("retcode", 0)}
        except Exception as err:  # pylint: disable=broad-except
            answer = {"raised": type(err).__name__, "text": str(err), "retcode": context.get("retcode", 0)}
        answers.append({"fun": fun, "args": args, "kw": kw, **json.loads(json.dumps(answer, default=str).replace(root, "ROOT"))})
        shutil.rmtree(root + "/cache/file_lists", ignore_errors=True)
    shutil.rmtree(root)
    return {"name": tree["name"], "opts": tree["opts"], "files": tree["files"], "answers": answers}


wanted = sys.argv[1:]
rows = [record(tree) for tree in trees() if not wanted or tree["name"] in wanted]
print("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]")
