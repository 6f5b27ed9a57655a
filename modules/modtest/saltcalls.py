"""Records what functions of an installed Salt 3008.3 answer: the other side of modtest.Recorded.

calls.txt holds a call a line: a word for the test, the function, its arguments as in a shell. An answer is the return
and the exit code of the job, or class and text of the exception, and what programs noted in the file BRINE_T_ASKED.
"""

import json
import os
import shlex
import tempfile
import warnings

warnings.simplefilter("ignore")

import salt.config  # noqa: E402
import salt.minion  # noqa: E402
import salt.utils.args  # noqa: E402

JID = "20261121000000000001"


def run(minion, fun, words):
    function = minion.functions[fun]
    data = {"fun": fun, "pid": 1, "jid": JID, "tgt": "salt-call"}
    args, kwargs = salt.minion.load_args_and_kwargs(function, salt.utils.args.parse_input(words), data=data)
    context = minion.executors.pack["__context__"]
    value = minion.executors["direct_call.execute"](minion.opts, {"fun": fun, "arg": args}, function, args, kwargs)
    return {"return": value, "retcode": context.get("retcode", 0)}


def answer(minion, fun, words):
    asked = os.environ["BRINE_T_ASKED"]
    open(asked, "w").close()
    try:
        out = run(minion, fun, words)
    except Exception as exc:  # pylint: disable=broad-except
        out = {"class": type(exc).__name__, "error": str(exc)}
    with open(asked) as lines:
        out["asked"] = lines.read().splitlines()
    return out


def record(folder, prepare):
    """Writes answers_3008.json of a folder. prepare gets the minion and the first word of a call; it gives what a
    folder of this machine is called in calls and answers, by its path."""
    answers = {}
    with tempfile.TemporaryDirectory() as tmp, open(folder + "/calls.txt") as calls:
        os.environ["BRINE_T_ASKED"] = tmp + "/asked"
        with open(tmp + "/minion", "w") as conf:
            conf.write(f"id: web1\nroot_dir: {tmp}\nfile_client: local\nenable_fqdns_grains: False\n")
        opts = salt.config.minion_config(tmp + "/minion")
        opts.update({"caller": True, "local": True, "__cli": "salt-call"})
        minion = salt.minion.SMinion(opts)
        for line in calls:
            if line.startswith("#"):
                continue
            first, fun, *words = shlex.split(line)
            minion.executors.pack["__context__"].clear()
            names = prepare(minion, first)
            for path, name in names.items():
                words = [w.replace(name, path) for w in words]
            text = json.dumps(answer(minion, fun, words))
            for path, name in names.items():
                text = text.replace(path, name)
            answers[line.strip()] = json.loads(text)
    unknown = [call for call, a in answers.items() if "?? no answer" in a["asked"]]
    if unknown:
        raise SystemExit(f"a fake program had no answer: {unknown}")
    with open(folder + "/answers_3008.json", "w") as out:
        json.dump(answers, out, indent=1)
        out.write("\n")
