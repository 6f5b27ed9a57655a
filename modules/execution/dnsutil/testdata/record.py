"""Records what module dnsutil of an installed Salt answers to calls.txt: answers_3008.json.

Run it with the Python of Salt 3008.3, on a host without dig: python record.py. An answer is the return and the exit
code of the job, or class and text of the exception, and what the dig of fake was asked. No call needs a network.
"""

import json
import os
import shlex
import shutil
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))

import salt.config  # noqa: E402
import salt.minion  # noqa: E402
import salt.utils.args  # noqa: E402

JID = "20261121000000000001"


def call(minion, fun, words):
    function = minion.functions[fun]
    data = {"fun": fun, "pid": 1, "jid": JID, "tgt": "salt-call"}
    args, kwargs = salt.minion.load_args_and_kwargs(function, salt.utils.args.parse_input(words), data=data)
    context = minion.executors.pack["__context__"]
    context["retcode"] = 0
    value = minion.executors["direct_call.execute"](minion.opts, {"fun": fun, "arg": args}, function, args, kwargs)
    return {"return": value, "retcode": context.get("retcode", 0)}


def answer(minion, asked, fun, words):
    open(asked, "w").close()
    try:
        out = call(minion, fun, words)
    except Exception as exc:  # pylint: disable=broad-except
        out = {"class": type(exc).__name__, "error": str(exc)}
    with open(asked) as lines:
        out["asked"] = lines.read().splitlines()
    return out


def main():
    if shutil.which("dig"):
        sys.exit("there is a dig on this host")
    path, answers = os.environ["PATH"], {}
    with tempfile.TemporaryDirectory() as tmp:
        os.environ["BRINE_T_ASKED"] = asked = tmp + "/asked"
        with open(tmp + "/minion", "w") as conf:
            conf.write(f"id: web1\nroot_dir: {tmp}\nfile_client: local\nenable_fqdns_grains: False\n")
        opts = salt.config.minion_config(tmp + "/minion")
        opts.update({"caller": True, "local": True, "__cli": "salt-call"})
        minion = salt.minion.SMinion(opts)
        with open(HERE + "/calls.txt") as calls:
            for line in calls:
                if line.startswith("#"):
                    continue
                how, fun, *words = shlex.split(line)
                os.environ["PATH"] = HERE + "/fake:" + path if how == "dig" else path
                answers[line.strip()] = answer(minion, asked, fun, words)
    with open(HERE + "/answers_3008.json", "w") as out:
        json.dump(answers, out, indent=1)
        out.write("\n")


main()
