"""Records what Salt's gitfs (with GitPython) serves of the repositories that this program makes.

Usage: <python of a Salt 3008.3 environment with GitPython and git> cases.py FOLDER
writes FOLDER/repos/NAME.git (bare, packed) and FOLDER/cases.json. In the remotes @REPOS@ stands for FOLDER/repos.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

import salt.config
import salt.fileserver.gitfs as gitfs
import salt.utils.gitfs

ENV = {
    "PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nonexistent",
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}

MAIN = [
    ("branch", "master"),
    ("write", {"top.sls": "base: {}\n", "web/init.sls": "web: 1\n", "web/files/nginx.conf": "x" * 3000, "bin/run": "#!/bin/sh\n",
               "sub/deep/er/a.txt": "a", "empty": "", "ünï/ç.txt": "text", "with space/a b.txt": "s", "data.bin": "\x00\x01"}),
    ("mode", "bin/run"),
    ("link", {"link": "web/init.sls", "sub/up": "../top.sls", "dirlink": "web", "out": "../../etc/passwd", "abs": "/etc/passwd",
              "loop1": "loop2", "loop2": "loop1", "chain": "link", "sub/abslike": "/top.sls"}),
    ("commit", "one"),
    ("tag", "v1.0"),
    ("write", {"top.sls": "base: {two: 2}\n"}),
    ("commit", "two"),
    ("annotated", "v2.0"),
    ("checkout", "dev", "master"),
    ("write", {"top.sls": "dev: {}\n", "dev.txt": "only dev"}),
    ("commit", "dev"),
    ("checkout", "feature/x-1", "master"),
    ("write", {"feature.txt": "f"}),
    ("commit", "feature"),
    ("checkout", "deadbeef", "master"),
    ("write", {"hex.txt": "h"}),
    ("commit", "hex"),
    ("checkout", "v1.0", "dev"),
    ("write", {"both.txt": "a branch and a tag of one name"}),
    ("commit", "both"),
]
OTHER = [
    ("branch", "main"),
    ("write", {"top.sls": "other\n", "other.txt": "o", "web/init.sls": "other web\n", "srv/salt/only.txt": "below a root"}),
    ("commit", "one"),
    ("checkout", "dev", "main"),
    ("write", {"other-dev.txt": "od", "srv/salt/dev.txt": "d"}),
    ("commit", "dev"),
    ("checkout", "prod", "main"),
    ("commit", "prod"),
]


def git(dir_, *args):
    return subprocess.run(["git", *args], cwd=dir_, env=ENV, check=True, capture_output=True, text=True).stdout.strip()


def make(steps, target):
    work = tempfile.mkdtemp()
    refs = {}
    git(work, "init", "-q", "-b", "none")
    for step, *a in steps:
        if step == "branch":
            git(work, "checkout", "-q", "-b", a[0])
        elif step == "checkout":
            git(work, "checkout", "-q", "-b", a[0], "refs/heads/" + a[1])
        elif step == "write":
            for name, text in a[0].items():
                path = os.path.join(work, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as fp:
                    fp.write(text)
        elif step == "mode":
            os.chmod(os.path.join(work, a[0]), 0o755)
        elif step == "link":
            for name, to in a[0].items():
                os.symlink(to, os.path.join(work, name))
        elif step == "commit":
            git(work, "add", "-A")
            git(work, "commit", "-q", "--allow-empty", "-m", a[0])
            refs[a[0]] = git(work, "rev-parse", "HEAD")
        elif step == "tag":
            git(work, "tag", a[0])
        elif step == "annotated":
            git(work, "tag", "-a", "-m", "text", a[0])
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(["git", "clone", "-q", "--mirror", work, target], env=ENV, check=True)
    git(target, "repack", "-q", "-a", "-d")
    git(target, "pack-refs", "--all")
    for name in ("hooks", "info", "description", "branches", "config", "logs", "FETCH_HEAD"):
        path = os.path.join(target, name)
        shutil.rmtree(path) if os.path.isdir(path) else os.path.exists(path) and os.remove(path)
    for name in os.listdir(os.path.join(target, "objects", "pack")):
        if not name.endswith((".pack", ".idx")):
            os.remove(os.path.join(target, "objects", "pack", name))
    shutil.rmtree(os.path.join(target, "objects", "info"), ignore_errors=True)
    shutil.rmtree(work)
    return refs


MAIN_URL, OTHER_URL = "file://@REPOS@/main.git", "file://@REPOS@/other.git"


def cases(shas):
    one = shas["one"]
    yield "plain", {"gitfs_remotes": [MAIN_URL]}
    yield "two remotes", {"gitfs_remotes": [MAIN_URL, {OTHER_URL: [{"base": "main"}]}]}
    yield "two remotes turned round", {"gitfs_remotes": [{OTHER_URL: [{"base": "main"}]}, MAIN_URL]}
    yield "base is a tag", {"gitfs_remotes": [MAIN_URL], "gitfs_base": "v1.0"}
    yield "base is a commit", {"gitfs_remotes": [MAIN_URL], "gitfs_base": one}
    yield "base is a branch that there is not", {"gitfs_remotes": [MAIN_URL], "gitfs_base": "nowhere"}
    yield "root", {"gitfs_remotes": [MAIN_URL], "gitfs_root": "web"}
    yield "root deep", {"gitfs_remotes": [{OTHER_URL: [{"root": "srv/salt/"}, {"base": "main"}]}]}
    yield "root that there is not", {"gitfs_remotes": [{MAIN_URL: [{"root": "no/such"}]}]}
    yield "mountpoint", {"gitfs_remotes": [{MAIN_URL: [{"mountpoint": "salt://a/b"}]}, OTHER_URL]}
    yield "mountpoint and root", {"gitfs_remotes": [{MAIN_URL: [{"mountpoint": "m"}, {"root": "sub"}]}]}
    yield "global mountpoint", {"gitfs_remotes": [MAIN_URL], "gitfs_mountpoint": "salt://g"}
    yield "white list", {"gitfs_remotes": [MAIN_URL], "gitfs_saltenv_whitelist": ["base", "v.*"]}
    yield "white list by glob", {"gitfs_remotes": [{MAIN_URL: [{"saltenv_whitelist": "feature/*,dev"}]}]}
    yield "black list", {"gitfs_remotes": [MAIN_URL], "gitfs_saltenv_blacklist": ["dev", "feature/.*"]}
    yield "both lists", {"gitfs_remotes": [MAIN_URL], "gitfs_saltenv_whitelist": ["base", "dev"], "gitfs_saltenv_blacklist": ["dev"]}
    for kinds in (["branch"], ["tag"], ["sha"], ["branch", "tag"], ["tag", "branch"], ["branch", "sha"], ["Branch", "TAG"]):
        yield "ref_types " + ",".join(kinds), {"gitfs_remotes": [MAIN_URL], "gitfs_ref_types": kinds}
    yield "no mapping", {"gitfs_remotes": [MAIN_URL], "gitfs_disable_saltenv_mapping": True}
    yield "no mapping but some", {"gitfs_remotes": [{MAIN_URL: [{"disable_saltenv_mapping": True}, {"saltenv": [{"test": [{"ref": "dev"}]}]}]}]}
    yield "saltenv", {"gitfs_remotes": [{MAIN_URL: [{"saltenv": [{"test": [{"ref": "dev"}]}, {"q": [{"ref": "v1.0"}, {"mountpoint": "salt://qq"}]},
                                                                  {"r": [{"ref": "v2.0"}, {"root": "web"}]}]}]}]}
    yield "saltenv of base", {"gitfs_remotes": [{MAIN_URL: [{"saltenv": [{"base": [{"ref": "dev"}]}]}]}]}
    yield "global saltenv", {"gitfs_remotes": [MAIN_URL, {OTHER_URL: [{"saltenv": [{"test": [{"ref": "prod"}]}]}]}],
                             "gitfs_saltenv": [{"test": [{"ref": "dev"}, {"mountpoint": "t"}]}, {"more": [{"ref": "dev"}]}]}
    yield "one saltenv by two names", {"gitfs_remotes": [{MAIN_URL: [{"saltenv": [{"a": [{"ref": "dev"}]}, {"b": [{"ref": "dev"}]}]}]}]}
    yield "all_saltenvs", {"gitfs_remotes": [{MAIN_URL: [{"all_saltenvs": "master"}]}, {OTHER_URL: [{"base": "main"}]}]}
    yield "fallback", {"gitfs_remotes": [{MAIN_URL: [{"fallback": "dev"}]}]}
    yield "fallback of all", {"gitfs_remotes": [MAIN_URL, OTHER_URL], "gitfs_fallback": "v2.0"}
    yield "refspecs of branches only", {"gitfs_remotes": [{MAIN_URL: [{"refspecs": ["+refs/heads/*:refs/remotes/origin/*"]}]}]}
    yield "refspecs of one branch", {"gitfs_remotes": [{MAIN_URL: [{"refspecs": ["+refs/heads/dev:refs/remotes/origin/dev"]}, {"base": "dev"}]}]}
    yield "refspecs renamed", {"gitfs_remotes": [{MAIN_URL: [{"refspecs": ["+refs/heads/*:refs/remotes/origin/x/*", "+refs/tags/*:refs/tags/t/*"]}]}]}
    yield "refspecs with a part", {"gitfs_remotes": [{MAIN_URL: [{"refspecs": "+refs/heads/feature/*:refs/remotes/origin/*"}]}]}
    yield "names", {"gitfs_remotes": [{MAIN_URL: [{"name": "first"}]}, {MAIN_URL: [{"name": "second"}, {"mountpoint": "second"}, {"base": "dev"}]}]}


def probe(fs, opts, shas):
    envs = fs.envs(ignore_cache=True)
    out = {"envs": envs, "of": {}}
    ask = list(envs) + ["base", "dev", "nowhere", "test", shas["one"], shas["dev"][:10], "deadbeef", "v1.0", "master"]
    for env in dict.fromkeys(ask):
        load = {"saltenv": env}
        try:
            fs.file_list(dict(load))
        except ValueError:  # what GitPython says of a whole hash that there is not: nothing is recorded
            continue
        got = {"files": fs.file_list(dict(load)), "dirs": fs.dir_list(dict(load)), "links": fs.symlink_list(dict(load)), "found": {}}
        extra = ["top.sls", "web/init.sls", "nothing", "sub", "link/x", "dirlink/init.sls", "a/b/top.sls", "m/deep/er/a.txt", "init.sls"]
        for path in dict.fromkeys(got["files"] + extra):
            fnd = fs.find_file(path, env)
            if fnd["path"]:
                with open(fnd["path"], "rb") as fp:
                    got["found"][path] = [fnd["rel"], fnd["stat"][0], hashlib.sha256(fp.read()).hexdigest()]
        out["of"][env] = got
    return out


def main(folder):
    repos = os.path.join(os.path.abspath(folder), "repos")
    os.makedirs(repos, exist_ok=True)
    shas = make(MAIN, os.path.join(repos, "main.git"))
    make(OTHER, os.path.join(repos, "other.git"))
    out = []
    for name, given in cases(shas):
        cache = tempfile.mkdtemp()
        opts = salt.config.master_config("/dev/null")
        given_here = json.loads(json.dumps(given).replace("@REPOS@", repos))
        opts.update(given_here, cachedir=cache, fileserver_backend=["gitfs"], gitfs_provider="gitpython", __role="master")
        salt.utils.gitfs.GitFS.instance_map.clear()
        fs = salt.utils.gitfs.GitFS(opts, opts["gitfs_remotes"], per_remote_overrides=gitfs.PER_REMOTE_OVERRIDES,
                                    per_remote_only=gitfs.PER_REMOTE_ONLY)
        fs.update()
        out.append({"name": name, "opts": given, "want": probe(fs, opts, shas)})
        shutil.rmtree(cache)
    with open(os.path.join(folder, "cases.json"), "w", encoding="utf-8") as fp:
        fp.write("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False, sort_keys=True) for row in out) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1])
