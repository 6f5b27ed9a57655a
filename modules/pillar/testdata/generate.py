"""Writes salt3008.json: pillar trees and the pillars that Salt compiles from them.

Run with the Python of a Salt 3008.3 installation: python generate.py > salt3008.json
A row has the files of a tree, the options of the master, who asks and how, and the pillar, written as show() has it, or
the exception that Salt ends with. $R stands for the directory of the tree.
"""

import copy
import fnmatch
import json
import logging
import os
import re
import shutil
import sys
import tempfile

import cases
from generate_show import show

import salt.config
import salt.key
import salt.pillar
import salt.utils.minions
import salt.utils.path

logging.disable(logging.CRITICAL)
os.environ["PATH"] = "/usr/bin:/bin"


def replaced(v, root):
    if isinstance(v, str):
        return v.replace("$R", root)
    if isinstance(v, list):
        return [replaced(x, root) for x in v]
    if isinstance(v, dict):
        return {k: replaced(x, root) for k, x in v.items()}
    return v


def build(root, files):
    for path, text in files.items():
        full = os.path.join(root, path)
        os.makedirs(full if text is None else os.path.dirname(full), exist_ok=True)
        if text is None:
            continue
        if text.startswith("-> "):
            os.symlink(text[3:].replace("$R", root), full)
            continue
        with open(full, "w", encoding="utf-8", newline="") as f:
            f.write(text)


def compile_(case, root):
    opts = salt.config.DEFAULT_MASTER_OPTS.copy()
    opts.update(
        root_dir=root + "/.d", cachedir=root + "/.d/cache", pki_dir=root + "/.d/pki", sock_dir=root + "/.d/run", conf_file=root + "/.d/master",
        extension_modules=root + "/.d/ext", gpg_keydir=root + "/.d/gpg", id="master.example_master", __role="master", file_roots={"base": []},
        pillar_roots={"base": ["$R/base"]}, grains={}, minion_data_cache=True,
    )
    opts.update(copy.deepcopy(case["opts"]))
    opts = replaced(opts, root)
    accepted = [case["id"], "other"]
    salt.utils.minions.CkMinions._pki_minions = lambda self: set(accepted)
    salt.key.Key.glob_match = lambda self, match, full=False: {self.ACC: fnmatch.filter(accepted, match)}
    pillar = salt.pillar.Pillar(opts, copy.deepcopy(case["grains"]), case["id"], case["saltenv"], ext=case["ext"],
                                pillar_override=copy.deepcopy(case["override"]), pillarenv=case["pillarenv"],
                                extra_minion_data=copy.deepcopy(case["extra"]))
    out = pillar.compile_pillar()
    if "pillar_opts" in case["opts"]:
        out["master"] = {k: v for k, v in out["master"].items() if k in ("id", "pillar_opts", "state_top", "pillarenv", "pillar_roots")}
        out["master"] = {k: out["master"][k] for k in sorted(out["master"])}
    return out


# Python's tracebacks in the errors of templates: brine has none.
TRACEBACK = re.compile(r"\nTraceback \(most recent call last\):\n(?:[^\n]*\n)*?\n(?=; line )|\n\nTraceback \(most recent call last\):\n(?:[^\n]*\n)*?\[\.\.\.\](?=\n---)")


def sorted_walk(*args, **kwargs):
    """The names of a directory in order: Salt has them as the file system has."""
    for path, dirs, files in WALK(*args, **kwargs):
        dirs.sort()
        files.sort()
        yield path, dirs, files


WALK = salt.utils.path.os_walk
salt.utils.path.os_walk = sorted_walk


def main():
    rows = []
    for case in cases.ALL:
        root = os.path.realpath(tempfile.mkdtemp())
        try:
            build(root, case["files"])
            try:
                result = show(compile_(case, root))
            except RecursionError:
                result = "error RecursionError"
            except Exception as exc:  # pylint: disable=broad-except
                result = f"error {type(exc).__name__}: {exc}"
            row = dict(case)
            row["result"] = TRACEBACK.sub("", result).replace(root, "$R")
            rows.append(row)
        finally:
            shutil.rmtree(root)
    names = [r["name"] for r in rows]
    assert len(set(names)) == len(names), [n for n in names if names.count(n) > 1]
    print("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]")
    print(len(rows), "rows", file=sys.stderr)


main()
