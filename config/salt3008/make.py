"""Writes master.yaml, minion.yaml and types.yaml from the option tables of the Salt release that runs it.

Run in this directory with the Python of a Salt 3008 installation: python make.py. Then, where config is:
go test . -run Tables -pack
"""

import pathlib

import yaml

import salt.config
import salt.version


def plain(value):
    if hasattr(value, "items"):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)) or type(value).__name__ == "ImmutableList":
        return [plain(v) for v in value]
    return value


def dump(key, value):
    if key == "ipc_write_buffer":  # sized by memory only when it is "dynamic"
        value = 0
    if key == "ssh_config_file":  # in the home directory of the process
        value = "~/.ssh/config"
    if value in ({}, []):
        return f"{key}: {value}\n"
    flow = None if isinstance(value, (dict, list)) else False
    return yaml.safe_dump({key: value}, default_flow_style=flow, width=10**6, sort_keys=False)


def types(value):
    if isinstance(value, tuple):
        return "[" + ", ".join(t.__name__ for t in value) + "]"
    return value.__name__


RELEASE = salt.version.__version__
for role in ("master", "minion"):
    table = f"DEFAULT_{role.upper()}_OPTS"
    text = (f"# Options of a Salt {RELEASE} {role} with their defaults, in Salt's order ({table}). user is left\n"
            "# out: it is the user of the process. Made from the release itself, not by hand.\n")
    text += "".join(dump(k, plain(v)) for k, v in getattr(salt.config, table).items() if k != "user")
    pathlib.Path(f"{role}.yaml").write_text(text)

text = f"# Python type or types of the options that Salt {RELEASE} checks while loading (VALID_OPTS).\n"
text += "".join(f"{k}: {types(v)}\n" for k, v in salt.config.VALID_OPTS.items())
pathlib.Path("types.yaml").write_text(text)
