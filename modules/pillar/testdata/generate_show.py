"""How generate.py and sqlrows.py write values."""

import math


def show(v):
    if v is None:
        return "null"
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, int):
        return f"int {v}"
    if isinstance(v, float):
        return "float " + ("nan" if math.isnan(v) else "inf" if v == math.inf else "-inf" if v == -math.inf else "%.17g" % v)
    if isinstance(v, str):
        return "str " + v
    if isinstance(v, bytes):
        return "bytes " + v.hex()
    if isinstance(v, (set, frozenset)):
        return "[" + "|".join(sorted(show(x) for x in v)) + "]"
    if isinstance(v, dict):
        return "{" + "|".join(show(k) + "=>" + show(x) for k, x in v.items()) + "}"
    return "[" + "|".join(show(x) for x in v) + "]"
