"""Records unified diffs of Python's difflib: python3 record.py > diffs.json. Texts are made by a seed."""
import difflib
import json
import random

random.seed(22)
rows = []


def keep(a, b, names=("", "")):
    ops = difflib.SequenceMatcher(None, a, b).get_opcodes()
    rows.append([a, b, *names, "".join(difflib.unified_diff(a, b, *names)), [[op[0], *op[1:]] for op in ops]])


def edited(lines, often):
    out = []
    for line in lines:
        draw = random.random()
        if draw < often / 3:
            continue
        if draw < often * 2 / 3:
            out.append(random.choice(lines))
        if draw < often:
            line = line.replace("\n", random.choice("xyz") + "\n")
        out.append(line)
    return out


keep([], [])
keep([], ["a\n"])
keep(["a\n"], [])
keep(["a\n"], ["a\n"])
keep(["a"], ["a\n"], ("old", "new"))
keep(["a\n", "b"], ["b", "a\n"])
for size, words, often in [(5, 3, 0.5), (12, 4, 0.3), (40, 10, 0.2), (40, 1000, 0.1), (199, 5, 0.1), (200, 5, 0.1), (201, 60, 0.1),
                           (250, 3, 0.05), (300, 100, 0.05), (400, 2, 0.1), (450, 10000, 0.02)]:
    for _ in range(2):
        lines = [random.choice(["", "# "]) + str(random.randrange(words)) + "\n" for _ in range(size)]
        keep(lines, edited(lines, often))
# lines that are popular, around lines that are not
many = ["}\n", "\n", "  end\n"]
lines = [random.choice(many) if random.random() < 0.6 else f"line {i}\n" for i in range(320)]
for often in (0.02, 0.1, 0.4):
    keep(lines, edited(lines, often))
keep(["same\n"] * 300, ["same\n"] * 290 + ["other\n"] + ["same\n"] * 10)
print("[" + ",\n".join(json.dumps(row) for row in rows) + "]")
