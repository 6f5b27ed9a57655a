"""Writes salt3008.json: which calls Salt's Reactor makes of rules, SLS files and events.

Run with the Python of a Salt 3008 installation: python generate.py > salt3008.json
The clients are replaced by recorders; nothing is published and no function is called. DIR stands for the directory of the files.
"""

import copy
import json
import logging
import os
import shutil
import sys
import tempfile

import salt.config
import salt.runner
import salt.utils.reactor
import salt.wheel

DIR = os.path.realpath(tempfile.mkdtemp(prefix="reactor"))
JOB = "salt/job/20261120104829281452/ret/web1"
E = "my/event"
calls = []
lines = []


class Recorder:
    """Stands for the clients of the local, runner, wheel and caller reactions."""

    def __init__(self, name, functions=None):
        self.name, self.functions = name, functions

    def cmd_async(self, tgt, fun, **kwargs):
        calls.append({"kind": "local", "tgt": tgt, "fun": fun, "kw": kwargs})

    def low(self, fun, low):
        calls.append({"kind": self.name, "fun": fun, "kw": low})

    def cmd(self, fun, *args, **kwargs):
        calls.append({"kind": "caller", "fun": fun, "args": args, "kwargs": kwargs})


class Pool:
    def fire_async(self, func, args=None, kwargs=None):
        func(*(args or ()), **(kwargs or {}))
        return True


class Lines(logging.Handler):
    def emit(self, record):
        if record.levelno >= logging.WARNING:
            lines.append([record.levelname, record.getMessage().replace(DIR, "DIR")])


def sls(text, event=None, tag=E, **more):
    """A row of one file that reacts to one event."""
    return {"reactor": [{E: ["DIR/a.sls"]}], "files": {"a.sls": text}, "tag": tag, "data": event or {}, **more}


def rule(reactor, tag, data=None):
    """A row about what a tag matches: each file says its name."""
    names = ["a.sls", "b.sls", "c.sls", "d/e.sls", "d/f.sls", ".h.sls", "x[1].sls"]
    return {"reactor": reactor, "files": {n: "%s:\n  local.test.ping:\n    - tgt: '*'\n" % json.dumps("id of " + n) for n in names}, "tag": tag, "data": data or {}}


A, B, C = "DIR/a.sls", "DIR/b.sls", "DIR/c.sls"
ROWS = [
    # tags
    rule([{E: [A]}], E), rule([{E: A}], E), rule([{E: [A]}], "my/event/more"), rule([{"my/*": [A]}], "my/event/more"), rule([{"*": [A]}], ""), rule([{"my/ev?nt": [A]}], E), rule([{"my/[de]vent": [A]}], E),
    rule([{"my/[!d]vent": [A]}], E), rule([{"MY/*": [A]}], E), rule([{"my/*": [A]}, {E: [B]}, {"no": [C]}], E), rule([{E: [B]}, {"my/*": [A]}], E), rule([{"my/*": [A]}, {"my/*": [B]}], E), rule([{E: [A, B, C]}], E),
    rule([{E: [C, B, A]}], E), rule([{E: [A, A]}], E), rule([{E: []}], E), rule([], E), rule(["text", {E: [A]}], E), rule([{E: [A], "other": [B]}], E), rule([{E: {"a": 1}}], E), rule([{E: None}, {"*": A}], E), rule([{"salt/job/*/ret/web1": [A]}], JOB),
    rule([{"[": [A]}], "["), rule([{"my/*/x": A}], "my/a/b/x"), rule([{"my/event\n": A}], E), rule([{"my/*": A}], "my/\u00e9\nx"), rule([{"salt/auth": A}], "salt/auth", {"user": "root"}), rule([{"*": A}], "x" * 500),
    # files
    rule([{E: ["DIR/*.sls"]}], E), rule([{E: ["DIR/d/*.sls"]}], E), rule([{E: ["DIR/*/e.sls"]}], E), rule([{E: ["DIR/[ab].sls"]}], E), rule([{E: ["DIR/.h.sls", "DIR/?.sls"]}], E), rule([{E: ["DIR/.*"]}], E), rule([{E: ["DIR/none.sls"]}], E),
    rule([{E: ["DIR/none.sls", A]}], E), rule([{E: ["DIR/no*.sls"]}], E), rule([{E: ["DIR/d"]}], E), rule([{E: ["DIR/x[[]1].sls"]}], E), rule([{E: ["DIR/x[1].sls"]}], E), rule([{E: ["DIR/**/e.sls"]}], E), rule([{E: ["DIR/d//e.sls"]}], E), rule([{E: [""]}], E),
    rule([{E: [5, A]}], E), rule([{E: [A, None]}], E), rule([{E: ["salt://none.sls", A]}], E),
    # local
    sls("a:\n  local.test.ping:\n    - tgt: web1\n"), sls("a:\n  cmd.test.ping:\n    - tgt: web1\n"), sls("a:\n  local.state.apply:\n    - tgt: web1\n    - arg: [x, y]\n"), sls("a:\n  local.state.apply:\n    - tgt: web1\n    - args:\n      - mods: x\n      - test: True\n"),
    sls("a:\n  local.state.apply:\n    - tgt: web1\n    - args: {mods: x}\n"), sls("a:\n  local.cmd.run:\n    - tgt: 'G@os:Debian'\n    - tgt_type: compound\n    - arg:\n      - uptime\n    - kwarg:\n        shell: /bin/sh\n"),
    sls("a:\n  local.cmd.run:\n    - tgt: web1\n    - kwarg: {cmd: uptime}\n"), sls("a:\n  local.cmd.run:\n    - tgt: [web1, web2]\n    - tgt_type: list\n    - ret: syslog\n    - timeout: 5\n    - arg: [uptime]\n"), sls("a:\n  local.cmd.run:\n    - tgt: web1\n    - arg: uptime\n"),
    sls("a:\n  local.test.ping: []\n"), sls("a:\n  local.test.ping:\n    - name: n\n    - tgt: web1\n    - args: []\n"), sls("a:\n  local.test.arg:\n    - tgt: web1\n    - args: [x, y]\n"), sls("a:\n  local.test.arg:\n    - tgt: web1\n    - args: [x, {k: v}]\n"),
    sls("a:\n  local.test.arg:\n    - tgt: web1\n    - args: [{k: v, l: w}]\n"), sls("a:\n  local.test.arg:\n    - tgt: web1\n    - args: text\n"), sls("a:\n  local.test.arg:\n    - tgt: web1\n    - args: '[x, {y: 1}]'\n"),
    sls("a:\n  local.test.arg:\n    - tgt: web1\n    - args: [null]\n"), sls("a:\n  local.test.arg:\n    - tgt: web1\n    - args: [[x]]\n"), sls("a:\n  local.test.arg:\n    - tgt: web1\n    - args: 5\n"), sls("a:\n  local.test.arg:\n    - tgt: web1\n    - args: {}\n"),
    sls("a:\n  local.test.arg:\n    - tgt: web1\n    - args: {k: 1}\n    - arg: [x]\n    - kwarg: {y: 2}\n"), sls("a:\n  local.test.arg:\n    - tgt: web1\n    - args: [{l: [{m: 1}]}]\n"), sls("a:\n  local.test.arg:\n    - tgt: web1\n    - args: [1, 2.5, yes]\n"),
    sls("a:\n  local:\n    - test.ping\n    - tgt: web1\n"), sls("a: local.test.ping\n"), sls("a:\n  local.test.ping:\n    - tgt:\n"), sls("a:\n  local.test.ping:\n    - names: [x, y]\n    - tgt: web1\n"), sls("a:\n  local.test.ping:\n    - user: me\n    - tgt: web1\n    - metadata: {a: 1}\n"),
    # runner
    sls("a:\n  runner.test.arg:\n    - args:\n      - x: 1\n      - y: [2]\n"), sls("a:\n  runner.test.arg:\n    - args: {x: 1}\n"), sls("a:\n  runner.test.arg:\n    - args: []\n"), sls("a:\n  runner.test.arg:\n    - args: [x]\n"), sls("a:\n  runner.test.arg:\n    - arg: [x, 1]\n    - kwarg: {y: 2}\n"),
    sls("a:\n  runner.test.arg:\n    - arg: [x, 1]\n"), sls("a:\n  runner.test.arg:\n    - kwarg: {y: 2}\n"), sls("a:\n  runner.test.arg: []\n"), sls("a:\n  runner.test.arg:\n    - x: 1\n    - y: two\n"), sls("a: runner.test.arg\n"), sls("a:\n  runner.test.arg:\n    - key: 1\n    - name: n\n    - z: 1\n"),
    sls("a:\n  runner.event.send:\n    - tag: t/u\n    - data: {a: 1}\n"), sls("a:\n  runner.event.send:\n    - tag: t/u\n"), sls("a:\n  runner.event.send: []\n"), sls("a:\n  runner.event.send:\n    - tag: t\n    - extra: 1\n"), sls("a:\n  runner.event.send:\n    - tag: t\n    - extra: 1\n    - more: 2\n    - most: 3\n"),
    sls("a:\n  runner.no.such:\n    - x: 1\n"), sls("a:\n  runner.no.such:\n    - args: {x: 1}\n"), sls("a:\n  runner.error.error:\n    - message: m\n"), sls("a:\n  runner.error.error:\n    - name: ValueError\n    - message: m\n"), sls("a:\n  runner.test.sleep:\n    - s_time: 1\n"),
    sls("a:\n  runner.test.arg:\n    - args: {x: 1}\n    - arg: [y]\n"),
    # wheel
    sls("a:\n  wheel.key.accept:\n    - args:\n      - match: web1\n"), sls("a:\n  wheel.key.accept:\n    - match: web1\n"), sls("a:\n  wheel.key.accept:\n    - match: web1\n    - include_rejected: True\n"), sls("a:\n  wheel.key.accept: []\n"), sls("a:\n  wheel.key.accept:\n    - arg: [web1]\n"),
    sls("a:\n  wheel.key.accept:\n    - args: web1\n"), sls("a:\n  wheel.minions.connected: []\n"), sls("a:\n  wheel.key.no_such:\n    - match: web1\n"),
    # caller
    sls("a:\n  caller.file.touch:\n    - args: [/tmp/x]\n"), sls("a:\n  caller.test.arg:\n    - args: [x, y]\n"), sls("a:\n  caller.test.arg:\n    - args:\n      - x: 1\n      - y: 2\n"), sls("a:\n  caller.test.arg:\n    - args: {x: 1}\n"), sls("a:\n  caller.test.arg:\n    - args: [x, {y: 2}]\n"),
    sls("a:\n  caller.test.arg:\n    - arg: [x]\n    - kwarg: {y: 2}\n"), sls("a:\n  caller.test.arg: []\n"), sls("a:\n  caller.test.arg:\n    - args: []\n"), sls("a:\n  caller.test.arg:\n    - args: text\n"),
    # order
    sls("z:\n  local.test.ping:\n    - tgt: 1\ny:\n  runner.test.arg: []\nx:\n  wheel.minions.connected: []\n"), sls("z:\n  local.test.ping:\n    - tgt: a\n    - order: 2\ny:\n  local.test.ping:\n    - tgt: a\n    - order: 1\n"),
    sls("z:\n  local.test.ping:\n    - tgt: a\n    - order: last\ny:\n  local.test.ping:\n    - tgt: a\nx:\n  local.test.ping:\n    - tgt: a\n    - order: -1\n"), sls("z:\n  local.test.ping:\n    - tgt: a\n  runner.test.arg: []\n"),
    sls("z:\n  local.test.ping:\n    - tgt: a\n    - require:\n      - local: y\ny:\n  local.test.ping:\n    - tgt: a\n"), sls("z:\n  local.test.ping:\n    - tgt: a\n    - require:\n      - local: none\n"),
    # what is wrong
    sls("a:\n  local.test.ping:\n    - tgt: web1\n  local.test.echo:\n    - tgt: web1\n"), sls("a:\n  local:\n    - tgt: web1\n"), sls("a:\n  local: test.ping\n"), sls("a: [x]\n"), sls("a: 5\n"), sls("a: text\n"), sls("- a\n- b\n"), sls("text\n"), sls(""), sls("\n\n"), sls("a: {\n"), sls("a: {{ nothing }}\n"), sls("{% if %}\n"),
    sls("#!json\n{\"a\": {\"local.test.ping\": [{\"tgt\": \"w\"}]}}\n"), sls("#!yaml\na:\n  local.test.ping:\n    - tgt: '{{ tag }}'\n"), sls("#!jinja\na: x\n"), sls("5: {local.test.ping: [tgt: a]}\n"), sls("a:\n  local.test.ping:\n    tgt: a\n"), sls("a:\n  local.test.ping:\n"),
    sls("__x: {local.test.ping: [tgt: a]}\nb: {local.test.ping: [tgt: a]}\n"),
    {"reactor": [{E: [A, B, C]}], "files": {"a.sls": "a: {local.test.ping: [tgt: a]}\n", "b.sls": "{{ broken\n", "c.sls": "c: {local.test.ping: [tgt: c]}\n"}, "tag": E, "data": {}},
    {"reactor": [{E: [A, B]}], "files": {"a.sls": "x: {local.test.ping: [tgt: a]}\n", "b.sls": "x: {local.test.ping: [tgt: b]}\n"}, "tag": E, "data": {}},
    {"reactor": [{E: [A]}, {"my/*": [B]}], "files": {"a.sls": "x: {local.test.ping: [tgt: a]}\n", "b.sls": "a: {runner.test.arg: [args: {x: 1}]}\n"}, "tag": E, "data": {}},
    # values
    sls("a:\n  local.test.arg:\n    - tgt: {{ data['id'] }}\n    - arg: [{{ tag }}]\n", {"id": "web1"}), sls("a:\n  local.test.arg:\n    - tgt: {{ data.id | json }}\n", {"id": "{{ 7 * 7 }}"}), sls("a:\n  local.test.arg:\n    - tgt: {{ data.id }}\n", {"id": "{{ 7 * 7 }}"}),
    sls("a:\n  local.test.arg:\n    - tgt: '*'\n    - arg: [{{ data | json }}]\n", {"a": [1, 2.5, None, True, "\u00e9"], "b": {"c": {}}}), sls("a:\n  local.test.arg:\n    - tgt: x\n    - arg: [\"{{ data.x }}\"]\n", {"x": "{% raw %}{{ salt }}"}),
    sls("{% if data.get('act') == 'pend' %}\na:\n  wheel.key.accept:\n    - args:\n      - match: {{ data['id'] }}\n{% endif %}\n", {"act": "pend", "id": "web1"}), sls("{% if data.get('act') == 'pend' %}\na:\n  wheel.key.accept:\n    - match: {{ data['id'] }}\n{% endif %}\n", {"act": "accept"}),
    sls("{% for id in data.ids %}\nr_{{ id }}:\n  local.test.ping:\n    - tgt: {{ id }}\n{% endfor %}\n", {"ids": ["w3", "w1", "w2"]}), sls("a:\n  local.test.ping:\n    - tgt: {{ data.none }}\n"), sls("a:\n  local.test.ping:\n    - tgt: \"{{ data['data']['x'] }}\"\n", {"data": {"x": "a: b # c"}}),
    sls("a:\n  local.test.arg:\n    - tgt: t\n    - arg: [{{ tag.split('/') | json }}, {{ saltenv }}]\n"), sls("a:\n  local.test.arg:\n    - tgt: {{ data }}\n", {"k": "v"}), sls("a:\n  runner.test.arg:\n    - args:\n      - user: {{ data.user }}\n", {"user": "root"}),
    sls("{% set x = data.x %}{% macro m(i) %}a{{ i }}:\n  local.test.ping:\n    - tgt: {{ x }}{{ i }}\n{% endmacro %}{{ m(1) }}{{ m(2) }}", {"x": "w"}), sls("a:\n  local.test.arg:\n    - tgt: t\n    - arg: [{{ data.n + 1 }}, {{ data.l | length }}]\n", {"n": 41, "l": [1, 2]}),
    sls("a:\n  local.test.arg:\n    - tgt: t\n    - arg: [{{ data.x | yaml_encode }}]\n", {"x": "a\nb: [c]"}),
]

MANAGE = [
    [{"a": ["x"]}],
    [["list"], ["add", "b/*", ["/x.sls"]], ["add", "b/*", ["/y.sls"]], ["add", "a", "z"], ["list"], ["delete", "a"], ["delete", "a"], ["delete", "none"], ["list"], ["add", "a", ["q"]], ["list"], ["delete", "b/*"], ["list"]],
]


def put(row):
    for name in os.listdir(DIR):
        path = os.path.join(DIR, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.remove(path)
    for name, text in row["files"].items():
        path = os.path.join(DIR, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)


def there(v):
    return json.loads(json.dumps(v).replace("DIR/", DIR + "/"))


def back(v):
    return json.loads(json.dumps(v).replace(DIR, "DIR"))


def run(reactor, row):
    put(row)
    asked = copy.deepcopy(row)
    calls.clear()
    lines.clear()
    reactor.opts["reactor"] = there(row["reactor"])
    found = reactor.list_reactors(row["tag"])
    if found:
        reactor.call_reactions(reactor.reactions(row["tag"], copy.deepcopy(row["data"]), found))
    return {**asked, "sls": back(found), "calls": back(calls), "log": list(lines)}


def manage(reactor):
    reactor.opts["reactor"] = reactor.minion.opts["reactor"] = copy.deepcopy(MANAGE[0])
    out = []
    for op, *args in MANAGE[1]:
        answer = {"list": reactor.list_all, "add": reactor.add_reactor, "delete": reactor.delete_reactor}[op](*args)
        out.append([op, *args, copy.deepcopy(answer)])
    return out


def main():
    opts = salt.config.master_config(None)
    home = tempfile.mkdtemp(prefix="reactorhome")
    for key in ("root_dir", "cachedir", "pki_dir", "sock_dir", "extension_modules"):
        opts[key] = home
    opts["file_roots"] = {"base": [os.path.join(home, "none")]}
    reactor = salt.utils.reactor.Reactor(opts)
    salt.utils.reactor.ReactWrap.client_cache = {
        "local": Recorder("local"),
        "caller": Recorder("caller"),
        "runner": Recorder("runner", salt.runner.RunnerClient(opts).functions),
        "wheel": Recorder("wheel", salt.wheel.WheelClient(opts).functions),
    }
    reactor.wrap = salt.utils.reactor.ReactWrap(opts)
    reactor.wrap.pool = Pool()
    log = logging.getLogger("salt.utils.reactor")
    log.propagate = False
    log.handlers = [Lines()]
    logging.getLogger("salt.utils.data").addHandler(log.handlers[0])
    rows = [run(reactor, row) for row in ROWS]
    json.dump({"rows": rows, "first": MANAGE[0], "manage": manage(reactor)}, sys.stdout, indent=1, sort_keys=False)
    sys.stdout.write("\n")
    sys.stdout.flush()
    shutil.rmtree(home)
    shutil.rmtree(DIR)
    os._exit(0)  # the threads of Salt's pool never end


main()
