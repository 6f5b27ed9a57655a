"""Writes functions.json: what functions that reach the master give in Salt, in a pillar, in a reaction and in the pillar that a
minion beside the master compiles itself.

Run with the Python of a Salt 3008.3 installation: python functions.py > functions.json
It starts a master on loopback, without minions that run, and renders each template of TEMPLATES in this process, as a worker of
that master compiles a pillar, as its Reactor renders a reaction, and as a minion without a master does. A row has the template and the values: the
text, or "error CLASS: TEXT". A text that has a traceback is cut at it.
"""

import json
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import salt.cache
import salt.client
import salt.config
import salt.loader
import salt.minion
import salt.pillar
import salt.template
import salt.utils.reactor

logging.disable(logging.CRITICAL)

KEYS = "{% set r = CALL %}{{ {'keys': r.keys() | reject('equalto', '_stamp') | sort, 'fun': r.fun, 'args': r.fun_args, 'return': r.return, 'user': r.user, 'success': r.success} | tojson }}"


def whole(call):
    """A record of a run without its id and time."""
    return KEYS.replace("CALL", call)


TEMPLATES = [
    "{{ salt['saltutil.runner']('mine.get', tgt='*', fun='test.ping') | tojson }}",
    "{{ salt.saltutil.runner('mine.get', tgt='*', fun='test.ping') | tojson }}",
    "{{ salt['saltutil.runner']('mine.get', arg=['web1', 'test.ping']) | tojson }}",
    "{{ salt['saltutil.runner']('mine.get', ['web1'], {'fun': 'test.ping'}) | tojson }}",
    "{{ salt['saltutil.runner']('cache.grains', tgt='*') | tojson }}",
    "{{ salt['saltutil.runner']('cache.mine', 'web*') | tojson }}",
    "{{ salt.saltutil.runner('test.arg', arg=['a', 1, none, {'m': 2}, ['l']], kwarg={'k': 1}, z=2) | tojson }}",
    "{{ salt.saltutil.runner('test.arg', arg=['1', 'k=v', 'n=[1, 2]', '{a: 1}', 'a: 1', 'x=']) | tojson }}",
    "{{ salt.saltutil.runner('test.arg', kwarg={'k': '1'}, k='2') | tojson }}",
    "{{ salt.saltutil.runner('test.arg', kwarg={'__x': 1, 'y': 2}, __z=3) | tojson }}",
    "{{ salt.saltutil.runner('test.arg', ['a'], {'k': 1}, False, 'dev') | tojson }}",
    "{{ salt.saltutil.runner('test.arg', saltenv='dev') | tojson }}",
    "{{ salt.saltutil.runner('test.arg', __env__='qa', __orchestration_jid__='20200101000000000000') | tojson }}",
    "{{ salt['saltutil.runner']('test.metasyntactic', locality='us') | tojson }}",
    "{{ salt['saltutil.runner']('test.metasyntactic', nope='us') }}",
    "{{ salt['saltutil.runner']('nope.nope') | tojson }}",
    "{{ salt['saltutil.runner']('test.arg', arg='a') | tojson }}",
    "{{ salt['saltutil.runner']('test.arg', arg=('a', 'b')) | tojson }}",
    "{{ salt['saltutil.runner']('error.error', arg=['Exception', 'boom']) }}",
    "{{ salt['saltutil.runner']('error.error', name='CommandExecutionError', message='boom') }}",
    "{{ salt['saltutil.runner']('manage.present') | tojson }}",
    "{{ salt['saltutil.runner']('manage.up') | tojson }}",
    "{{ salt['saltutil.runner']('salt.cmd', arg=['test.echo', 'hi']) | tojson }}",
    "{{ salt['saltutil.runner']('config.get', arg=['id']) | tojson }}",
    "{{ salt['saltutil.runner']('fileserver.envs') | tojson }}",
    "{{ salt['saltutil.runner']('pillar.show_pillar', kwarg={'minion': 'db1'}) | tojson }}",
    whole("salt['saltutil.runner']('test.arg', arg=['a'], kwarg={'k': 1}, full_return=True)"),
    whole("salt['saltutil.runner']('fileserver.envs', full_return=True)"),
    whole("salt['saltutil.runner']('fileserver.file_list', full_return=True)"),
    whole("salt['saltutil.runner']('fileserver.file_list', full_return=True, saltenv='dev')"),
    whole("salt['saltutil.runner']('fileserver.file_list', full_return=True, kwarg={'saltenv': 'dev'})"),
    whole("salt['saltutil.runner']('fileserver.file_list', full_return=True, __env__='qa')"),
    whole("salt['saltutil.wheel']('key.list_all')"),
    whole("salt.saltutil.wheel('key.list_all')"),
    whole("salt['saltutil.wheel']('key.name_match', 'web1')"),
    whole("salt['saltutil.wheel']('key.name_match', match='web1')"),
    whole("salt['saltutil.wheel']('key.list', match='accepted')"),
    whole("salt['saltutil.wheel']('minions.connected')"),
    "{{ salt['saltutil.wheel']('key.list', 'accepted')['return'] | tojson }}",
    "{{ salt['saltutil.wheel']('key.list')['return'] }}",
    "{{ salt['saltutil.wheel']('nope.nope') | tojson }}",
    "{{ salt['saltutil.cmd']('nobody', 'test.ping') | tojson }}",
    "{{ salt['saltutil.cmd']('nobody', 'test.arg', ['a'], 1, 'glob', '', {'k': 1}) | tojson }}",
    "{{ salt['saltutil.cmd']('db1', 'test.ping', timeout=1) | tojson }}",
    "{{ salt['saltutil.cmd_iter']('nobody', 'test.ping') | list | tojson }}",
    "{{ salt['saltutil.mmodule']('base', 'test.ping') | tojson }}",
    "{{ salt['saltutil.running']() | tojson }}",
    "{{ salt['publish.publish']('*', 'test.ping') | tojson }}",
    "{{ salt['publish.full_data']('*', 'test.ping') | tojson }}",
    "{{ salt['publish.runner']('manage.up') | tojson }}",
    "{{ salt['mine.get']('*', 'test.ping') | tojson }}",
    "{{ salt['event.send']('a/b', {'x': 1}) | tojson }}",
    "{{ salt['event.fire']({'x': 1}, 'a/b') | tojson }}",
    "{{ salt['event.fire_master']({'x': 1}, 'a/b') | tojson }}",
    "{{ salt['config.get']('__cli', 'none') | tojson }}",
    "{{ opts['__cli'] | default('none') | tojson }}",
    "{{ opts['__role'] | default('none') | tojson }}",
]

TRACEBACK = re.compile(r"Traceback \(most recent call last\).*", re.S)


def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def caught(root, run):
    try:
        out = run()
    except Exception as exc:  # pylint: disable=broad-except
        out = f"error {type(exc).__name__}: {exc}"
    return TRACEBACK.sub("Traceback", out).replace(root, "$R")


def render(opts, functions, text, root, more):
    """A template as compile_template has it, rendered to its text."""
    path = root + "/t.sls"
    with open(path, "w") as f:
        f.write("#!jinja\n" + text)
    rend = salt.loader.render(opts, functions)
    out = salt.template.compile_template(path, rend, "jinja", opts["renderer_blacklist"], opts["renderer_whitelist"], **more)
    out = out.read() if hasattr(out, "read") else out
    return out.split("\n", 1)[1]


def main():
    out = os.dup(1)
    os.dup2(2, 1)  # runners print
    root = os.path.realpath(tempfile.mkdtemp())
    for d in ("etc", "srv", "pillar"):
        os.makedirs(f"{root}/{d}")
    with open(root + "/pillar/top.sls", "w") as f:
        f.write("base:\n  '*': [fixed]\n")
    with open(root + "/pillar/fixed.sls", "w") as f:
        f.write("fixed: 1\n")
    with open(root + "/srv/a.txt", "w") as f:
        f.write("a\n")
    with open(root + "/etc/master", "w") as f:
        f.write(f"root_dir: {root}\ninterface: 127.0.0.1\npublish_port: {port()}\nret_port: {port()}\nid: m_master\ntimeout: 20\ngather_job_timeout: 1\n"
                f"file_roots: {{base: [{root}/srv], dev: [], qa: []}}\npillar_roots: {{base: [{root}/pillar]}}\nmaster_id: m\nuser: root\n")
    opts = salt.config.master_config(root + "/etc/master")
    env = dict(os.environ, SALT_CONFIG_DIR=root + "/etc")
    daemon = subprocess.Popen([os.path.dirname(sys.executable) + "/salt-master", "-c", root + "/etc", "-l", "quiet"], env=env,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.time() + 120
        while time.time() < end:
            try:
                salt.client.LocalClient(root + "/etc/master").cmd("nobody", "test.ping")
                break
            except Exception:  # pylint: disable=broad-except
                time.sleep(1)
        else:
            sys.exit("the master does not come up")
        cache = salt.cache.factory(opts)
        for mid in ("web1", "db1"):
            subprocess.run(["openssl", "genrsa", "-out", root + "/k", "2048"], check=True, stderr=subprocess.DEVNULL)
            key = subprocess.run(["openssl", "rsa", "-in", root + "/k", "-pubout"], check=True, capture_output=True).stdout
            with open(f"{opts['pki_dir']}/minions/{mid}", "wb") as f:
                f.write(key)
            cache.store("grains", mid, {"id": mid})
            cache.store("mine", mid, {"test.ping": True})
        with open(root + "/etc/minion", "w") as f:
            f.write(f"root_dir: {root}/minion\nid: web1\nfile_client: local\nmaster_type: disable\n")
        minion = salt.config.minion_config(root + "/etc/minion")
        minion["grains"] = {"id": "web1"}
        # as salt.pillar.Pillar and salt.utils.reactor.ReactWrap have their functions
        pillar = salt.pillar.Pillar(opts, {"id": "web1"}, "web1", None)
        reactor = salt.utils.reactor.Reactor(dict(opts, file_client="local"))
        reactor.minion = salt.minion.MasterMinion(reactor.opts, states=False, rend=False, matcher=False)
        places = {
            "pillar": (pillar.opts, lambda: pillar.functions, {"sls": "p"}),
            "reaction": (reactor.opts, lambda: reactor.minion.functions, {"tag": "a", "data": {}}),
            "own": (minion, lambda: salt.loader.minion_mods(minion), {"sls": "p"}),
        }
        rows = [{"template": text} for text in TEMPLATES]
        for name, (o, functions, more) in places.items():
            for row in rows:
                row[name] = caught(root, lambda: render(o, functions(), row["template"], root, more))
                print(name, row, file=sys.stderr)
        os.dup2(out, 1)
        print("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]", flush=True)
    finally:
        daemon.terminate()
        daemon.wait()
        shutil.rmtree(root)


main()
