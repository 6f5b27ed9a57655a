"""Writes functions_3008.txt: the runner, wheel, execution and state functions of a Salt release on Linux, under the names that callers use.

Run in this directory with the Python of a Salt 3008 installation: python functions.py
Modules are loaded without asking whether they work on this machine. Those for other systems than Linux are left out.
"""

import ast
import functools
import logging
import re
import warnings

import salt.config
import salt.loader

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

OTHER_SYSTEMS = re.compile(
    r"(win_|mac_|aix|solaris|pw_|zone)|(at_solaris|chocolatey|macdefaults|macpackage|pkgin|pkgng|pkgutil|rbac_solaris|rdp|reg|smf_service|winrepo)$"
)
KINDS = (("execution", "modules", "module"), ("runner", "runners", "runner"), ("state", "states", "states"), ("wheel", "wheel", "wheel"))
EMPTY = ("__salt__", "__states__", "__utils__", "__context__", "__grains__", "__pillar__", "__proxy__", "__resource_funcs__", "__resource__")


@functools.cache
def names(path, stem):
    """The names under which a file may be loaded: __virtualname__, texts that __virtual__ returns, or the file's own."""
    with open(path, encoding="utf-8") as f:
        tree = ast.parse(f.read())
    out = set()
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__virtualname__" for t in node.targets) and isinstance(node.value, ast.Constant):
            out.add(node.value.value)
        if isinstance(node, ast.FunctionDef) and node.name == "__virtual__":
            for inner in ast.walk(node):
                if isinstance(inner, ast.Return) and isinstance(inner.value, ast.Constant) and isinstance(inner.value.value, str):
                    out.add(inner.value.value)
    return out or {stem}


lines = set()
opts = salt.config.minion_config("/dev/null")
for kind, ext, tag in KINDS:
    loader = salt.loader.LazyLoader(
        salt.loader._module_dirs(opts, ext, tag), opts, tag=tag, virtual_enable=False, pack={name: {} for name in EMPTY}
    )
    loader._load_all()
    for full in loader._dict:
        stem, _, fun = full.partition(".")
        path = loader.file_mapping.get(stem, [None])[0]
        if path is None or OTHER_SYSTEMS.match(stem):
            continue
        for name in names(path, stem):
            lines.add(f"{kind} {name}.{fun}")
with open("functions_3008.txt", "w", encoding="utf-8") as f:
    f.write("\n".join(sorted(lines)) + "\n")
