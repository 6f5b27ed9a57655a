"""Record what the functions schedule.* of Salt 3008.3 answer: answers.json.

Run with the python of a Salt 3008.3:  python answers.py
The real salt.modules.schedule speaks to a real salt.utils.schedule.Schedule over an event bus of our own, as a minion's functions
speak to their minion. A row is a call, what it answered or raised, the lines of the log from WARNING on, and _schedule.conf after it.
"""

import copy
import datetime
import json
import logging
import os
import tempfile

import salt.minion
import salt.payload
import salt.modules.schedule as mod
import salt.utils.event
import salt.utils.schedule as core

HERE = os.path.dirname(os.path.abspath(__file__))
DIR = tempfile.mkdtemp()
CONF = os.path.join(DIR, "minion.d", "_schedule.conf")
OPTS = {
    "schedule": {"configured": {"function": "test.ping", "hours": 1}}, "pillar": {"schedule": {"frompillar": {"function": "test.ping", "hours": 2}}},
    "grains": {}, "loop_interval": 1, "__role": "minion", "cachedir": tempfile.mkdtemp(), "multiprocessing": False, "id": "m",
    "conf_file": os.path.join(DIR, "minion"), "config_dir": DIR, "default_include": "minion.d/*.conf", "test": False,
}
NOW = datetime.datetime(2026, 11, 23, 10, 20, 30)
KNOWN = {"test.ping": None}
EVENTS = []
PUBLISHED = []
ANSWER = {}
LOG = []


def sent(data):
    """What arrives of data that goes over a bus."""
    return salt.payload.loads(salt.payload.dumps(data))


class Bus:
    def __enter__(self):
        return self

    def __exit__(self, *unused):
        pass

    def fire_event(self, data, tag):
        EVENTS.append((tag, sent(data)))

    def get_event(self, tag, wait=None):
        for have, data in reversed(EVENTS):
            if have.startswith(tag):
                return data
        return None


class Minion:
    pass


salt.utils.event.get_event = lambda *a, **kw: Bus()
minion = Minion()
minion.schedule = core.Schedule(OPTS, KNOWN, returners={}, new_instance=True, utils={})
minion.schedule._run_job = lambda func, data, jid=None: None
salt.utils.minion.running = lambda opts: []


def fire(data, tag):
    del EVENTS[:]
    if tag == "manage_schedule":
        salt.minion.Minion.manage_schedule(minion, tag, sent(data))
    return True


def publish(tgt, fun, arg):
    PUBLISHED.append([tgt, fun, arg])
    return ANSWER.get("publish", {})


mod.__opts__ = OPTS
mod.__pillar__ = OPTS["pillar"]
mod.__salt__ = {"event.fire": fire, "schedule.list": mod.list_, "publish.publish": publish}


class Lines(logging.Handler):
    def emit(self, record):
        LOG.append(record.levelname + " " + record.getMessage())


for log in (mod.log, core.log, logging.getLogger("salt.minion")):
    log.setLevel(logging.WARNING)
    log.addHandler(Lines())
    log.propagate = False

ROWS = []


def plain(v):
    if isinstance(v, datetime.datetime):
        return v.isoformat()
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    return v


def call(fun, *args, **kw):
    """before_opts: options for this call. before_publish: what the other minions answer."""
    opts, ANSWER["publish"] = kw.pop("before_opts", {}), kw.pop("before_publish", {})
    del LOG[:], PUBLISHED[:]
    OPTS.update(opts)
    name = {"list": "list_", "reload": "reload_"}.get(fun, fun)
    row = {"fun": fun, "args": args, "kw": kw, "opts": opts, "publish": ANSWER["publish"]}
    try:
        row["return"] = plain(getattr(mod, name)(*copy.deepcopy(args), **copy.deepcopy(kw)))
    except Exception as exc:
        row["raised"] = type(exc).__name__
    row.update(log=list(LOG), published=list(PUBLISHED), file=open(CONF).read() if os.path.exists(CONF) else None)
    OPTS.update({k: False for k in opts})
    ROWS.append(json.loads(json.dumps(row)))


def look():
    minion.schedule.eval(now=NOW)
    ROWS.append({"fun": "look"})


PING = {"function": "test.ping"}
call("list")
call("list", return_yaml=False)
call("list", where="pillar")
call("list", where="opts", return_yaml=False)
call("list", offline=True)
call("build_schedule_item", "a", function="test.ping", seconds=5)
call("build_schedule_item", "a", function="test.ping", seconds=5, minutes=1, hours=2, days=3)
call("build_schedule_item", "", function="test.ping")
call("build_schedule_item", "a")
call("build_schedule_item", "a", function="test.ping", seconds=5, when="10:00")
call("build_schedule_item", "a", function="test.ping", seconds=5, cron="* * * * *")
call("build_schedule_item", "a", function="test.ping", when="10:00", cron="* * * * *")
call("build_schedule_item", "a", function="test.ping", when="Novemberish")
call("build_schedule_item", "a", function="test.ping", when=["10:00", "5pm Monday"])
call("build_schedule_item", "a", function="test.ping", when=["10:00", "nonsense"])
call("build_schedule_item", "a", function="test.ping", job_args="x")
call("build_schedule_item", "a", function="test.ping", job_kwargs="x")
call("build_schedule_item", "a", function="test.ping", job_args=[1, "b"], job_kwargs={"c": 2}, return_job=False, metadata={"d": 3}, maxrunning=4, enabled=False, jid_include=False)
call("build_schedule_item", "a", function="test.ping", splay={"end": 5, "start": 1}, range={"start": "8:00", "end": "9:00"}, once="2026-11-30T00:00:00", once_fmt="%Y", cron="1 2 3 4 5",
     returner="local", after="10:00", until="11:00", return_config="c", return_kwargs={"e": 1}, run_on_start=True, skip_during_range={"start": "1:00", "end": "2:00"}, nonsense=1)
call("build_schedule_item", "a", function="test.ping", splay=7)
call("add", "job1", **PING, seconds=3600)
call("add", "job1", **PING, seconds=3600)
call("list")
call("add", "job2", **PING, seconds=3600, test=True)
call("add", "job2", **PING, seconds=3600, persist=False)
call("list")
call("add", "frompillar", **PING, seconds=3600)
call("add", "", **PING, seconds=3600)
call("add", "job3", **PING, seconds=5, when="10:00")
call("add", "job3", **PING, when="10:00", cron="* * * * *")
call("add", "job3", **PING, when="nonsense")
call("add", "job3", seconds=5)
call("add", "job3", **PING, cron="*/5 * * * *", job_args=["a b", "c: d"], job_kwargs={"k": "v"}, splay={"start": 1, "end": 10}, returner="local,other", metadata={"x": None})
look()
call("list")
call("list", show_all=True, show_disabled=False)
call("is_enabled")
call("is_enabled", "job1")
call("is_enabled", "nosuch")
call("is_enabled", name="frompillar")
call("job_status", "job1")
call("job_status", "nosuch")
call("job_status", "job1", time_fmt="%d.%m.%Y %H:%M")
call("show_next_fire_time", "job1")
call("show_next_fire_time", "nosuch")
call("show_next_fire_time", "job3")
call("save", test=True)
call("save")
call("modify", "job1", seconds=3600)
call("modify", "job1", seconds=60)
call("modify", "job1", function="test.ping", minutes=5, test=True)
call("modify", "job1", function="test.ping", cron="* * * * *")
call("modify", "job1", seconds=60, cron="* * * * *")
call("modify", "job1", when="10:00", cron="* * * * *")
call("modify", "job1", when="nonsense")
call("modify", "nosuch", seconds=5)
call("modify", "frompillar", seconds=5)
call("modify", "job2", seconds=5, persist=False)
call("disable_job", "job1", test=True)
call("disable_job", "job1")
call("list", show_disabled=False)
call("run_job", "job1")
call("run_job", "job1", force=True)
call("run_job", "job2")
call("run_job", "nosuch")
call("run_job", "")
call("enable_job", "job1", before_opts={"test": True})
call("enable_job", "job1")
call("enable_job", "frompillar")
call("disable_job", "frompillar")
call("enable_job", "nosuch")
call("disable_job", "nosuch")
call("enable_job", "")
call("postpone_job", "job1", "2026-11-23T11:00:00", "2026-11-23T12:00:00")
call("postpone_job", "job1", "11:00 23.11.2026", "12:00 23.11.2026", time_fmt="%H:%M %d.%m.%Y")
call("postpone_job", "job1", "11:00", "2026-11-23T12:00:00")
call("postpone_job", "job1", "2026-11-23T11:00:00", "12:00")
call("postpone_job", "job1", "", "12:00")
call("postpone_job", "job1", "2026-11-23T11:00:00", "")
call("postpone_job", "", "2026-11-23T11:00:00", "2026-11-23T12:00:00")
call("postpone_job", "nosuch", "2026-11-23T11:00:00", "2026-11-23T12:00:00")
call("postpone_job", "frompillar", "2026-11-23T11:00:00", "2026-11-23T12:00:00")
call("postpone_job", "job1", "2026-11-23T11:00:00", "2026-11-23T12:00:00", before_opts={"test": True})
call("skip_job", "job1", "2026-11-23T11:00:00")
call("skip_job", "job1", "11:00")
call("skip_job", "job1", "", before_opts={"test": True})
call("skip_job", "", "2026-11-23T11:00:00")
call("skip_job", "nosuch", "2026-11-23T11:00:00")
call("skip_job", "frompillar", "2026-11-23T11:00:00")
call("skip_job", "job1", "2026-11-23T11:00:00", before_opts={"test": True})
call("job_status", "job1")
call("disable", test=True)
call("disable")
call("is_enabled")
call("list")
call("enable", test=True)
call("enable")
call("list")
call("copy", "job1", "minion2", test=True)
call("copy", "job1", "minion2")
call("copy", "job1", "minion2", before_publish={"minion2": {"result": True}})
call("copy", "job1", "minion*", before_publish={"minion2": {"result": True}, "minion3": False})
call("copy", "frompillar", "minion2", before_publish={"minion2": True})
call("copy", "nosuch", "minion2")
call("copy", "", "minion2")
call("move", "job2", "minion2", test=True)
call("move", "job2", "minion2")
call("move", "job2", "minion*", before_publish={"minion2": {"result": True}, "minion3": False})
call("move", "job2", "minion2", before_publish={"minion2": {"result": True}})
call("move", "frompillar", "minion2", before_publish={"minion2": True})
call("move", "nosuch", "minion2")
call("list")
call("reload")
call("delete", "job1", test=True)
call("delete", "job1", persist=False)
call("delete", "job1")
call("delete", "frompillar")
call("delete", "")
call("delete", "job3")
call("list")
call("add", "off1", offline=True, **PING, seconds=60)
call("add", "off1", offline=True, **PING, seconds=60)
call("add", "off2", offline=True, **PING, when=["10:00", "11:00"])
call("modify", "off1", offline=True, seconds=120)
call("modify", "off1", offline=True, seconds=120)
call("list", offline=True)
call("list", offline=True, return_yaml=False)
call("delete", "off1", offline=True)
call("purge", test=True)
call("purge", offline=True, test=True)
call("purge", offline=True)
call("list", offline=True)
call("purge", persist=False)
call("add", "last", **PING, seconds=60)
call("purge")
call("list")

with open(os.path.join(HERE, "answers.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(r) for r in ROWS) + "\n]\n")
print(len(ROWS), "calls")
