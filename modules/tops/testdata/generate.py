"""Records what ext_nodes and dictupdate.merge of Salt make of the answers of a command: bin/python generate.py > salt3008.json"""
import json
import os
import sys
import tempfile

import salt.tops.ext_nodes as ext_nodes

ANSWERS = [
    "classes: [a, b]", "classes: {a: 1, b: }", "classes: a", "classes:", "classes: []", "{}", "", "text", "[classes]", "7", "null",
    "classes: [a]\nenvironment: dev", "environment: dev", "classes: [a]\nenvironment: 7", "classes: [a]\nenvironment:", "classes: [a, {b: c}]",
    "classes: [a]\nenvironment: [x]", "classes: [a]\nclasses: [b]", "a: [", "\tx: 1", "classes: {b: 1, a: 2}\nenvironment: base\nparameters: {x: 1}",
]
WORDS = [["web1"], ["web 1"], ["a;b"], ["$(x)"], ["it's"], ["*"], ["ü"]]


def top(command, minion):
    ext_nodes.__opts__ = {"master_tops": {"ext_nodes": command}}
    try:
        return ext_nodes.top(opts={"id": minion})
    except Exception:  # pylint: disable=broad-except
        return {}


def main():
    out = {"answers": [], "words": []}
    with tempfile.TemporaryDirectory() as root:
        path = os.path.join(root, "answer")
        for text in ANSWERS:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            script = os.path.join(root, "cmd")
            with open(script, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\ncat " + path + "\n")
            os.chmod(script, 0o755)
            out["answers"].append([text, [[k, v] for k, v in top(script, "web1").items()]])
        script = os.path.join(root, "words")
        with open(script, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho "classes:"\nfor w in "$@"; do printf "  - |-\\n    %s\\n" "$w"; done\n')
        os.chmod(script, 0o755)
        for (minion,) in WORDS:
            for line in ("", " -x --long=1 a,b", " 'two words' \"a|b\"", " a\\ b $HOME *"):
                out["words"].append([line, minion, top(script + line, minion).get("base")])
    json.dump(out, sys.stdout, indent=1, ensure_ascii=False)


main()
