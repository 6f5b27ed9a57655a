"""Record what Salt's Python reads in texts of dates and lines of cron: dates.json, cron.json.

Run with the python of a Salt 3008.3:  python dates.py
dates.json: [[text, date or null], ...] with today being NOW; scan.json: [[text, format, date or null], ...];
cron.json: [[line, [[from, next or null], ...]], ...]; a line of cron and when it is due.
"""

import datetime
import json
import os
import warnings

import croniter
import dateutil.parser

warnings.simplefilter("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
NOW = datetime.datetime(2026, 11, 23)  # a Monday

TEXTS = """
5:00pm|Monday 5:00pm|Tuesday 5pm|tue 5:30 pm|November 30th 1:00pm|30 November 2026 13:00|Nov 30|Nov 2027|2026-11-30|2026-11-30T10:20:30
2026-11-30 10:20:30.25|20261130|20261130T1020|20261130T102030|20261130102030|202611301020|11/29/2017 4:00pm|29/11/2017|1/2/2026|13/2/26|2026/11/30
30.11.2026|30.11.2026 10:20|1.2.2026|10:20|10:20:30|10:20:30.5|10:20.5|10h|10h30|10h30m|10 hours|10 h 30 m 15 s|at 5pm|on Monday at 5pm|Friday|friday|FRI
Sat 23:59|sunday 00:00|12am|12pm|12:30am|12:30 PM|5 p|5a|0:00|24:00|25:00|10:60|10:20:60|noon|tomorrow|now||   |x|Nov 31|Feb 29|Feb 29 2028|Feb 30
Sep.20.2009|Sep-20-2009|20-Sep-2009|20 Sep 09|Sep of 2009|Sep of 09|3rd of May 2001|3rd of May|1st|2nd|31|32|99|100|1999|2026|10|5 10|May 5 10:00|5 May
May|Sept 3|Dec 25 2026 08:00|25 Dec 08:00|Thu Sep 25 10:36:28 2003|Thu, 25 Sep 2003 10:49:41|2003-09-25T10:49|10:49:41.5|2003 Sep 25|Sep 25 2003|Sep 2003
030925|09-25-2003|25-09-2003|10-09-2003|10-09-03|2003.09.25|25.09.2003|09/25/03|10/09/03|10 09 2003|10 09 03|10pm|10 pm|10:36 pm|10am|10 am|10:00am|22pm
1996.July.10 AD 12:08 PM|July 4, 1976 12:01:02 am|Wed, July 10, 96|July 4, 1976|7 4 1976|4 jul 1976|7-4-76|19760704|0:01:02 on July 4, 1976|12h 01m02s am July 4, 1976
2026-11-30T10:20:30Z|10:00 UTC|10:00 GMT+3|2026-11-30 10:20:30+02:00|2026-11-30 10:20:30 -0500|10:00 EST|10:00 XYZ|10:00z|2026-W10|2026-334|-5|+5|1e3|0x10|10:00 10:30
Monday 30|Mon 2026-12-24|Nov 23 Monday|8:00 on Wed|Wed 8:00|8 Wed|13:00:00|1:5|1:5pm|01:05|2026-1-2|2026-13-2|2026-2-13|50-1-2|1-50-2|75-1-2|77-1-2|jan 77|jan 75|77|0|00:00
5:00pm Monday|6:00 am|6:00am.|6:00,am|6;00|5 o'clock|5'|May-5|May/5/27|5/May/27|5-May-27|12:00 May 5|2026 11 30|2026-11|11-2026|11/30|30/11|10:20:30,5|4:30:21.447|1.5h|1.25 hours|90 m|20m|30 s|2.5m
""".replace("\n", "|").split("|")

SCANS = [
    ("2026-11-30T10:20:30", "%Y-%m-%dT%H:%M:%S"), ("2026-11-30 10:20:30", "%Y-%m-%dT%H:%M:%S"), ("2026-11-30T10:20:30x", "%Y-%m-%dT%H:%M:%S"),
    ("26-1-2", "%y-%m-%d"), ("70-1-2", "%y-%m-%d"), ("69-1-2", "%y-%m-%d"), ("68-1-2", "%y-%m-%d"), ("10:20 PM", "%I:%M %p"), ("12:20 am", "%I:%M %p"), ("10:20", "%H:%M"),
    ("Nov 30 2026", "%b %d %Y"), ("November 30 2026", "%B %d %Y"), ("Mon Nov 30 2026", "%a %b %d %Y"), ("monday 1", "%A %d"), ("2026 334", "%Y %j"),
    ("1.5", "%S.%f"), ("1.123456", "%S.%f"), ("2026-02-30", "%Y-%m-%d"), ("100%", "%H0%%"), ("  5", "%d"), ("5  6", "%d %m"), ("2026113010", "%Y%m%d%H"),
    ("2026113", "%Y%m%d"), ("1", "%q"), ("", "%d"), ("", ""), ("May", "%B"), ("may", "%b"), ("Mon Nov 30 10:20:30 2026", "%c"), ("11/30/26", "%x"), ("10:20:30", "%X"),
    ("10:20:60", "%H:%M:%S"), ("10:20", "%T"), ("24:00", "%H:%M"), ("2026-11-30\t10", "%Y-%m-%d %H"), ("2026-11-3010", "%Y-%m-%d %H"), ("Friday", "%a"), ("0005-01-01", "%Y-%m-%d"),
]

LINES = """
* * * * *|*/5 * * * *|0 * * * *|30 4 * * *|0 0 1 * *|0 0 31 * *|0 0 29 2 *|0 0 30 2 *|0 0 * * 0|0 0 * * 7|0 0 * * sun|0 9-17 * * mon-fri|0,30 * * * *|5/15 * * * *|10-20/3 * * * *
0 0 1,15 * 3|0 0 13 * fri|0 0 * 1 *|0 0 1 jan *|0 0 1 JAN,JUL *|59 23 31 12 *|0 0 l * *|0 0 L * *|0 0 * * mon#1|0 0 * * mon#2,wed#3|0 0 * * l5|0 0 * * L0|0 0 * * fri#5|@hourly|@daily
@weekly|@monthly|@yearly|@annually|@midnight|@reboot|0 0 ? * *|0 0 * * ?|* * * * * 30|* * * * * */20|* * * * * 0,15|22-2 * * * *|50-10/5 * * * *|0 22-4 * * *|0 0 * 11-2 *|0 0 28-3 * *|0 0 * * fri-mon
0 0 * * 5-7|0 0 * * 6-0|* * * *|* * * * * * * *|60 * * * *|* 24 * * *|* * 0 * *|* * 32 * *|* * * 0 *|* * * 13 *|* * * * 8|*/0 * * * *|a * * * *|-1 * * * *|1-a * * * *|1,,2 * * * *|*/61 * * * *|* * * foo *
|   |5-5 * * * *|*/7 */3 * * *|0 */6 * * *|0 0 */2 * *|0 0 */10 * mon|0 0 1-7 * mon|15 10 L 2 *|0 0 1,L * *|0 0 * */3 *|0 12 * * 1-5|0 0 1 1 1|1-59/2 * * * *|0 0 * * */2|0 0 * * 1-5/2|0 0 15 * *|0 0 * * mon,7
""".replace("\n", "|").split("|")

FROM = [datetime.datetime(2026, 11, 23, 10, 20, 30), datetime.datetime(2026, 12, 31, 23, 59, 59, 500000), datetime.datetime(2028, 2, 28, 23, 59, 0), datetime.datetime(2026, 1, 31, 0, 0)]


def iso(at):
    return at.isoformat() if at else None


def date(text):
    try:
        at = dateutil.parser.parse(text, default=NOW)
    except (ValueError, OverflowError, TypeError):
        return None
    return "zoned" if at.tzinfo else iso(at)


def scan(text, form):
    try:
        return iso(datetime.datetime.strptime(text, form))
    except ValueError:
        return None


def cron(line, at):
    try:
        return iso(croniter.croniter(line, at).get_next(datetime.datetime))
    except (ValueError, KeyError):
        return None


def write(name, rows):
    with open(os.path.join(HERE, name), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")


os.environ["TZ"] = "UTC"
write("dates.json", [[t, date(t)] for t in dict.fromkeys(TEXTS)])
write("scan.json", [[t, f, scan(t, f)] for t, f in SCANS])
write("cron.json", [[l, [[iso(at), cron(l, at)] for at in FROM]] for l in dict.fromkeys(LINES)])
