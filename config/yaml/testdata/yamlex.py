"""Writes yamlex3008.json: texts, and what salt.serializers.yamlex makes of them: python yamlex.py > yamlex3008.json"""

import json
import logging
import random

from salt.serializers.yamlex import deserialize

logging.disable(logging.CRITICAL)

TEXTS = [
    "", "~", "text", "7", "[1, 2]", "a: 1", "a: 1\na: 2", "a: {x: 1}\na: {y: 2}", "a: [1]\na: [2]", "a: !aggregate [1]\na: !aggregate [2, 1]",
    "a: !aggregate {x: 1}\na: !aggregate {y: 2}", "a: !aggregate first\na: !aggregate second", "!aggregate a: [1]\n!aggregate a: [2]", "a: 1\n!reset a: 2",
    "a: !aggregate [1]\n!reset a: !aggregate [2]", "a: {x: 1, y: {z: 1}}\na: {y: {w: 2}}", "a: !aggregate {x: {p: 1}}\na: !aggregate {x: {q: 2}}",
    "a: !aggregate {x: !aggregate {p: 1}}\na: !aggregate {x: !aggregate {q: 2}}", "a: !reset [1]", "a: !aggregate ~\na: !aggregate [1]", "a: 010\nb: 0\nc: 00\nd: -7\ne: +5\nf: 1_000",
    "a: 0x1f", "a: 1:30", "a: 0b11", "a: 1.5\nb: yes\nc: ~\nd: 'x'\ne: \"1\"", "a: !foo x", "a: [", "x: &a {k: 1}\ny: {<<: *a, l: 2}", "x: &a {k: {m: 1}}\ny: {<<: *a, k: {n: 2}}",
    "x: &a [1]\ny: *a\nx: *a", "? [a]\n: 1", "1: a\n1: b", "a: !aggregate [{x: 1}]\na: !aggregate [{x: 1}, {x: 2}]", "a: !aggregate [1]\na: [2]", "a: [1]\na: !aggregate [2]",
    "a: !!str 7\nb: !!int '7'", "a: {b: !aggregate [1]}\na: {b: !aggregate [2]}", "a: {b: {c: !aggregate [1]}}\na: {b: {c: !aggregate [2]}, d: 1}", "- a\n- {b: !aggregate 1}", "a: !aggregate 1\na: !aggregate [1, 2]",
    "a: !aggregate 'yes'", "a: !aggregate '010'", "a: x\na: {y: 1}", "a: {y: 1}\na: x", "!reset 7: a",
]
rnd = random.Random(5)


def value(depth):
    tag = rnd.choice(["", "", "!aggregate ", "!reset "])
    kind = rnd.choice(["scalar", "list", "map"] if depth else ["scalar"])
    if kind == "scalar":
        return tag + rnd.choice(["1", "2", "x", "'y'"])
    if kind == "list":
        return tag + "[" + ", ".join(value(depth - 1) for _ in range(rnd.randint(0, 3))) + "]"
    return tag + "{" + ", ".join(rnd.choice(["", "", "", "!reset ", "!aggregate "]) + rnd.choice("abc") + ": " + value(depth - 1) for _ in range(rnd.randint(0, 4))) + "}"


for _ in range(300):
    TEXTS.append("\n".join(rnd.choice(["", "", "", "!reset ", "!aggregate "]) + rnd.choice("abc") + ": " + value(3) for _ in range(rnd.randint(1, 4))))
rows = []
for text in TEXTS:
    try:
        rows.append([text, json.loads(json.dumps(deserialize(text)))])
    except Exception:  # pylint: disable=broad-except
        rows.append([text, "error"])
print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")
