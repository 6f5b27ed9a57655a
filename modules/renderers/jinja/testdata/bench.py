"""Measures what bench_test.go measures, with Salt's renderer: the same text, compiled and rendered each time.

    python modules/renderers/jinja/testdata/bench.py
    go test -run XXX -bench States ./modules/renderers/jinja
"""

import os
import time

import generate

import salt.config
import salt.utils.templates

ROUNDS = 40


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "states.sls"), encoding="utf-8") as f:
        text = f.read()
    with open(os.path.join(here, "vars.json"), encoding="utf-8") as f:
        variables = generate.json.load(f)
    opts = salt.config.DEFAULT_MINION_OPTS.copy()
    opts.update(file_client="local", cachedir="/nonexistent")
    best = None
    for _ in range(ROUNDS):
        context = dict(variables, opts=opts, saltenv="base", salt=generate.AliasedLoader(generate.FUNCTIONS))
        start = time.perf_counter()
        out = salt.utils.templates.render_jinja_tmpl(text, context, None)
        took = time.perf_counter() - start
        best = took if best is None else min(best, took)
    print(f"{len(out)} bytes, best of {ROUNDS}: {best * 1000:.2f} ms")


if __name__ == "__main__":
    main()
