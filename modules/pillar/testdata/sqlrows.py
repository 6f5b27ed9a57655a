"""Writes sqlrows3008.json: what Salt's sql_base makes of the rows of queries.

Run with the Python of a Salt 3008.3 installation: python sqlrows.py > sqlrows3008.json
A row has the arguments of the external pillar, what each query gives ([names, rows]), and the pillar, or the error.
"""

import contextlib
import copy
import json
import logging
import random
import sys

from generate_show import show
from salt.pillar.sql_base import SqlBaseExtPillar

logging.disable(logging.CRITICAL)


class Recorded(SqlBaseExtPillar):
    def __init__(self, tables):
        super().__init__()
        self.tables = tables

    @classmethod
    def _db_name(cls):
        return "none"

    @contextlib.contextmanager
    def _get_cursor(self):
        outer = self

        class Cursor:
            def execute(self, query, args):
                assert args == ("web1",)
                self.names, self.rows = copy.deepcopy(outer.tables[query])
                self.description = [(name,) for name in self.names]

            def fetchall(self):
                return [tuple(row) for row in self.rows]

        yield Cursor()


CASES = []


def case(args, tables):
    CASES.append({"args": args, "tables": tables})


ABC = [["a", "b", "c"], [["x", "y", 1], ["x", "z", 2], ["x", "y", 3], ["w", None, None]]]
SEVEN = [["1", "2", "3", "4", "5", "6", "7"], [["a", "b", "c", "d", "e", "f", 1], ["a", "b", "c", "f", "g", "h", 2], ["a", "z", "h", "y", "j", "k", 3], ["a", "z", "h", "y", "k", "l", 4]]]
for extra in ({}, {"as_list": True}, {"depth": 1}, {"depth": 2}, {"depth": 9}, {"with_lists": "1,3"}, {"with_lists": [1]}, {"with_lists": [2]}, {"with_lists": [3]},
              {"ignore_null": True}, {"as_list": True, "depth": 1}, {"as_json": True}, {"with_lists": "x"}, {"with_lists": ""}, {"with_lists": " 1 , 2 "}):
    case([dict(query="q", **extra)], {"q": ABC})
    case([dict(query="q", **extra)], {"q": SEVEN})
    case({"root": dict(query="q", **extra)}, {"q": ABC})
case(["q"], {"q": ABC})
case(["q", "r"], {"q": ABC, "r": [["a", "b"], [["x", 7], ["n", 8]]]})
case([["q", 1], ["r", 0]], {"q": ABC, "r": [["a", "b"], [["x", 7]]]})
case({"b": "q", "a": "r"}, {"q": ABC, "r": [["a", "b"], [["x", 7]]]})
case(["", [], [""], {}, {"query": ""}, {"depth": 1}, None, 7, "q"], {"q": ABC})
case(["q"], {"q": [["a"], [["x"], ["y"], [None], ["x"]]]})
case([{"query": "q", "as_list": True}], {"q": [["a"], [["x"], ["y"], ["x"]]]})
case(["q"], {"q": [[], [[]]]})
case(["q"], {"q": [["a", "b"], []]})
case([{"query": "q", "as_json": True}], {"q": [["a"], [['{"a": {"b": [1, 2]}, "c": 3}'], ['{"a": {"b": [1, 3]}, "d": 4}'], [{"e": 5}]]]})
case([{"query": "q", "as_json": True, "as_list": True}], {"q": [["a"], [['{"a": {"b": [1, 2]}, "c": 3}'], ['{"a": {"b": [1, 3]}, "d": 4}']]]})
for bad in ("[1]", "{", "", "7", None, 7, [1]):
    case([{"query": "q", "as_json": True}], {"q": [["a"], [[bad]]]})
case(["q"], {"q": [["a", "b"], [[[1], 2]]]})
case(["q"], {"q": [["a", "b", "c"], [[{"x": 1}, 2, 3]]]})
case(["q"], {"q": [["a", "b", "c"], [["x", 1, 2], ["x", 3, 4], ["x", [1], 4]]]})
for lists in ([1, 2, 3], [2, 3], [1, 3], [4], [0], "2"):
    case([{"query": "q", "with_lists": lists}], {"q": [["a", "b", "c", "d"], [["x", "y", "z", 1], ["x", "y", "z", 2], ["x", "v", "u", 3], ["t", "y", "z", 1]]]})
    case([{"query": "q", "with_lists": lists, "as_list": True, "depth": 2}], {"q": [["a", "b", "c", "d"], [["x", "y", "z", 1], ["x", "y", "z", 2], ["x", "v", "u", 3], ["t", "y", "z", 1]]]})

rnd = random.Random(7)
for _ in range(600):
    tables, args = {}, []
    for query in rnd.sample(["q", "r", "s"], rnd.choice([1, 1, 1, 2, 3])):
        width = rnd.randint(1, 6)
        names = [rnd.choice("abcdef") if rnd.random() < 0.1 else "c%d" % i for i in range(width)]
        values = ["x", "y", "z", 1, 2, None] + ([["l"]] if rnd.random() < 0.05 else [])
        tables[query] = [names, [[rnd.choice(values) for _ in range(width)] for _ in range(rnd.randint(0, 6))]]
        details = {"query": query}
        if rnd.random() < 0.6:
            details["depth"] = rnd.randint(0, 6)
        if rnd.random() < 0.4:
            details["as_list"] = rnd.choice([True, False])
        if rnd.random() < 0.4:
            details["ignore_null"] = True
        if rnd.random() < 0.5:
            details["with_lists"] = [rnd.randint(0, 6) for _ in range(rnd.randint(1, 3))]
        args.append(details)
    if rnd.random() < 0.3:
        args = {rnd.choice("xyz") + str(i): a for i, a in enumerate(args)}
    case(args, tables)

for c in CASES:
    args = copy.deepcopy(c["args"])
    try:
        if isinstance(args, dict):
            out = Recorded(c["tables"]).fetch("web1", {}, **args)
        else:
            out = Recorded(c["tables"]).fetch("web1", {}, *args)
        c["result"] = show(out)
    except Exception as exc:  # pylint: disable=broad-except
        c["result"] = f"error {type(exc).__name__}: {exc}"
json.dump(CASES, sys.stdout)
