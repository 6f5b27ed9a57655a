"""Writes corpus.json: what Python's re answers.

Run with any Python 3.11: python generate.py [seed [factor]] > corpus.json
"""
import json
import random
import re
import sys
import warnings

warnings.simplefilter("ignore")
SEED = int(sys.argv[1]) if len(sys.argv) > 1 else 3008
FACTOR = int(sys.argv[2]) if len(sys.argv) > 2 else 1
rng = random.Random(SEED)


def regexps():
    subjects = ["web1", "web10.example.com", "WEB1", "db1", "a", "", "aaa", "ab", "a\n", "a\nb", "été", "x y", "1_000", "a]b", "{,3}", "aa{,3}", "-", "\\", "a.b", "web1\n", "日本", "\x0b", "ａ"]
    patterns = ["web", "web.*", "web\\d+", "web\\d$", "^web1$", "web1\\Z", ".*\\.com", "(?i)web1", "web(?i)1", "(?P<n>a)(?P=n)", "(a)\\1", "(?=web)w", "(?!db).*", "(?<=a)b", "a{2}", "a{,3}$", "a{,}", "[[:alpha:]]",
                "[a-z&&[b]]", "[]a]", "[^]a]", "\\w+$", "\\W", "\\s", "\\bweb", "[\\b]", "\\Aweb", "\\z", "\\Q.\\E", "\\pL", "\\x77", "\\u0077eb", "\\U00000077eb", "\\u00e9", "[\\u00e9]t", "a|b", "(a|ab)(c|bcd)?$", "a.b", "(?s)a.b", "(?m)^b",
                "(?x) w e b # c", "a**", "a++", "(?>a)b", "(?#c)web", "(", ")", "[", "a{1001}", "\\8", "\\01", "\\101", "\\e", "\\-", "\\_", "a$", "(?:web|db)1?", "(?a)\\w+$", "(?u)x", "(?L)x", "(?i:WEB)1", "(?-i:web)", "x*", "", "\\", "(?P<1a>x)",
                "[a-]", "[z-a]", "[\\w-x]", "\\d{3,}", "a{2,1}", "{", "}", "]", "a{", "a{x}", "(?<n>a)", "\\N{DIGIT ONE}", "日.", "[^\\d]", "[\\D1]", "\\.", "web1|(?:)", "(?=.*\\d)web"]
    atoms = ["a", "b", "web", "\\d", "\\w", "\\s", "\\S", ".", "[a-c]", "[^a]", "(a|b)", "(?:web)", "^", "$", "\\b", "é", "[\\w.]", "\\.", "1"]
    for _ in range(400 * FACTOR):
        patterns.append("".join(rng.choice(atoms) + rng.choice(["", "", "", "*", "+", "?", "{2}", "{1,2}", "*?", "+?"]) for _ in range(rng.randrange(1, 5))))
    for pattern in patterns:
        try:
            compiled = re.compile(pattern)
        except (re.error, ValueError, OverflowError):
            yield [pattern, None]
            continue
        yield [pattern, [[s, bool(compiled.match(s)), bool(compiled.search(s))] for s in subjects]]


json.dump(list(regexps()), sys.stdout, separators=(",", ":"), ensure_ascii=True)
