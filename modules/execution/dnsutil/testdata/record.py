"""Records what module dnsutil of an installed Salt answers to calls.txt: answers_3008.json.

Run it with the Python of Salt 3008.3, on a host without dig: python record.py. No call needs a network.
"""

import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PATH = os.environ["PATH"]
sys.path.insert(0, HERE + "/../../../modtest")

import saltcalls  # noqa: E402


def prepare(_, how):
    os.environ["PATH"] = HERE + "/fake:" + PATH if how == "dig" else PATH
    return {}


if shutil.which("dig"):
    sys.exit("there is a dig on this host")
saltcalls.record(HERE, prepare)
