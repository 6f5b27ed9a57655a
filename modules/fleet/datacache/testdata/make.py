"""Writes salt3008/: a data cache as Salt leaves it in cachedir.

Run in this directory with the Python of a Salt 3008 installation: python make.py
"""

import pathlib
import shutil

import salt.cache.localfs as localfs

DIR = pathlib.Path.cwd() / "salt3008"
shutil.rmtree(DIR, ignore_errors=True)
DIR.mkdir()

localfs.store("grains", "web1", {"os": "Debian", "ipv4": ["10.0.0.1"], "raw": b"\xff"}, str(DIR))
localfs.store("pillar", "web1", {"a": {"b": 1}}, str(DIR))
localfs.store("mine", "web1", {"test.ping": True}, str(DIR))
localfs.store("minions/web1", "data", {"grains": {"os": "Debian", "ipv4": ["10.0.0.1"], "raw": b"\xff"}, "pillar": {"a": {"b": 1}}}, str(DIR))
localfs.store("minions/web1", "mine", {"test.ping": True}, str(DIR))
localfs.store("minions/old1", "data", {"grains": {"os": "Suse"}, "pillar": {"p": 1}}, str(DIR))
localfs.store("minions/old1", "mine", {"network.ip_addrs": ["10.0.0.9"]}, str(DIR))
