"""Writes opts3008.json: the names of the options that templates find in each place of Salt.

Run with the Python of a Salt 3008.3 installation: python opts.py > opts3008.json
It starts a master and a minion on loopback. The places: call and local, a template that salt-call renders with a master and without
one; minion, one that a minion renders; own, a pillar that salt-call compiles itself; pillar and reaction, an SLS of the master; run,
a pillar that salt-run compiles.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

BIN = os.path.dirname(sys.executable)
NAMES = "{{ opts.keys() | list | sort | json }}"


def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until(what):
    for _ in range(240):
        if what():
            return
        time.sleep(0.5)
    sys.exit("it does not come")


def main():
    root = os.path.realpath(tempfile.mkdtemp())
    pub, ret = port(), port()
    files = {
        "srv/names.jinja": NAMES,
        "srv/react.sls": "{% set names %}" + NAMES + "{% endset %}{% do salt['cmd.run_stdout']('cat > " + root
        + "/reaction', stdin=names, python_shell=True) %}x:\n  runner.test.arg:\n    - args: []\n",
        "pillar/top.sls": "base:\n  '*': [p]\n",
        "pillar/p.sls": "names: " + NAMES + "\n",
        "etc/master": f"root_dir: {root}/m\ninterface: 127.0.0.1\nuser: root\npublish_port: {pub}\nret_port: {ret}\nauto_accept: True\n"
        f"file_roots: {{base: [{root}/srv]}}\npillar_roots: {{base: [{root}/pillar]}}\nreactor: [{{'my/tag': ['{root}/srv/react.sls']}}]\n",
        "web1/minion": f"root_dir: {root}/w\nid: web1\nmaster: 127.0.0.1\nuser: root\npublish_port: {pub}\nmaster_port: {ret}\n",
        "own/minion": f"root_dir: {root}/o\nid: own\nfile_client: local\nfile_roots: {{base: [{root}/srv]}}\npillar_roots: {{base: [{root}/pillar]}}\n",
    }
    for name, text in files.items():
        os.makedirs(os.path.dirname(f"{root}/{name}"), exist_ok=True)
        with open(f"{root}/{name}", "w") as f:
            f.write(text)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}

    def ask(tool, conf, *argv):
        out = subprocess.run([f"{BIN}/{tool}", "-c", f"{root}/{conf}", "--out=json", *argv], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        try:
            return json.loads(out.stdout)
        except ValueError:
            return {}

    daemons = [subprocess.Popen([f"{BIN}/salt-master", "-c", root + "/etc"], **quiet), subprocess.Popen([f"{BIN}/salt-minion", "-c", root + "/web1"], **quiet)]
    try:
        until(lambda: ask("salt", "etc", "web1", "test.ping") == {"web1": True})
        render = ["slsutil.renderer", "path=salt://names.jinja", "default_renderer=jinja"]
        names = ["pillar.get", "names", "unmask=True"]
        subprocess.run([f"{BIN}/salt-run", "-c", root + "/etc", "event.send", "my/tag"], **quiet)
        ask("salt", "etc", "web1", "event.send", "my/tag")
        until(lambda: os.path.exists(root + "/reaction") and os.path.getsize(root + "/reaction"))
        with open(root + "/reaction") as f:
            reaction = json.load(f)
        out = {
            "call": json.loads(ask("salt-call", "web1", *render)["local"]),
            "local": json.loads(ask("salt-call", "own", "--local", *render)["local"]),
            "minion": json.loads(ask("salt", "etc", "web1", *render)["web1"]),
            "own": ask("salt-call", "own", "--local", *names)["local"],
            "pillar": ask("salt", "etc", "web1", *names)["web1"],
            "reaction": reaction,
            "run": ask("salt-run", "etc", "pillar.show_pillar", "web1")["names"],
        }
        print("{\n" + ",\n".join(json.dumps(k) + ": " + json.dumps(v) for k, v in out.items()) + "\n}")
    finally:
        for d in daemons:
            d.terminate()
            d.wait()
        shutil.rmtree(root)


main()
