"""Records what module ssh of an installed Salt answers to calls.txt: answers_3008.json.

Run it with the Python of Salt 3008.3: python record.py. No call needs a network.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../../../modtest")
os.environ["PATH"] = HERE + "/fake:" + os.environ["PATH"]

import saltcalls  # noqa: E402

saltcalls.record(HERE, lambda _minion, _first: {})
