"""Records which names a template exports in Salt's Jinja, into exports.json: run it with the Python of a Salt 3008.3 installation.

A row is the statements of a template, as places in the list STATEMENTS, and what a template sees that imports it: the text, or
"error". Rows are every sequence of one and two statements, and some of three and four.
"""

import itertools
import json
import logging
import os
import random
import shutil
import tempfile
import warnings

import jinja2

import salt.config
import salt.utils.templates

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
here = os.path.dirname(os.path.abspath(__file__))

STATEMENTS = [
    "{% from 'm.jinja' import val %}",
    "{% from 'm.jinja' import val with context %}",
    "{% from 'm.jinja' import val as b2 %}",
    "{% from 'm.jinja' import b2, val %}",
    "{% from 'm.jinja' import nope as val %}",
    "{% import 'm.jinja' as val %}",
    "{% import 'm.jinja' as b2 with context %}",
    "{% import_yaml 'd.yaml' as val %}",
    "{% load_yaml as val %}a: 1{% endload %}",
    "{% if true %}{% from 'm.jinja' import val %}{% endif %}",
    "{% for i in [1] %}{% from 'm.jinja' import val %}{% endfor %}",
    "{% set val = 1 %}",
    "{% set val = val %}",
    "{% set val = val ~ '2' %}",
    "{% set b2 = b2 %}",
    "{% set b2 = val %}",
    "{% set val, b2 = 'x', 'y' %}",
    "{% set val %}block{% endset %}",
    "{% set val | upper %}block{% endset %}",
    "{% if true %}{% set val = 'if' %}{% endif %}",
    "{% if false %}{% set val = 'never' %}{% else %}{% set b2 = 'else' %}{% endif %}",
    "{% if true %}{% if true %}{% set val = val %}{% endif %}{% endif %}",
    "{% for i in [1, 2] %}{% set val = i %}{% endfor %}",
    "{% for val in [1, 2] %}{{ val }}{% endfor %}",
    "{% with val = 'with' %}{% set b2 = val %}{% endwith %}",
    "{% with %}{% set val = 3 %}{% endwith %}",
    "{% block q %}{% set val = 9 %}{% endblock %}",
    "{% filter upper %}{% set val = 8 %}{% endfilter %}",
    "{% macro val() %}macro{% endmacro %}",
    "{% macro m() %}{% set val = 7 %}{% endmacro %}{{ m() }}",
    "{% call val2() %}{% endcall %}",
    "{% include 'm.jinja' %}",
    "{% include 'm.jinja' without context %}",
    "{% set _val = 'private' %}{% set val = _val %}",
    "{% from 'm.jinja' import val as _val %}{% set _val = _val %}",
    "{% set ns = namespace(v=1) %}{% set ns.v = 2 %}",
    "{% autoescape true %}{% set val = 'escaped' %}{% endautoescape %}",
    "{% do 1 %}{{ val is defined }}",
    "{% set val = val | default('d') %}",
]
LOOK = (
    "{% import 't.jinja' as t %}{% for n in ['val', 'b2', '_val', 'ns', 'm'] %}{{ n }}:{{ t[n] is defined }}{% if t[n] is defined and t[n] is not callable %}"
    "={{ t[n] }}{% endif %} {% endfor %}{% from 't.jinja' import val, b2 %}{{ val is defined }}{{ b2 is defined }}|{{ t }}"
)


def environment(opts):
    """The environment in which Salt renders templates with these options."""
    kept = []
    cls = salt.utils.templates.jinja2.sandbox.SandboxedEnvironment
    from_string = cls.from_string

    def look(env, text):
        kept.append(env)
        return from_string(env, text)

    cls.from_string = look
    salt.utils.templates.render_jinja_tmpl("", {"saltenv": "base", "opts": opts, "salt": {}}, None)
    cls.from_string = from_string
    return kept[0]


def main():
    rng = random.Random(1)
    n = range(len(STATEMENTS))
    rows = [list(r) for k in (1, 2) for r in itertools.product(n, repeat=k)]
    rows += [[rng.randrange(len(STATEMENTS)) for _ in range(k)] for k in (3, 4) for _ in range(1500)]
    base = tempfile.mkdtemp()
    try:
        for name, text in {"m.jinja": "{% set val = 'M' %}{% set b2 = 'B' %}", "d.yaml": "y: 1\n"}.items():
            with open(os.path.join(base, name), "w") as f:
                f.write(text)
        opts = salt.config.DEFAULT_MINION_OPTS.copy()
        opts.update(file_client="local", file_roots={"base": [base]}, pillar_roots={"base": []}, cachedir=base + "/c", root_dir=base,
                    fileserver_backend=["roots"], extension_modules=base + "/ext", sock_dir=base, pki_dir=base, __role="minion")
        env = environment(opts)
        out = []
        for i, row in enumerate(rows):
            with open(os.path.join(base, f"t{i}.jinja"), "w") as f:
                f.write("".join(STATEMENTS[j] for j in row))
            try:
                got = env.from_string(LOOK.replace("t.jinja", f"t{i}.jinja")).render(opts=opts, saltenv="base", salt={}).replace(f"t{i}.jinja", "t.jinja")
            except jinja2.exceptions.TemplateError:
                got = "error"
            out.append([row, got])
    finally:
        shutil.rmtree(base)
    with open(os.path.join(here, "exports.json"), "w") as f:
        f.write("{\"statements\": " + json.dumps(STATEMENTS) + ",\n\"look\": " + json.dumps(LOOK) + ",\n\"rows\": [\n" + ",\n".join(json.dumps(r) for r in out) + "\n]}\n")
    print(len(out), "rows")


main()
