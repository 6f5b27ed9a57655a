"""Records what Salt's git external pillar (with GitPython) gives of the repositories that this program makes.

Usage: <python of a Salt 3008.3 environment with GitPython and git> pillar_cases.py FOLDER
writes FOLDER/pillar_repos/NAME.git and FOLDER/pillar_cases.json. In the remotes @REPOS@ stands for FOLDER/pillar_repos.
"""

import json
import os
import shutil
import sys
import tempfile

import salt.config
import salt.pillar
import salt.pillar.git_pillar
import salt.utils.gitfs
from cases import make

TOP = "base:\n  '*':\n    - common\n  'web*':\n    - web\n"
MAIN = [
    ("branch", "master"),
    ("write", {"top.sls": TOP, "common.sls": "from: main\nlist: [a]\nmap: {x: 1}\n", "web.sls": "web: {{ grains['id'] }}\nenv: {{ saltenv }}\n",
               "sub/top.sls": "base:\n  '*':\n    - below\n", "sub/below.sls": "below: root\n"}),
    ("commit", "one"),
    ("tag", "v1"),
    ("checkout", "dev", "master"),
    ("write", {"top.sls": "dev:\n  '*':\n    - common\n", "common.sls": "from: dev\n"}),
    ("commit", "dev"),
    ("checkout", "inc", "master"),
    ("write", {"top.sls": "base:\n  '*':\n    - inc\n    - missing\n", "inc.sls": "include:\n  - srv.app\n  - other\ninc: 1\n"}),
    ("commit", "inc"),
    ("checkout", "broken", "master"),
    ("write", {"top.sls": "base:\n  '*':\n    - broken\n", "broken.sls": "a: {{ nothing.at.all }}\n"}),
    ("commit", "broken"),
]
OTHER = [
    ("branch", "master"),
    ("write", {"top.sls": "base:\n  '*':\n    - other\n", "other.sls": "other: yes it is\nlist: [b]\nmap: {y: 2}\nfrom: other\n",
               "app.sls": "app: mounted\n", "common.sls": "from: other common\n"}),
    ("link", {"link.sls": "other.sls"}),
    ("commit", "one"),
    ("checkout", "dev", "master"),
    ("write", {"top.sls": "dev:\n  '*':\n    - other\n", "other.sls": "other: dev\n"}),
    ("commit", "dev"),
    ("checkout", "links", "master"),
    ("write", {"top.sls": "base:\n  '*':\n    - link\n"}),
    ("commit", "links"),
]
M, O = "file://@REPOS@/main.git", "file://@REPOS@/other.git"


def cases():
    one = lambda *r: {"ext_pillar": [{"git": list(r)}]}
    yield "one", one("master " + M), {}
    yield "without a branch", one(M), {}
    yield "another minion", one("master " + M), {"id": "web1"}
    yield "a tag", one("v1 " + M), {}
    yield "dev", one("dev " + M), {}
    yield "dev by pillarenv", one("dev " + M, "master " + M), {"pillarenv": "dev"}
    yield "dev by another pillarenv", one("dev " + M), {"pillarenv": "qa"}
    yield "both branches", one("master " + M, "dev " + M), {}
    yield "two", one("master " + M, "master " + O), {}
    yield "two turned round", one("master " + O, "master " + M), {}
    yield "two entries", {"ext_pillar": [{"git": ["master " + M]}, {"git": ["master " + O]}]}, {}
    yield "lists merged", dict(one("master " + M, "master " + O), pillar_merge_lists=True), {}
    for s in ("recurse", "overwrite", "none", "aggregate"):
        yield "strategy " + s, dict(one("master " + M, "master " + O), pillar_source_merging_strategy=s), {}
    yield "root", one({"master " + M: [{"root": "sub"}]}), {}
    yield "root that there is not", one({"master " + M: [{"root": "nowhere"}]}, "master " + O), {}
    yield "global root", dict(one("master " + M), git_pillar_root="sub"), {}
    yield "branch that there is not", one("nowhere " + M, "master " + O), {}
    yield "fallback", one({"nowhere " + M: [{"fallback": "master"}]}), {}
    yield "fallback to dev", one({"nowhere " + M: [{"fallback": "dev"}, {"env": "dev"}]}), {}
    yield "env", one({"dev " + M: [{"env": "base"}]}), {}
    yield "env of its own", one({"dev " + M: [{"env": "dev"}]}), {"pillarenv": "dev"}
    yield "env __env__", one({"dev " + M: [{"env": "__env__"}]}), {"pillarenv": "dev"}
    yield "__env__", one("__env__ " + M), {}
    yield "__env__ dev", one("__env__ " + M), {"pillarenv": "dev"}
    yield "__env__ saltenv", one("__env__ " + M), {"saltenv": "dev"}
    yield "__env__ from saltenv", dict(one("__env__ " + M), pillarenv_from_saltenv=True), {"saltenv": "dev"}
    yield "__env__ unknown", one("__env__ " + M), {"pillarenv": "qa"}
    yield "__env__ base", one({"__env__ " + M: [{"base": "dev"}]}), {}
    yield "__env__ all_saltenvs", one({"__env__ " + M: [{"all_saltenvs": "dev"}]}), {"pillarenv": "dev"}
    yield "__env__ fallback", one({"__env__ " + M: [{"fallback": "master"}]}), {"pillarenv": "qa"}
    yield "global base", dict(one("dev " + M), git_pillar_base="dev"), {}
    yield "global branch", dict(one(M), git_pillar_branch="dev"), {}
    yield "global env", dict(one("dev " + M), git_pillar_env="base"), {}
    yield "includes", one("inc " + M, "master " + O, {"master " + O: [{"name": "m"}, {"mountpoint": "srv"}, {"env": "inc"}]}), {}
    yield "mounted", one({"inc " + M: [{"env": "base"}]}, {"master " + O: [{"mountpoint": "srv/"}]}, {"master " + O: [{"name": "x"}]}), {}
    yield "mounted deep", one({"inc " + M: [{"env": "base"}]}, {"master " + O: [{"mountpoint": "salt://a/b"}]}), {}
    yield "no includes", dict(one({"inc " + M: [{"env": "base"}]}, {"master " + O: [{"mountpoint": "srv"}]}), git_pillar_includes=False), {}
    yield "broken", one("broken " + M), {}
    yield "broken here", one({"broken " + M: [{"env": "base"}]}), {}
    yield "links", one({"links " + O: [{"env": "base"}]}), {}


def main(folder):
    repos = os.path.join(os.path.abspath(folder), "pillar_repos")
    os.makedirs(repos, exist_ok=True)
    make(MAIN, os.path.join(repos, "main.git"))
    make(OTHER, os.path.join(repos, "other.git"))
    out = []
    for name, given, ask in cases():
        cache = tempfile.mkdtemp()
        opts = salt.config.master_config("/dev/null")
        opts.update(json.loads(json.dumps(given).replace("@REPOS@", repos)), cachedir=cache, git_pillar_provider="gitpython",
                    pillar_roots={"base": []}, file_roots={"base": []}, __role="master", decrypt_pillar=[])
        opts["id"] = id_ = ask.get("id", "m1")
        pillar = salt.pillar.Pillar(opts, {"id": id_}, id_, ask.get("saltenv"), pillarenv=ask.get("pillarenv"))
        got = pillar.compile_pillar()
        out.append({"name": name, "opts": given, "ask": ask, "want": json.loads(json.dumps(got))})
        shutil.rmtree(cache)
    with open(os.path.join(folder, "pillar_cases.json"), "w", encoding="utf-8") as fp:
        fp.write("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in out) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
