"""Writes what Salt makes of the configurations in this directory: NAME/ROLE.json for each file NAME/ROLE.

A file holds the options that differ from a run with an empty file, and the warnings that were logged.
"{HERE}" stands for this directory. Run in this directory with the Python of a Salt 3008 installation.
"""

import json
import logging
import os
import pathlib
import tempfile

import salt.config

HERE = pathlib.Path.cwd()


class Lines(logging.Handler):
    def emit(self, record):
        self.lines.append(record.getMessage().replace(str(HERE), "{HERE}"))


def plain(value):
    if hasattr(value, "items"):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)) or type(value).__name__ == "ImmutableList":
        return [plain(v) for v in value]
    if isinstance(value, str):
        return value.replace(str(HERE), "{HERE}")
    return value


def load(role, path):
    handler = Lines(logging.WARNING)
    handler.lines = []
    logger = logging.getLogger("salt.config")
    logger.addHandler(handler)
    try:
        opts = getattr(salt.config, f"{role}_config")(str(path))
    finally:
        logger.removeHandler(handler)
    return {k: plain(v) for k, v in dict(opts).items()}, handler.lines


for role in ("master", "minion"):
    with tempfile.TemporaryDirectory() as tmp:
        bare = os.path.join(tmp, role)
        pathlib.Path(bare).write_text("id: bare\n")
        standard, _ = load(role, bare)
    for path in sorted(HERE.glob(f"*/{role}")):
        opts, lines = load(role, path)
        diff = {k: v for k, v in opts.items() if k not in standard or standard[k] != v}
        out = {"options": diff, "log": list(dict.fromkeys(lines))}
        path.with_name(role + ".json").write_text(json.dumps(out, indent=1) + "\n")
