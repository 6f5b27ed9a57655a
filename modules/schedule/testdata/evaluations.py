"""Record how Salt 3008.3 evaluates schedules: evaluations.json.

Run with the python of a Salt 3008.3:  python evaluations.py
A real salt.utils.schedule.Schedule is driven with times of our own; what would run a job only notes it. The first random
number between low and high is the one in the middle. A row is a schedule, the times of its evaluations, and after each of them
what ran, what was logged from INFO on, and what the schedule noted of its jobs.
"""

import copy
import datetime
import json
import logging
import os
import tempfile
import types

import dateutil.parser
import salt.utils.jid
import salt.utils.schedule as schedule

HERE = os.path.dirname(os.path.abspath(__file__))
NOW = [None]
START = "2026-11-23T10:20:30.5"  # a Monday
KNOWN = {"test.ping": None, "test.skip": None, "test.echo": None}

real_parse = dateutil.parser.parse


def parse(text):
    return real_parse(text, default=NOW[0].replace(hour=0, minute=0, second=0, microsecond=0))


schedule.dateutil_parser = types.SimpleNamespace(parse=parse)
schedule.random = types.SimpleNamespace(randint=lambda low, high: (low + high) // 2)
salt.utils.jid.gen_jid = lambda opts: "JID"


class Lines(logging.Handler):
    def emit(self, record):
        LOG.append([record.levelname.lower(), record.getMessage()])


LOG = []
schedule.log.setLevel(logging.INFO)
schedule.log.addHandler(Lines())
schedule.log.propagate = False

ROWS = []


def plain(value):
    if isinstance(value, datetime.datetime):
        return {"at": value.isoformat()}
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


NOTED = ("_next_fire_time", "_skip_reason", "_error", "_last_run", "_splay", "_seconds")


def noted(jobs):
    """What the schedule has noted of its jobs, without what is empty."""
    return {name: {k: plain(job[k]) for k in NOTED if job.get(k) is not None} for name, job in jobs.items() if isinstance(job, dict) and "function" in job}


def row(name, jobs, steps=(0, 1, 2, 3, 4), start=START, loop=1, running=None, pillar=None, grains=None, change=None):
    """steps are seconds after start. change: {index of the step: jobs laid over the schedule before it}"""
    opts = {
        "schedule": copy.deepcopy(jobs), "loop_interval": loop, "pillar": copy.deepcopy(pillar or {}), "grains": copy.deepcopy(grains or {}),
        "__role": "minion", "cachedir": tempfile.mkdtemp(), "multiprocessing": False, "id": "m",
    }
    s = schedule.Schedule(opts, KNOWN, returners={}, new_instance=True, utils={})
    ran = []
    s._run_job = lambda func, data, jid=None: ran.append([data["name"], func, bool(data.get("dry_run"))])
    salt.utils.minion.running = lambda opts: [{"schedule": n, "pid": os.getpid()} for n, k in (running or {}).items() for _ in range(k)]
    begin = datetime.datetime.fromisoformat(start)
    out, times = [], []
    for i, step in enumerate(steps):
        if change and i in change:
            opts["schedule"].update(copy.deepcopy(change[i]))
        NOW[0] = begin + datetime.timedelta(seconds=step)
        del ran[:], LOG[:]
        error = None
        try:
            s.eval(now=NOW[0])
        except Exception as exc:
            error = str(exc)
        times.append(NOW[0].isoformat())
        out.append({"ran": list(ran), "log": list(LOG), "error": error, "jobs": noted(s._get_schedule())})
    ROWS.append({"name": name, "schedule": jobs, "pillar": pillar or {}, "grains": grains or {}, "loop": loop, "running": running or {},
                 "change": {str(k): v for k, v in (change or {}).items()}, "times": times, "out": out})


def one(title, steps=(0, 1, 2, 3, 4), start=START, **options):
    """A row of one job, called job."""
    known = {k: options.pop(k) for k in ("loop", "running", "pillar", "grains", "change") if k in options}
    bare = options.pop("bare", False)
    job = dict(options) if bare else {"function": "test.ping", **options}
    row(title, {"job": job}, steps, start, **known)


LONG = (0, 1, 29, 30, 31, 59, 60, 61, 90, 91, 120)
HOURS = (0, 3599, 3600, 3601, 7200, 86399, 86400, 86401)
DAY = 86400
AT = "2026-11-23T10:20:32"  # two seconds after the beginning

# intervals
one("seconds", seconds=2)
one("seconds long", LONG, seconds=30)
one("minutes", LONG, minutes=1)
one("hours", HOURS, hours=1)
one("days", HOURS, days=1)
one("all together", HOURS, seconds=1, minutes=59, hours=0, days=0)
one("seconds as text", seconds="2")
one("seconds as float", seconds=2.7)
one("seconds no number", seconds="two")
one("seconds null", seconds=None)
one("seconds zero", seconds=0)
one("seconds negative", seconds=-5)
one("run_on_start true", seconds=2, run_on_start=True)
one("run_on_start false", seconds=2, run_on_start=False)
one("late evaluations", (0, 10, 20, 21, 100), seconds=3, run_on_start=False)
one("clock ahead", (0, 1, DAY, DAY + 1, DAY + 2), seconds=2)
one("func", bare=True, func="test.ping", seconds=2)
one("fun", bare=True, fun="test.ping", seconds=2)
one("function before func", seconds=2, func="test.skip")
one("no function", bare=True, seconds=2)
one("unknown function", bare=True, function="no.such", seconds=2)
one("a name of its own", seconds=2, name="other")
one("args and kwargs", seconds=2, args=[1], kwargs={"a": 2}, metadata={"x": "y"}, returner="local", return_job=False)
one("dry_run", seconds=2, dry_run=True)
one("nothing says when")
one("enabled true", seconds=2, enabled=True)
one("enabled false", seconds=2, enabled=False)
one("enabled null", seconds=2, enabled=None)
row("no map", {"job": "text"})
row("list", {"job": ["a"]})
row("number", {"job": 5})
row("two jobs", {"b": {"function": "test.ping", "seconds": 2}, "a": {"function": "test.skip", "seconds": 1}})
row("none", {})

# maxrunning
one("maxrunning given", seconds=2, maxrunning=2)
one("one runs", seconds=2, running={"job": 1})
one("one of two runs", seconds=2, maxrunning=2, running={"job": 1})
one("two of two run", seconds=2, maxrunning=2, running={"job": 2})
one("another runs", seconds=2, running={"other": 4})
one("jid_include false", seconds=2, jid_include=False, running={"job": 4})
one("maxrunning zero", seconds=2, maxrunning=0)
one("one runs by cron", (0, 30, 31, 90), cron="* * * * *", running={"job": 1})
one("one runs by once", once=AT, running={"job": 1})
one("one runs by when", when=AT, running={"job": 1})

# the whole schedule
row("disabled", {"enabled": False, "job": {"function": "test.ping", "seconds": 2}})
row("enabled", {"enabled": True, "job": {"function": "test.ping", "seconds": 2}})
row("disabled and enabled again", {"enabled": False, "job": {"function": "test.ping", "seconds": 2}}, change={2: {"enabled": True}})
row("enabled and disabled", {"job": {"function": "test.ping", "seconds": 2}}, change={3: {"enabled": False}})
row("splay of all", {"splay": 3, "job": {"function": "test.ping", "seconds": 2}}, range(8))
row("splay of all and of one", {"splay": 30, "job": {"function": "test.ping", "seconds": 2, "splay": 1}}, range(8))
row("from pillar", {}, pillar={"schedule": {"job": {"function": "test.ping", "seconds": 2}}})
row("options win", {"job": {"function": "test.ping", "seconds": 3}}, pillar={"schedule": {"job": {"function": "test.skip", "seconds": 2}, "other": {"function": "test.skip", "seconds": 2}}})
row("hidden job", {"__mine_interval": {"function": "test.ping", "minutes": 1, "jid_include": True, "maxrunning": 2, "run_on_start": True, "return_job": False}})

# when
one("when", when=AT)
one("when of the clock", when="10:20:32")
one("when of the afternoon", (0, 24000, 24000 - 31, 24000 - 30.5, 23969.5, 23970, 23971), when="5:00pm")
one("when of a weekday", when="Monday 10:20:32")
one("when of another weekday", (0, DAY, DAY + 1, DAY + 2, DAY + 3), when="Tuesday 10:20:32")
one("when long ago", when="2001-01-01")
one("when of text", when="Novemberish")
one("when of a number", when=17)
one("when null", when=None)
one("when with a zone", when="2026-11-23T10:20:32Z")
one("when list", when=[AT, "2026-11-23T10:20:34"])
one("when list not in order", when=["2026-11-23T10:20:34", AT])
one("when list past and to come", when=["2026-11-23T10:20:00", "2026-11-23T10:20:33"])
one("when list past", when=["2026-11-23T10:20:00", "2026-11-23T10:20:10"])
one("when list empty", when=[])
one("when list with a bad one", when=[AT, "nonsense"])
one("when every day", (0, 1, 2, 3, DAY, DAY + 1, DAY + 2, DAY + 3, 2 * DAY, 2 * DAY + 1, 2 * DAY + 2, 2 * DAY + 3), when="10:20:32")
one("when every day, each hour looked at", tuple(range(0, 60 * 3600, 3600)), loop=3600, when="10:30")
one("when each minute", tuple(range(0, 600, 60)), loop=60, when=["10:22:00", "10:25:00"])
one("when of pillar", when="tea", pillar={"whens": {"tea": "10:20:32"}})
one("when of grains", when="tea", grains={"whens": {"tea": "10:20:32"}})
one("when of both", when="tea", pillar={"whens": {"tea": "10:20:31"}}, grains={"whens": {"tea": "10:20:33"}})
one("when of pillar no map", when="tea", pillar={"whens": ["tea"]})
one("when of grains no map", when="tea", grains={"whens": ["tea"]})
one("when run_on_start", when=AT, run_on_start=True)
one("when splay", range(8), when=AT, splay=5)
one("when splay map", range(8), when=AT, splay={"start": 2, "end": 4})
one("when late", (0, 10, 11), when=AT)

# once
one("once", once=AT)
one("once past", once="2026-11-23T10:20:00")
one("once format", once="23.11.2026 10:20:32", once_fmt="%d.%m.%Y %H:%M:%S")
one("once bad", once="tomorrow")
one("once bad format", once=AT, once_fmt="%d.%m")
one("once number", once=5)
one("once late", (0, 10, 11), once=AT)
one("once with a longer loop", (0, 40, 80, 120, 160), loop=60, once=AT)
one("once splay", range(8), once=AT, splay=5)
one("once run_on_start", once=AT, run_on_start=True)

# cron
one("cron", (0, 29, 30, 31, 89, 90, 91), cron="* * * * *")
one("cron every five", (0, 270, 570, 571, 870), cron="*/5 * * * *")
one("cron daily", (0, 3600, DAY), cron="0 9 * * *")
one("cron weekday", (0, DAY, 4 * DAY), cron="0 9 * * fri")
one("cron bad", cron="a b c")
one("cron bad value", cron="61 * * * *")
one("cron never", cron="0 0 30 2 *")
one("cron run_on_start", (0, 29, 30, 31), cron="* * * * *", run_on_start=True)
one("cron splay", range(28, 40), cron="* * * * *", splay=5)
one("cron late", (0, 300, 301, 330), cron="* * * * *")

# what cannot stand together
one("when and cron", when=AT, cron="* * * * *")
one("once and cron", once=AT, cron="* * * * *")
one("when and once", once=AT, when=AT)
one("seconds and when", seconds=2, when=AT)
one("seconds and cron", seconds=2, cron="* * * * *")
one("seconds and once", seconds=2, once=AT)

# splay
one("splay", range(10), seconds=2, splay=5)
one("splay map", range(10), seconds=2, splay={"start": 1, "end": 3})
one("splay map wrong way", range(6), seconds=2, splay={"start": 3, "end": 1})
one("splay zero", seconds=2, splay=0)
one("splay without run_on_start", range(10), seconds=2, splay=5, run_on_start=False)

# ranges
IN, OUT = {"start": "10:00", "end": "11:00"}, {"start": "8:00", "end": "9:00"}
one("in range", seconds=2, run_on_start=False, range=IN)
one("not in range", seconds=2, run_on_start=False, range=OUT)
one("range ignored at the start", seconds=2, range=OUT)
one("range inverted, in", seconds=2, run_on_start=False, range=dict(IN, invert=True))
one("range inverted, out", seconds=2, run_on_start=False, range=dict(OUT, invert=True))
one("range begins", range(8), seconds=1, run_on_start=False, range={"start": "10:20:33", "end": "10:20:35"})
one("range wrong way", seconds=2, run_on_start=False, range={"start": "11:00", "end": "9:00"})
one("range over midnight", seconds=2, run_on_start=False, range={"start": "22:00", "end": "6:00"})
one("range no map", seconds=2, run_on_start=False, range="all")
one("range bad start", seconds=2, run_on_start=False, range={"start": "x1x", "end": "11:00"})
one("range bad end", seconds=2, run_on_start=False, range={"start": "9:00", "end": "x1x"})
one("range without end", seconds=2, run_on_start=False, range={"start": "9:00"})
one("range and cron", (0, 29, 30, 31, 90), cron="* * * * *", range=OUT)
one("range and when", when=AT, range=OUT)
one("skip_during_range", seconds=2, run_on_start=False, skip_during_range=IN)
one("skip_during_range not now", seconds=2, run_on_start=False, skip_during_range=OUT)
one("skip_during_range ends", range(8), seconds=1, run_on_start=False, skip_during_range={"start": "10:20:30", "end": "10:20:33"})
one("skip_during_range wrong way", seconds=2, run_on_start=False, skip_during_range={"start": "11:00", "end": "9:00"})
one("skip_during_range no map", seconds=2, run_on_start=False, skip_during_range="all")
one("skip_during_range bad start", seconds=2, run_on_start=False, skip_during_range={"start": "x1x", "end": "11:00"})
one("skip_during_range bad end", seconds=2, run_on_start=False, skip_during_range={"start": "9:00", "end": "x1x"})
one("run_after_skip_range", range(10), seconds=30, run_on_start=False, skip_during_range={"start": "10:20:30", "end": "10:20:34"}, run_after_skip_range=True)
one("run_after_skip_range of a short job", range(10), seconds=2, run_on_start=False, skip_during_range={"start": "10:20:30", "end": "10:20:34"}, run_after_skip_range=True)
one("run_after_skip_range by when", range(10), when="10:20:32", skip_during_range={"start": "10:20:30", "end": "10:20:34"}, run_after_skip_range=True)
one("run_after_skip_range by cron", range(27, 40), cron="* * * * *", skip_during_range={"start": "10:20:30", "end": "10:21:04"}, run_after_skip_range=True)
row("skip range of all", {"skip_during_range": IN, "job": {"function": "test.ping", "seconds": 2, "run_on_start": False}})
row("skip_function", {"skip_function": "test.skip", "skip_during_range": IN, "job": {"function": "test.ping", "seconds": 2, "run_on_start": False}})
row("skip_function, range", {"skip_function": "test.skip", "job": {"function": "test.ping", "seconds": 2, "run_on_start": False, "range": OUT}})
row("skip_function, explicit", {"skip_function": "test.skip", "job": {"function": "test.ping", "seconds": 1, "run_on_start": False, "skip_explicit": [{"time": AT, "time_fmt": "%Y-%m-%dT%H:%M:%S"}]}}, range(6))

# until, after
one("until passed", seconds=2, run_on_start=False, until="2026-11-23T10:00")
one("until to come", seconds=2, run_on_start=False, until="2026-11-23T11:00")
one("until passes", range(8), seconds=1, run_on_start=False, until="2026-11-23T10:20:34")
one("until bad", seconds=2, run_on_start=False, until="x1x")
one("after passed", seconds=2, run_on_start=False, after="2026-11-23T10:00")
one("after to come", seconds=2, run_on_start=False, after="2026-11-23T11:00")
one("after passes", range(8), seconds=1, run_on_start=False, after="2026-11-23T10:20:34")
one("after bad", seconds=2, run_on_start=False, after="x1x")
one("after and until", range(10), seconds=1, run_on_start=False, after="2026-11-23T10:20:33", until="2026-11-23T10:20:36")
one("until and skip range", seconds=1, run_on_start=False, skip_during_range=IN, until="2026-11-23T11:00")

# explicit times
FMT = "%Y-%m-%dT%H:%M:%S"
one("skip_explicit", range(6), seconds=1, run_on_start=False, skip_explicit=[{"time": AT, "time_fmt": FMT}])
one("skip_explicit past", seconds=1, run_on_start=False, skip_explicit=[{"time": "2026-11-23T10:00:00", "time_fmt": FMT}])
one("skip_explicit far", seconds=1, run_on_start=False, skip_explicit=[{"time": "2026-11-24T10:00:00", "time_fmt": FMT}])
one("skip_explicit bad", seconds=1, run_on_start=False, skip_explicit=[{"time": "x", "time_fmt": FMT}])
one("run_explicit", range(6), seconds=60, run_on_start=False, run_explicit=[{"time": AT, "time_fmt": FMT}])
one("run_explicit past", seconds=60, run_on_start=False, run_explicit=[{"time": "2026-11-23T10:00:00", "time_fmt": FMT}])
one("run_explicit two", range(8), seconds=60, run_on_start=False, run_explicit=[{"time": AT, "time_fmt": FMT}, {"time": "2026-11-23T10:20:35", "time_fmt": FMT}])
one("run_explicit bad", seconds=60, run_on_start=False, run_explicit=[{"time": "x", "time_fmt": FMT}])
one("postponed", range(8), seconds=60, run_on_start=False, skip_explicit=[{"time": AT, "time_fmt": FMT}], run_explicit=[{"time": "2026-11-23T10:20:35", "time_fmt": FMT}])
one("postponed by when", range(8), when=AT, skip_explicit=[{"time": AT, "time_fmt": FMT}], run_explicit=[{"time": "2026-11-23T10:20:35", "time_fmt": FMT}])

# days of change: a clock on the wall that is set
one("an hour back", (3598, 3599, 0, 1, 2, 3600, 3601), start="2026-10-25T02:00:00.5", seconds=2)
one("an hour ahead", (-1, 3600, 3601, 3602), start="2026-03-29T02:00:00.5", seconds=2)
one("an hour ahead by when", (-1, 3600, 3601, 3602), start="2026-03-29T02:00:00.5", when="2:30")
one("an hour ahead by cron", (-1, 3600, 3601, 3602), start="2026-03-29T02:00:00.5", cron="30 2 * * *")
one("an hour back by cron", (0, 1799, 1800, 3599, 0, 1799, 1800), start="2026-10-25T02:00:00.5", cron="30 2 * * *")

with open(os.path.join(HERE, "evaluations.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(r) for r in ROWS) + "\n]\n")
print(len(ROWS), "schedules,", sum(len(r["times"]) for r in ROWS), "evaluations")
