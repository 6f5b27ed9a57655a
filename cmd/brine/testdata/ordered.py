"""Writes ordered3008.json: what salt-call prints of a template that hands maps of the pillar to functions and prints them
where the order of their keys shows, and of functions of pillar that compile the pillar a second time.

Run with the Python of a Salt 3008.3 installation: python ordered.py > ordered3008.json
The template and the pillar stand in script/ordered.txtar.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
CALLS = [
    ["slsutil.renderer", "path={root}/srv/ordered.jinja", "default_renderer=jinja"],
    ["pillar.items"],
    ["pillar.ls"],
    ["pillar.items", "pillarenv=nope"],
    ["pillar.items", "pillar={z:{a:1}}"],
    ["pillar.obfuscate"],
]


def main():
    root = tempfile.mkdtemp()
    script = open(f"{HERE}/script/ordered.txtar").read()
    for part in script.split("\n-- ")[1:]:
        name, text = part.split(" --\n", 1)
        os.makedirs(os.path.dirname(f"{root}/{name}"), exist_ok=True)
        with open(f"{root}/{name}", "w") as f:
            f.write(text.replace("W/", root + "/"))
    out = []
    for call in CALLS:
        argv = [os.path.dirname(sys.executable) + "/salt-call", "-c", f"{root}/own", "--out=json", *(a.replace("{root}", root) for a in call)]
        ran = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True)
        out.append(ran.stdout)
    shutil.rmtree(root)
    sys.stdout.write("".join(out))


main()
