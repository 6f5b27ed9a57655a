"""Writes salt3008.json: what Salt decides about combinations of rules and requests.

Run with the Python of a Salt 3008 installation: python generate.py > salt3008.json
A master with the accepted minions web1, web2 and db1 is made in a directory that goes away. What CkMinions and LoadAuth say is recorded:
"lists" (which rules hold for a user), "jobs" (auth_check), "expanded" (the same with auth.enable_expanded_auth_matching), "forms" (runner_check, wheel_check), "tokens" (get_auth_list of a token). fill_auth_list takes the name for the pattern and the entry for the text; a
second answer of "lists" is the one that it gives when both are exchanged.
An answer is true or false (lists: the list), "error" for an exception or an error in the place of an answer.
"""

import copy
import itertools
import json
import logging
import os
import shutil
import sys
import tempfile

import salt.auth
import salt.config
import salt.utils.minions
import salt.utils.stringutils

logging.disable(logging.CRITICAL)
SALTS_OWN = salt.utils.stringutils.expr_match
HOME = os.path.realpath(tempfile.mkdtemp(prefix="eauth"))
MINIONS = ["web1", "web2", "db1"]


def master(**more):
    pki = os.path.join(HOME, "pki")
    os.makedirs(os.path.join(pki, "minions"), exist_ok=True)
    for minion in MINIONS:
        with open(os.path.join(pki, "minions", minion), "w", encoding="utf-8") as out:
            out.write("a key")
    given = {"pki_dir": pki, "cachedir": os.path.join(HOME, "cache"), "sock_dir": HOME, "conf_file": os.path.join(HOME, "none"), "root_dir": HOME, **more}
    return salt.config.apply_master_config(given)


def decided(call):
    try:
        answer = call()
    except Exception:  # what the master would die of, and answer as an error
        return "error"
    if isinstance(answer, dict):
        return "error"
    return answer


PROVIDERS = {
    "plain": {"ann": ["test.ping"], "bob": ["cmd.run", "@runner"], "*": ["grains.*"]},
    "groups": {"ann": ["a"], "ops%": ["b"], "ops%%": ["c"], "dev%": ["d"], "%": ["e"], "*": ["f"]},
    "globs": {"a*": ["a"], "[ab]ob": ["b"], "an?": ["c"], "*": ["d"]},
    "expressions": {"an+": ["a"], "(ann|bob)": ["b"], "b.b": ["c"], "(": ["d"], ".*x": ["e"]},
    "alternatives": {"ann|bob": ["a"]},
    "stars": {"*": ["a"], "**": ["b"], ".*": ["c"]},
    "doubles": {"ann": ["a", "a"], "ann*": ["a"], "ops%": ["a"]},
    "text": {"ann": "test.ping"},
    "map": {"ann": {"web1": ["test.ping"]}, "*": ["b"]},
    "nothing": {"ann": None, "*": ["b"]},
    "number": {"ann": 5},
    "empty": {},
    "none": {"ann": [], "*": ["b"]},
}
NAMES = ["ann", "bob", "annika", "zoe", "", "*", "ann|bob", "ann\n"]
GROUPS = [[], ["ops"], ["dev", "ops", ""]]

RULES = {
    "nothing": [],
    "all": [".*"],
    "ping": ["test.ping"],
    "test": ["test.*"],
    "start": ["test"],
    "end": ["ping$"],
    "upper": ["TEST.PING"],
    "insensitive": ["(?i)TEST.PING"],
    "not": ["(?!test.ping)test"],
    "two": ["grains.items", "test.ping"],
    "runner": ["@runner", "@wheel", "@test"],
    "web": [{"web*": ["test.*"]}],
    "web1": [{"web1": ["test.ping", "cmd.run"]}],
    "star": [{"*": ["test.ping"]}],
    "both": [{"web1": ["test.ping"]}, {"web2": ["test.ping"]}],
    "or": [{"web1 or db1": ["test.ping"]}],
    "not web": [{"not web*": ["test.ping"]}],
    "list": [{"L@web1,db1": ["test.ping"]}],
    "nobody": [{"mail*": ["test.ping"]}],
    "text": [{"web*": "test.ping"}],
    "one of two": [{"web*": ["test.ping"]}, "test.echo"],
    "args": [{"*": [{"test.echo": {"args": ["ok.*"]}}]}],
    "any arg": [{"*": [{"test.echo": {"args": [None, "b"]}}]}],
    "kwargs": [{"*": [{"cmd.run": {"kwargs": {"cwd": "/tmp", "shell": None}}}]}],
    "args and kwargs": [{"*": [{"cmd.run": {"args": ["ls"], "kwargs": {"cwd": "/tmp"}}}]}],
    "or args": [{"*": [{"test.echo": [{"args": ["a$"]}, {"args": ["b$"]}]}]}],
    "no conditions": [{"*": [{"test.echo": {}}]}],
    "numbers": [{"*": [{"test.echo": {"args": ["5$"]}}]}],
    "words": [{"*": [{"test.echo": {"args": ["True|None|\\["]}}]}],
    "bad pattern": ["(", "*"],
    "bad and good": ["(", "test.ping"],
    "two keys": [{"web1": ["test.ping"], "web2": ["test.ping"]}],
    "no keys": [{}],
    "a number": [5, None, ["test.ping"]],
    "empty text": [""],
    "bad conditions": [{"*": [{"test.echo": "ok"}, {"test.echo": None}, {"test.echo": [5]}]}],
    "bad function": [{"*": [5, None, {"a": {}, "b": {}}]}],
    "condition of a number": [{"*": [{"test.echo": {"args": [5]}}]}],
    "at": [{"@test": ["ping"]}, {"@runner": ["test.ping"]}],
    "none at all": [{"*": None}],
}
KW = {"__kwarg__": True}
JOBS = [
    (["test.ping"], [[]], ["web1"]),
    (["test.ping"], [[]], ["web1", "web2"]),
    (["test.ping"], [[]], ["web1", "db1"]),
    (["test.ping"], [[]], ["db1"]),
    (["test.ping"], [[]], []),
    (["test.pingx"], [[]], ["web1"]),
    (["xtest.ping"], [[]], ["web1"]),
    (["testxping"], [[]], ["web1"]),
    (["cmd.run"], [["ls"]], ["web1"]),
    (["cmd.run"], [["ls", {**KW, "cwd": "/tmp", "shell": "/bin/sh"}]], ["web1"]),
    (["cmd.run"], [["ls", {**KW, "cwd": "/"}]], ["web1"]),
    (["test.echo"], [["ok"]], ["web1"]),
    (["test.echo"], [["okay", "b"]], ["web1"]),
    (["test.echo"], [[5]], ["web1"]),
    (["test.echo"], [[True, "bb"]], ["web2"]),
    (["test.echo"], [[None]], ["web2"]),
    (["test.echo"], [[["x"]]], ["web2"]),
    (["test.echo"], [["a"]], ["db1"]),
    (["test.echo"], [[]], ["web1"]),
    (["saltutil.find_job"], [["20261120104829281452"]], ["web1", "db1"]),
    (["test.ping", "test.version"], [[], []], ["web1"]),
    (["test.version", "test.ping"], [[], []], ["web1"]),
    (["cmd.run", "saltutil.find_job"], [["ls"], []], ["web1"]),
    ([""], [[]], ["web1"]),
]

FORM_RULES = {
    "nothing": [],
    "all": [".*"],
    "runner": ["@runner"],
    "runners": ["@runners"],
    "wheel": ["@wheel"],
    "wheels": ["@wheels"],
    "jobs": ["@jobs"],
    "key": ["@key"],
    "minions": ["jobs.active", {"*": ["jobs.*"]}],
    "of runner": [{"@runner": ["jobs.act.*", "manage.up"]}],
    "of runners": [{"@runners": "jobs.active"}],
    "of jobs": [{"@jobs": ["act.*", {"list_job": {"args": ["2026"]}}]}],
    "of wheel": [{"@wheel": [{"key.accept": {"kwargs": {"match": "web.*"}}}]}],
    "of key": [{"@key": ["accept$"]}],
    "malformed": [{"@jobs": ["active"], "@key": ["accept"]}, {}, 5, None],
    "capitals": ["@Runner", "@JOBS"],
    "bad pattern": [{"@runner": ["(", "*"]}],
}
FORMS = [
    ("runner", "jobs.active", [], {}),
    ("runner", "jobs.activex", [], {}),
    ("runner", "jobs.list_job", ["20261120104829281452"], {}),
    ("runner", "jobs.list_job", ["1"], {}),
    ("runner", "jobs.list_job", [], {"jid": "2026"}),
    ("runner", "manage.up", [], {}),
    ("runner", "runner.up", [], {}),
    ("runner", "key.accept", [], {}),
    ("wheel", "key.accept", [], {"match": "web1"}),
    ("wheel", "key.accept", [], {"match": "db1"}),
    ("wheel", "key.accept", ["web1"], {}),
    ("wheel", "key.accept_dict", [], {}),
    ("wheel", "jobs.active", [], {}),
    ("wheel", "config.apply", ["a", 1], {}),
    ("runner", "jobs", [], {}),
    ("runner", "jobs.active.x", [], {}),
]


def main():
    ck = salt.utils.minions.CkMinions(master())
    out = {"lists": [], "inside": {}, "jobs": [], "expanded": [], "forms": [], "tokens": []}
    for kind, name, groups, permissive in itertools.product(PROVIDERS, NAMES, GROUPS, [False, True]):
        provider = copy.deepcopy(PROVIDERS[kind])
        answers = []
        for compare in (SALTS_OWN, lambda entry, user: SALTS_OWN(user, entry)):
            salt.utils.stringutils.expr_match = compare
            answers.append(decided(lambda: ck.fill_auth_list(provider, name, groups, permissive=permissive) or False))
        salt.utils.stringutils.expr_match = SALTS_OWN
        out["lists"].append([kind, name, groups, permissive, *answers])
    for rules, (funs, args, minions) in itertools.product(RULES, JOBS):
        one = len(funs) == 1
        answer = decided(
            lambda: bool(
                ck.auth_check(
                    copy.deepcopy(RULES[rules]),
                    funs[0] if one else funs,
                    copy.deepcopy(args[0] if one else args),
                    ",".join(minions),
                    "list",
                    minions=minions,
                    whitelist=["saltutil.find_job"],
                )
            )
        )
        out["jobs"].append([rules, funs, args, minions, answer])
    wide = salt.utils.minions.CkMinions(master(**{"auth.enable_expanded_auth_matching": True}))
    for rules, (funs, args, minions) in itertools.product(["ping", "web", "both", "star", "one of two", "args"], JOBS[:5] + JOBS[11:13]):
        answer = decided(lambda: bool(wide.auth_check(copy.deepcopy(RULES[rules]), funs[0], args[0], ",".join(minions), "list", minions=minions)))
        out["expanded"].append([rules, funs, args, minions, answer])
    out["inside"]["( web1 ) or ( web2 )"] = {
        ",".join(m): bool(ck.validate_tgt("( web1 ) or ( web2 )", "*", "glob", minions=m)) for _, _, m in JOBS
    }
    for entry in itertools.chain.from_iterable(RULES.values()):
        for target in entry if isinstance(entry, dict) else []:
            out["inside"][target] = {",".join(m): bool(ck.validate_tgt(target, "*", "glob", minions=m)) for _, _, m in JOBS}
    for rules, (form, fun, args, kwargs) in itertools.product(FORM_RULES, FORMS):
        check = ck.runner_check if form == "runner" else ck.wheel_check
        answer = decided(lambda: bool_or_dict(check(copy.deepcopy(FORM_RULES[rules]), fun, {"arg": args, "kwarg": kwargs})))
        out["forms"].append([rules, form, fun, args, kwargs, answer])
    out["tokens"] = tokens()
    print('{"providers": %s,\n"rules": %s,\n"form_rules": %s,\n"inside": %s,' % tuple(map(json.dumps, (PROVIDERS, RULES, FORM_RULES, out["inside"]))))
    for part in ("lists", "jobs", "expanded", "forms", "tokens"):
        rows = ",\n".join(json.dumps(row) for row in out[part])
        print('"%s": [\n%s\n]%s' % (part, rows, "" if part == "tokens" else ","))
    print("}")


def bool_or_dict(answer):
    return answer if isinstance(answer, dict) else bool(answer)


def tokens():
    """What a token may do: with and without keep_acl_in_token, of a backend that is there and of one that is not."""
    rows = []
    for keep, eauth, auth_list, groups in itertools.product([False, True], ["pam", "rest"], ["absent", [], ["kept"]], [None, ["ops"]]):
        external = {eauth: {"ann": ["own"], "ops%": ["group"], "*": ["all"]}}
        opts = master(external_auth=external, keep_acl_in_token=keep)
        opts["keep_acl_in_token"] = keep
        token = {"name": "ann", "eauth": eauth}
        if auth_list != "absent":
            token["auth_list"] = auth_list
        if groups:
            token["groups"] = groups
        with salt.auth.LoadAuth(opts) as loadauth:
            rows.append([keep, external, token, decided(lambda: loadauth.get_auth_list({}, token=token))])
    return rows


try:
    main()
finally:
    shutil.rmtree(HOME, ignore_errors=True)
