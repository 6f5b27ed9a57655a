"""Runs execution functions of an installed Salt for interop_test.go.

Argument: the minion's configuration file. Each line of standard input is a JSON list [function, [words]]; each line
of standard output is a JSON map with return and retcode, or class and error, and the log lines from WARNING on.
"""

import json
import logging
import os
import sys
import warnings

warnings.simplefilter("ignore")
answers = os.fdopen(os.dup(1), "w")
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

import salt.config  # noqa: E402
import salt.minion  # noqa: E402
import salt.utils.args  # noqa: E402

JID = "20261121000000000001"
lines = []


class Keep(logging.Handler):
    def emit(self, record):
        if record.name.startswith(("salt.loaded.int.module", "salt.loaded.int.utils.network", "salt.utils.path", "salt.fileclient", "salt.template", "salt.utils.dictupdate", "salt.utils.find", "salt.utils.pycrypto", "salt.utils.http", "salt.loaded.int.sdb")):
            lines.append(record.levelname + " " + record.getMessage())


def call(minion, fun, words):
    function = minion.functions[fun]
    data = {"fun": fun, "pid": 1, "jid": JID, "tgt": "salt-call"}
    args, kwargs = salt.minion.load_args_and_kwargs(function, salt.utils.args.parse_input(words), data=data)
    context = minion.executors.pack["__context__"]
    context["retcode"] = 0
    value = minion.executors["direct_call.execute"](minion.opts, {"fun": fun, "arg": args}, function, args, kwargs)
    return {"return": value, "retcode": context.get("retcode", 0)}


def main():
    opts = salt.config.minion_config(sys.argv[1])
    opts.update({"caller": True, "local": True, "__cli": "salt-call"})
    minion = salt.minion.SMinion(opts)
    handler = Keep()
    handler.setLevel(logging.WARNING)
    logging.getLogger().addHandler(handler)
    for line in sys.stdin:
        fun, words = json.loads(line)
        lines.clear()
        try:
            out = call(minion, fun, words)
        except Exception as exc:  # pylint: disable=broad-except
            out = {"class": type(exc).__name__, "error": str(exc)}
        out["log"] = list(lines)
        print(json.dumps(out, default=repr), file=answers, flush=True)


main()
