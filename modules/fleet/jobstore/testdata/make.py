"""Writes salt3008/: a job cache as Salt leaves it in cachedir.

Run in this directory with the Python of a Salt 3008 installation: python make.py
"""

import pathlib
import shutil

import salt.config
import salt.returners.local_cache as local_cache

DIR = pathlib.Path.cwd() / "salt3008"
shutil.rmtree(DIR, ignore_errors=True)
DIR.mkdir()

opts = salt.config.DEFAULT_MASTER_OPTS.copy()
opts["cachedir"] = str(DIR)
local_cache.__opts__ = opts

JID = "20261120105323573103"
LOAD = {"cmd": "publish", "tgt": "web*", "fun": "test.ping", "arg": [], "tgt_type": "glob", "ret": "", "timeout": 5, "jid": JID,
        "kwargs": {"show_timeout": True, "show_jid": False, "delimiter": ":"}, "user": "root"}
local_cache.prep_jid(passed_jid=JID)
local_cache.save_load(JID, LOAD, minions=["web2", "web1"])
local_cache.save_minions(JID, ["web9", "web8"], syndic_id="syn1")
for ret in (
    {"jid": JID, "id": "web1", "return": True, "retcode": 0, "success": True, "fun": "test.ping"},
    {"jid": JID, "id": "web2", "return": {"b": [1, 2.5, None, b"\xff\x00"], "\u00e9": "text"}, "retcode": 2, "success": False, "out": "nested"},
    {"jid": JID, "id": "web1", "return": "late", "retcode": 0, "success": True},
):
    local_cache.returner(ret)
local_cache.update_endtime(JID, "2026, Nov 20 10:53:27.000651")

NOCACHE = "20261120105324000000"
local_cache.prep_jid(nocache=True, passed_jid=NOCACHE)
local_cache.save_load(NOCACHE, {"jid": NOCACHE, "fun": "saltutil.find_job", "tgt": "*"}, minions=["web1"])
