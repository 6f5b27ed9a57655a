"""Records what Python's re.subn makes of texts: python edits.py > edits.json"""

import json
import re

PATTERNS = [
    ("x*", ""), ("|a", ""), ("a|", ""), ("^", "m"), ("$", "m"), ("$", ""), ("^$", "m"), (r"\b", ""), (r"\w+", ""), (r"(\w)(?P<n>\d)?(\s)", ""),
    ("(?P<a>a)(b)?", ""), (r"(?P<a>a)(b)\2", ""), (r"(?P<q>[ab])(?P=q)", ""), ("(?i)B", ""), ("(?i)b$", "m"), ("b.c", "s"), ("^b", "m"), ("^b", ""),
    ("a(?!b)", ""), ("(?<=a)b", ""), (r"[\W\d]", ""), (r"[^\s]+", ""), (r"\s+$", "m"), (r"\S", ""), ("a b # c", "x"), (r"^\s*#\s*(a.*)$", "m"),
    ("(a)|(b)|(c)", ""), ("(?:a|b)+?", ""), ("ä", ""), (r"\xe4", ""), ("[é-ü]", ""), (r"(?m)^a", ""), (r"\Aa", "m"), (r"b\Z", "m"), ("(a)?(?(1)b|c)", ""),
    ("a{,2}", ""), (r"[\d-]", ""), ("(.*)", ""), ("(.*)\n", ""), ("(a*)*", ""), ("(a|ab)(c|bcd)(d*)", ""),
]
TEXTS = ["", "a", "ab", "abab", "a1 b2\n", "aab\nbbc\n", "#  ab c\n# a\n b", "abcd xx", "ä b é ü ß\n", "a\r\nb\r\n", "  \n\n a \t\n", "aXb\vc", "A B\nb", "0-9"]
TEMPLATES = [r"<\g<0>>", r"\1|", r"\g<1>.\n", "[\\\\]"]


def main():
    rows = []
    for pattern, letters in PATTERNS:
        flags = 0
        for letter in letters:
            flags |= getattr(re, letter.upper())
        for text in TEXTS:
            for template in TEMPLATES:
                for raw in (False, True):
                    p, t, r = (s.encode() if raw else s for s in (pattern, text, template))
                    try:
                        out, n = re.subn(p, r, t, 0, flags)
                        want = [out.decode("latin-1") if raw else out, n]
                    except re.error as err:
                        want = str(err)
                    rows.append([pattern, letters, text, template, raw, want])
    print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")


main()
