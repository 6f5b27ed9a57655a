"""Records what Salt 3008.3 answers to trees of states, as JSON for statetest.Compare.

Run as root with the Python of a Salt 3008 installation: PYTHONHASHSEED=0 python record.py trees.txt > trees_3008.json
A second argument and more are names of trees: only those are recorded (to look at, not to keep).

The form of trees.txt:

    == NAME                 a tree begins
    opts: {...}             options of the minion, as JSON; "grains" are grains
    setup: COMMAND          run by sh in the tree's directory before the first step (several lines are several commands)
    step: WORDS             what is done, in this order; without any: test, apply, apply
                            test | apply                      state.apply t with and without test=True
                            call FUNCTION ARGS KEY=VALUE      any execution function (values are JSON or text)
                            sh COMMAND                        a command between calls, whose output is not kept
    look: COMMAND           run by sh after each call; its output is compared
    -- PATH                 a file: base/t.sls, base/files/x, pillar/top.sls, w/already-there
    text of the file

Trees that change the machine are run in a mount namespace of their own, of which the machine sees nothing. What they need is
told by these keys, of a tree, or of all of the file when they stand before its first tree (as may opts, setup and look):

    overlay: PATH ...       what is written below these directories goes to memory; what is there is seen
    fresh: PATH ...         these directories are empty, and in memory
    once: COMMAND           run by sh before any tree, outside the namespaces, in a directory of its own, which is ONCE in
                            all texts; HERE is the directory of trees.txt (only before the first tree)

ROOT in texts, options and commands is the directory of the tree. After each call everything below ROOT/w is kept: paths with
type, mode, link target and text. The minion is web1, masterless, on Debian.
"""

import base64
import ctypes
import json
import logging
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
import time

import salt.client
import salt.config
import salt.loader

logging.disable(logging.CRITICAL)

ENVIRONMENT = dict(os.environ)  # trees may change their own by environ.setval


def trees(name):
    every = tree = {"opts": {}, "setup": [], "look": "", "overlay": [], "fresh": [], "once": []}
    found, path = [], None
    for line in open(name, encoding="utf-8"):
        if line.startswith("== "):
            tree, path = {"name": line[3:].strip(), **json.loads(json.dumps(every)), "steps": [], "files": {}}, None
            found.append(tree)
        elif line.startswith("-- "):
            path = line[3:].strip()
            tree["files"][path] = ""
        elif path is not None:
            tree["files"][path] += line
        elif line.strip() and not line.startswith("#"):
            key, _, text = line.partition(": ")
            text = text.strip()
            if key == "opts":
                tree["opts"] = {**tree["opts"], **json.loads(text)}
            elif key in ("overlay", "fresh"):
                tree[key] += text.split()
            elif key == "once":
                tree["once"].append(text)
            elif key == "look":
                tree["look"] = text
            elif key in ("setup", "step"):
                tree["steps" if key == "step" else "setup"].append(text)
            else:
                raise SystemExit(f"{tree['name']}: {line}")
    for tree in found:
        tree["steps"] = tree["steps"] or ["test", "apply", "apply"]
        for key in ("overlay", "fresh", "once"):
            if not tree[key]:
                del tree[key]
    return found


def parsed(words):
    """The words of a step as [function, arguments, keywords]; None for a command of sh."""
    kind, _, rest = words.partition(" ")
    if kind == "test":
        return ["state.apply", ["t"], {"test": True}]
    if kind == "apply":
        return ["state.apply", ["t"], {}]
    if kind == "sh":
        return None
    fun, *words = shlex.split(rest)
    args, kw = [], {}
    for word in words:
        key, is_kw, value = word.partition("=")
        try:
            value = json.loads(value if is_kw else word)
        except ValueError:
            value = value if is_kw else word
        if is_kw and re.fullmatch(r"\w+", key):
            kw[key] = value
        else:
            args.append(value if not is_kw else word)
    return [fun, args, kw]


def plain(value):
    """What JSON does not know: a set is a list on Salt's wire, anything else its text."""
    return sorted(value, key=str) if isinstance(value, (set, frozenset)) else str(value)


def shell(root, command):
    return subprocess.run(["sh", "-c", command.replace("ROOT", root)], cwd=root, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False).stdout.decode(
        errors="replace"
    )


def listing(root):
    """What is below ROOT/w: {path: [type, mode, text or target]}."""
    out, top = {}, os.path.join(root, "w")
    for folder, folders, files in os.walk(top):
        for name in sorted(folders + files):
            full = os.path.join(folder, name)
            info = os.lstat(full)
            mode = "%04o" % stat.S_IMODE(info.st_mode)
            if stat.S_ISLNK(info.st_mode):
                row = ["link", "", os.readlink(full)]
            elif stat.S_ISDIR(info.st_mode):
                row = ["dir", mode, ""]
            elif stat.S_ISREG(info.st_mode):
                raw = open(full, "rb").read()
                try:
                    row = ["file", mode, raw.decode()]
                except UnicodeDecodeError:
                    row = ["file", mode, "base64:" + base64.b64encode(raw).decode()]
            else:
                row = ["other", mode, ""]
            out[os.path.relpath(full, top)] = row
    return out


def steady(value):
    """Returns of states without what differs from run to run: times, days of passwords, process ids, the inside of tracebacks."""
    if isinstance(value, list):
        return [steady(item) for item in value]
    if isinstance(value, str):
        return re.sub(r"Traceback \(most recent call last\):\n.*?\n(\S[^\n]*)\n", r"\1\n", value, flags=re.S)
    if not isinstance(value, dict):
        return value
    out = {key: steady(item) for key, item in value.items()}
    if "result" in out and "comment" in out:
        out.pop("start_time", None)
        out.pop("duration", None)
    if "pid" in out and "retcode" in out:
        out["pid"] = 0
    if out.get("lstchg") in (today(), today() - 1):
        out["lstchg"] = "TODAY"
    return out


def today():
    """The day as files of passwords have it."""
    return int(time.time() // 86400)


def mount(kind, target, flags=0, data=""):
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(kind.encode(), target.encode(), kind.encode(), flags, data.encode()):
        raise OSError(ctypes.get_errno(), f"mount {kind} {target}")


def hide(overlay, fresh):
    """Moves this process into a mount namespace with private directories."""
    if ctypes.CDLL(None).unshare(0x20000):
        raise OSError("no mount namespace")
    mount("none", "/", 0x4000 | 0x40000)
    mount("tmpfs", "/mnt")
    for n, path in enumerate(overlay):
        upper, work = f"/mnt/{n}/upper", f"/mnt/{n}/work"
        os.makedirs(upper)
        os.makedirs(work)
        mount("overlay", path, 0, f"lowerdir={path},upperdir={upper},workdir={work}")
    for path in fresh:
        os.makedirs(path, exist_ok=True)
        mount("tmpfs", path, 0, "mode=0755")


def record_privately(tree):
    """Records a tree in a process of its own, and in a mount namespace of its own where it hides directories."""
    down, up = os.pipe()
    pid = os.fork()
    if pid == 0:
        if "overlay" in tree or "fresh" in tree:
            hide(tree.get("overlay", []), tree.get("fresh", []))
        with open(up, "w", encoding="utf-8") as out:
            json.dump(record(tree), out)
        os._exit(0)
    os.close(up)
    with open(down, encoding="utf-8") as answer:
        text = answer.read()
    os.waitpid(pid, 0)
    return json.loads(text)


def record(tree):
    os.environ.clear()
    os.environ.update(ENVIRONMENT)
    root = tempfile.mkdtemp(prefix="trees")
    os.makedirs(root + "/w")
    for path, text in tree["files"].items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8", newline="") as file:
            file.write(text.replace("ROOT", root))
    for command in tree["setup"]:
        shell(root, command)
    own = {"root_dir": root, "cachedir": root + "/cache", "id": "web1", "file_client": "local", "pillar_roots": {"base": [root + "/pillar"]},
           "file_roots": {env: [f"{root}/{env}"] for env in ("base", "dev")},
           **json.loads(json.dumps({k: v for k, v in tree["opts"].items() if k != "grains"}).replace("ROOT", root))}
    with open(root + "/minion", "w", encoding="utf-8") as file:
        json.dump(own, file)
    grains = {"id": "web1", "os": "Debian", "os_family": "Debian", "kernel": "Linux", "shell": "/bin/sh", "pythonversion": [3, 11, 2, "final", 0], **tree["opts"].get("grains", {})}
    salt.loader.grains = lambda *_args, **_kw: dict(grains)
    os.makedirs(root + "/cache")
    opts = salt.config.minion_config(root + "/minion")
    opts.update({"__cli": "salt-call", "local": True})
    caller = salt.client.Caller(mopts=opts)
    functions = caller.sminion.functions
    answers = []
    for step in tree["steps"]:
        call = parsed(step)
        if call is None:
            shell(root, step[3:])
            continue
        fun, args, kw = json.loads(json.dumps(call).replace("ROOT", root))
        context = functions.pack["__context__"]
        context.clear()
        try:
            answer = {"return": functions[fun](*args, **kw), "retcode": context.get("retcode", 0)}
        except Exception as err:  # pylint: disable=broad-except
            answer = {"raised": type(err).__name__, "text": str(err), "retcode": context.get("retcode", 0)}
        answer["tree"] = listing(root)
        if tree["look"]:
            answer["look"] = shell(root, tree["look"])
        answers.append({"step": step, **steady(json.loads(json.dumps(answer, default=plain).replace(root, "ROOT")))})
        shutil.rmtree(root + "/cache/file_lists", ignore_errors=True)
    shutil.rmtree(root)
    return {**tree, "answers": answers}


def main():
    wanted, rows = sys.argv[2:], []
    here, once = os.path.dirname(os.path.abspath(sys.argv[1])), tempfile.mkdtemp(prefix="once")
    found = trees(sys.argv[1])
    for command in found[0].get("once", []):
        shell(once, command.replace("HERE", here))
    for tree in found:
        if wanted and tree["name"] not in wanted:
            continue
        run = record_privately  # Salt keeps much in its process
        row = run(json.loads(json.dumps(tree).replace("ONCE", once))) if "once" in tree else run(tree)
        rows.append(json.loads(json.dumps(row).replace(once, "ONCE")))
    shutil.rmtree(once)
    print("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]")


if __name__ == "__main__":
    os.umask(0o022)
    main()
