"""Records what Salt 3008.3's serializer configparser makes of texts and of data:

    python make.py >salt3008.json    (with the Python of a Salt 3008.3 installation)

A row is [kind, input, result or "error: text"].
"""

import json

from salt.serializers import configparser

TEXTS = ["", "\n", "[a]\n", "[a]\nx = 1\ny: 2\nZ=3\n", "x=1\n", "[a]\nx\n", "[a]\n=1\n", "[a]\nx=1\nx=2\n", "[a]\n[a]\n", "[a]\nx=1\n  more\n\n  last\n\ny=2\n",
         "# c\n; d\n[a] trailing\nx = 1 ; no comment\n # c\n y = 2\n", "[DEFAULT]\nd = 1\n[a]\nx=%(d)s/%(X2)s\nx2=q\n[b]\nd=9\nz=%(d)s\n", "[a]\nx=%(nope)s\n", "[a]\nx=100%\n", "[a]\nx=%(y\n",
         "[a]\nx=%(y)s\ny=%(x)s\n", "[a]\nx=50%%\n", "[a]b]\nx=1\n", "[]\n", "[a]\nx==1\ny=:2\nz : = 3\n", "[a]\nx=\ny =   \n", "[a]\r\nx=1\r\n", "[a]\nbroken\nalso broken\nx=1\n", "  [a]\n  x=1\n    two\n",
         "[DEFAULT]\n[DEFAULT]\nx=1\n[a]\n", "[a]\nx=1\n[b]\nx=2\n\ttab\n", "[ a ]\nkey with blanks = v\n", "[é]\nÜ=ß\n", "[a]\nx=1\n#c\n  y\n", "[a]\nx=a%%b%(y)s\ny=1\n", "[DEFAULT]\nx=1\n\n\n[a]\ny=2\n  \n"]
DATA = [{}, {"a": {}}, {"a": {"x": 1, "Y": "two", "z": True}}, {"DEFAULT": {"d": 1}, "a": {"x": None}}, {"a": {"x": "1\n2"}, "DEFAULT": {"d": "e"}}, {"a": 1}, [1], "text", {"a": {"x": "50%"}}, {"a": {"x": "50%% %(y)s"}},
        {"a": {"x": [1, "b"], "X": 2.5}}, {"1": {"2": 3}}, {"DEFAULT": {}}, {"a": {"é": "ü % x"}}]


def attempt(f, v):
    try:
        return f(v)
    except Exception as error:
        return f"error: {error}"


rows = [["read", t, attempt(configparser.deserialize, t)] for t in TEXTS]
rows += [["write", d, attempt(configparser.serialize, d)] for d in DATA]
print("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]")
