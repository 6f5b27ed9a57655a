"""Writes corpus.json: what Python's fnmatch answers.

Run with any Python 3.11: python generate.py [seed [factor]] > corpus.json
"""
import fnmatch
import json
import random
import re
import sys

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 3008
FACTOR = int(sys.argv[2]) if len(sys.argv) > 2 else 1
rng = random.Random(SEED)


def globs():
    names = ["web1", "web2.example.com", "db-1", "a", "", "b]c", "[x]", "w*b", "é日", "a\nb", "^a", "!b", "-", "z-a", "a-c", "\\a"]
    fixed = ["*", "?", "web?", "web*", "*1", "w[ea]b1", "w[!x]b1", "[!", "[", "[]", "[]]", "[!]]", "[]-a]", "[a-]", "[-a]", "[z-a]", "[!z-a]", "[a-c-e]", "[a-cx-z]*",
             "[^a]*", "[[]x]", "*.*.com", "**", "*[0-9]", "[a&&b]", "[a||b]", "[a~~b]", "[\\a]*", "\\*", "[x-yz-a]", "[--a]", "[!--a]", "a[!b]", "", "[a-]]", "[]a-c]*", "[a-b-c]", "[c-a-b]"]
    alphabet = list("ab*?[]!-^\\zéx1")
    fixed += ["".join(rng.choice(alphabet) for _ in range(rng.randrange(1, 8))) for _ in range(300 * FACTOR)]
    for pattern in fixed:
        subjects = names + ["".join(rng.choice("abzx1-]!é[") for _ in range(rng.randrange(4))) for _ in range(6)]
        try:
            yield [pattern, [[s, fnmatch.fnmatchcase(s, pattern)] for s in subjects]]
        except (re.error, IndexError):
            continue


json.dump(list(globs()), sys.stdout, separators=(",", ":"), ensure_ascii=True)
