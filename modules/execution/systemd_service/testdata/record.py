"""Records what module service of an installed Salt answers to calls.txt, on the hosts beside it: answers_3008.json.

Run it with the Python of Salt 3008.3: python record.py. Salt is told that systemd has booted the machine, and the paths
that the module looks at are led to the host.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../../../modtest")
os.environ["PATH"] = HERE + "/fake:" + os.environ["PATH"]
os.environ["BRINE_T_HOST"] = HERE + "/debian12"  # for the grains

import saltcalls  # noqa: E402


def prepare(minion, host):
    directory = os.path.join(HERE, host)
    booted = {"salt.utils.systemd.booted": True}
    minion.functions.pack["__context__"].update(booted)
    minion.executors.pack["__context__"].update(booted)
    module = minion.functions["service.status"].func.__globals__
    if "systemd_service" not in module["__file__"]:
        sys.exit("another module service was loaded: " + module["__file__"])

    def root(path, other):
        base = directory if other in (None, "", os.path.sep) else other
        return os.path.join(base, os.path.relpath(path, os.path.sep))

    module["_root"] = root
    os.environ["BRINE_T_HOST"] = directory
    return {directory: "DIR", HERE + "/fake": "FAKE"}


saltcalls.record(HERE, prepare)
