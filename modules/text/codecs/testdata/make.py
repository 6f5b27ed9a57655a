"""Records what Python 3.11 makes of texts and bytes in many encodings:

    python modules/text/codecs/testdata/make.py >modules/text/codecs/testdata/python311.json

Each case is [encoding, handler, text or bytes in hex, result or [class, text of the error]].
"""

import json

TEXTS = ["", "plain", "é", "aéb", "éèx", "€ 5", "日本", "\U0001f600!", "Ж", "ß\x81\u0178", "\ufeffa", "\x85\xa0"]
BYTES = [b"", b"plain", b"\xe9", b"a\xe9b", b"\xc3\xa9", b"\xe2\x82", b"\xf0\x9f\x98\x80", b"\xff\xfea\x00", b"\xfe\xff\x00a", b"a\x00b",
         b"\x00\xd8a\x00", b"\x00\xdca\x00", b"\x3d\xd8\x00\xde", b"\x3d\xd8", b"\x3d\xd8\x00", b"\x00\x00\x11\x00", b"\x00\xd8\x00\x00", b"a\x00\x00\x00", b"\xff\xfe\x00\x00a\x00\x00\x00",
         b"\x00\x00\xfe\xff\x00\x00\x00a", b"\x81\x8d", b"\xef\xbb\xbfx", b"\xed\xa0\x80", b"\xe0\x80\x80"]
TABLES = ["iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5", "iso8859-7", "iso8859-9", "iso8859-10", "iso8859-13", "iso8859-14",
          "iso8859-15", "iso8859-16", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1257", "cp437", "cp850", "cp852", "cp858", "cp866",
          "koi8-r"]
ENCODINGS = ["utf-8", "UTF8", "u8", "utf-8-sig", "utf-16", "utf-16-le", "utf_16be", "utf-32", "utf-32-le", "UTF-32BE", "ascii", "us-ascii", "latin-1",
             "ISO-8859-1", "l1", "windows-1252", "cp1251", "nope", "utf--16 le", "iso8859-15"]
ENCODE = ["strict", "ignore", "replace", "backslashreplace", "xmlcharrefreplace"]
DECODE = ["strict", "ignore", "replace", "backslashreplace"]


def attempt(f):
    try:
        return f()
    except Exception as e:  # the class and the text are what is recorded
        return [type(e).__name__, str(e)]


def hexed(v):
    return v.hex() if isinstance(v, bytes) else v


def main():
    out = {"encode": [], "decode": [], "tables": []}
    for enc in ENCODINGS:
        for handler in ENCODE:
            for text in TEXTS:
                out["encode"].append([enc, handler, text, hexed(attempt(lambda: text.encode(enc, handler)))])
        for handler in DECODE:
            for data in BYTES:
                out["decode"].append([enc, handler, data.hex(), attempt(lambda: data.decode(enc, handler))])
    for enc in TABLES:
        row = "".join(bytes([i]).decode(enc, "replace") for i in range(256))
        out["tables"].append([enc, row])
    out["encode"].append(["ascii", "nope", "é", attempt(lambda: "é".encode("ascii", "nope"))])
    out["decode"].append(["ascii", "nope", "e9", attempt(lambda: b"\xe9".decode("ascii", "nope"))])
    print(json.dumps(out, indent=0))


main()
