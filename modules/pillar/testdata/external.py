"""Compiles pillars with external pillars that ask servers: python external.py < questions.json

Standard input is [{"ext": {name: arguments}, "id": ..., "opts": {...}, "grains": {...}}, ...]; each answer is a line as show() writes it. Any release
that has the external pillar will do.
"""

import json
import logging
import os
import shutil
import sys
import tempfile

from generate_show import show

import salt.config
import salt.pillar

logging.disable(logging.CRITICAL)


def answer(question, root):
    opts = salt.config.DEFAULT_MASTER_OPTS.copy()
    opts.update(
        root_dir=root + "/.d", cachedir=root + "/.d/cache", pki_dir=root + "/.d/pki", sock_dir=root + "/.d/run", conf_file=root + "/.d/master",
        extension_modules=root + "/.d/ext", id="master.example_master", __role="master", file_roots={"base": []}, grains={},
        pillar_roots={"base": [root + "/base"]}, ext_pillar=[question["ext"]],
    )
    opts.update(question.get("opts") or {})
    try:
        return show(salt.pillar.Pillar(opts, question.get("grains") or {}, question["id"], None).compile_pillar())
    except Exception as exc:  # pylint: disable=broad-except
        return f"error {type(exc).__name__}: {exc}"


def main():
    root = os.path.realpath(tempfile.mkdtemp())
    try:
        os.mkdir(root + "/base")
        for question in json.load(sys.stdin):
            print(json.dumps(answer(question, root)))
    finally:
        shutil.rmtree(root)


main()
