"""Calls functions of a returner of Salt, and tells what they gave.

Reads from standard input, in msgpack: {"name": "postgres", "opts": {...}, "calls": [[function, [argument, ...]], ...]}
Writes to standard output, in msgpack, for each call {"return": value} or {"error": text}.

Run with the Python of a Salt installation; drivers of databases come by PYTHONPATH.
"""

import logging
import sys
import time

import msgpack
import salt.config
import salt.loader
import salt.utils.jid  # postgres uses it and does not import it

logging.disable(logging.CRITICAL)


def main():
    wanted = msgpack.unpackb(sys.stdin.buffer.read(), raw=False, strict_map_key=False)
    opts = salt.config.minion_config("/nonexistent")
    opts.update({"file_client": "local", "id": "web1", "grains": {}, "pillar": {}, **wanted["opts"]})
    functions = salt.loader.minion_mods(opts)
    returners = salt.loader.returners(opts, functions)
    out = []
    started = time.monotonic()
    for name, args in wanted["calls"]:
        try:
            out.append({"return": returners[wanted["name"] + "." + name](*args)})
        except Exception as exc:  # pylint: disable=broad-except
            out.append({"error": type(exc).__name__ + ": " + str(exc)})
    took = time.monotonic() - started
    sys.stdout.buffer.write(msgpack.packb({"calls": out, "seconds": took}, use_bin_type=True))


main()
