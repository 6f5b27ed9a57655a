"""Records what module service of an installed Salt answers to calls.txt, on the hosts beside it: answers_3008.json.

Run it as root with the Python of Salt 3008.3: python record.py. An answer is the return and the exit code of the job,
or class and text of the exception, and what the programs in fake were asked. Paths of the module are led to the host.
"""

import json
import os
import shlex
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
os.environ["PATH"] = HERE + "/fake:" + os.environ["PATH"]

import salt.config  # noqa: E402
import salt.minion  # noqa: E402
import salt.utils.args  # noqa: E402

JID = "20261121000000000001"
BOOTED = {"salt.utils.systemd.booted": True}


def load(tmp):
    with open(tmp + "/minion", "w") as conf:
        conf.write(f"id: web1\nroot_dir: {tmp}\nfile_client: local\nenable_fqdns_grains: False\n")
    opts = salt.config.minion_config(tmp + "/minion")
    opts.update({"caller": True, "local": True, "__cli": "salt-call"})
    minion = salt.minion.SMinion(opts)
    minion.functions.pack["__context__"].update(BOOTED)
    module = minion.functions["service.status"].func.__globals__
    if "systemd_service" not in module["__file__"]:
        sys.exit("another module service was loaded: " + module["__file__"])
    return minion, module


def call(minion, fun, words):
    function = minion.functions[fun]
    data = {"fun": fun, "pid": 1, "jid": JID, "tgt": "salt-call"}
    args, kwargs = salt.minion.load_args_and_kwargs(function, salt.utils.args.parse_input(words), data=data)
    context = minion.executors.pack["__context__"]
    value = minion.executors["direct_call.execute"](minion.opts, {"fun": fun, "arg": args}, function, args, kwargs)
    return {"return": value, "retcode": context.get("retcode", 0)}


def answer(minion, module, host, fun, words):
    directory = os.path.join(HERE, host)

    def root(path, other):
        base = directory if other in (None, "", os.path.sep) else other
        return os.path.join(base, os.path.relpath(path, os.path.sep))

    module["_root"] = root
    context = minion.executors.pack["__context__"]
    context.clear()
    context.update(BOOTED)
    asked = os.environ["BRINE_T_ASKED"]
    open(asked, "w").close()
    os.environ["BRINE_T_HOST"] = directory
    try:
        out = call(minion, fun, [w.replace("DIR", directory) for w in words])
    except Exception as exc:  # pylint: disable=broad-except
        out = {"class": type(exc).__name__, "error": str(exc)}
    with open(asked) as lines:
        out["asked"] = lines.read().splitlines()
    return json.loads(json.dumps(out).replace(HERE + "/fake/", "FAKE/").replace(directory, "DIR"))


def main():
    answers = {}
    with tempfile.TemporaryDirectory() as tmp:
        os.environ["BRINE_T_HOST"] = HERE + "/debian12"
        os.environ["BRINE_T_ASKED"] = tmp + "/asked"
        minion, module = load(tmp)
        with open(HERE + "/calls.txt") as calls:
            for line in calls:
                if not line.startswith("#"):
                    host, fun, *words = shlex.split(line)
                    answers[line.strip()] = answer(minion, module, host, fun, words)
    unknown = [call for call, a in answers.items() if "?? no answer" in a["asked"]]
    if unknown:
        sys.exit(f"a fake program had no answer: {unknown}")
    with open(HERE + "/answers_3008.json", "w") as out:
        json.dump(answers, out, indent=1)
        out.write("\n")


main()
