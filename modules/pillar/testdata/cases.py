"""The trees that generate.py compiles."""

ALL = []


def case(name, files, id="web1.example", grains=None, saltenv=None, pillarenv=None, override=None, ext=None, extra=None, **opts):
    ALL.append({"name": name, "files": files, "id": id, "grains": grains or {"os": "Debian", "roles": ["web", "db"], "n": {"a": {"b": 7}}, "ipv4": ["10.1.2.3"], "ipv6": []},
                "saltenv": saltenv, "pillarenv": pillarenv, "override": override, "ext": ext, "extra": extra, "opts": opts})


def base(top, **slses):
    """Files below base: top.sls, and one for each name; __ in a name is a slash."""
    files = {"base/top.sls": top}
    for name, text in slses.items():
        files["base/" + name.replace("__", "/") + ".sls"] = text
    return files


ALLTOP = "base:\n  '*':\n"
A = ALLTOP + "    - a\n"
AB = ALLTOP + "    - a\n    - b\n"

# --- the least
case("no top", {"base": None})
case("empty top", base("", a="x: 1\n"))
case("blank top", base("  \n\n", a="x: 1\n"))
case("one", base(A, a="x: 1\ny: [1, two, ~]\nz: {b: 1, a: 2}\n"))
case("two merged", base(AB, a="x: {p: 1, q: [1, 2]}\ny: 1\n", b="x: {q: [3], r: 1}\nz: 2\ny: 3\n"))
case("order of keys", base(AB, a="c: 1\na: 2\nb: {z: 1, y: 2}\n", b="b: {y: 3, x: 4, z: 5}\na: 9\nd: 1\n"))
case("unicode", base("base:\n  'w\u00e9b*':\n    - \u00fcber\n  '*':\n    - a\n", **{"\u00fcber": "gr\u00fc\u00df: \u65e5\u672c\n", "a": "k: '\U0001f600'\n"}), id="w\u00e9b1")
case("empty sls", base(AB, a="", b="x: 1\n"))
case("blank sls", base(AB, a=" \n\n", b="x: 1\n"))
case("comment only", base(AB, a="# nothing\n", b="x: 1\n"))
case("null sls", base(AB, a="~\n", b="x: 1\n"))
case("list sls", base(AB, a="- 1\n- 2\n", b="x: 1\n"))
case("text sls", base(AB, a="just text\n", b="x: 1\n"))
case("number sls", base(AB, a="7\n", b="x: 1\n"))
case("zero sls", base(AB, a="0\n", b="x: 1\n"))
case("empty list sls", base(AB, a="[]\n", b="x: 1\n"))
case("init", base(A, a__init="x: init\n"))
case("both init and plain", base(A, a__init="x: init\n", a="x: plain\n"))
case("missing", base(AB, b="x: 1\n"))
case("all missing", base(AB))
case("dotted and slashed", base(ALLTOP + "    - a.b\n    - a/c\n", a__b="b: 1\n", a__c="c: 1\n"))
case("slash at the head", base(ALLTOP + "    - /a\n    - a/\n    - .a\n    - a.\n", a="x: 1\n"))
case("globs of sls", base(ALLTOP + "    - 'a.*'\n    - '?b'\n    - '[xy]z'\n    - 'n*'\n", a__b="b: 1\n", a__c__d="d: 1\n", a__init="i: 1\n", bb="bb: 1\n", xz="xz: 1\n", yz="yz: 1\n"))
case("types of scalars", base(A, a="a: 010\nb: 0x1f\nc: 1e3\nd: 1.0e+3\ne: yes\nf: 2024-01-01\ng: 12:30\nh: .inf\ni: ~\nj: !!binary aGk=\n2: two\ntrue: t\n2.5: f\n"))
case("conflicting ids", base(AB, a="x: 1\nx: 2\n", b="y: 1\n"))
case("conflicting ids told", base(AB, a="x: 1\nx: 2\n", b="y: 1\n"), pillar_safe_render_error=False)
case("yaml error told", base(AB, a="x: [1\ny: 2\n", b="y: 1\n"), pillar_safe_render_error=False)
case("tabs told", base(A, a="x:\n\ty: 2\n"), pillar_safe_render_error=False)
case("jinja error", base(AB, a="x: {{ nope }}\n", b="y: 1\n"))
case("jinja error told", base(AB, a="x: 1\ny: {{ nope }}\nz: 3\n", b="y: 1\n"), pillar_safe_render_error=False)
case("jinja syntax told", base(A, a="x: 1\n{% if %}\n"), pillar_safe_render_error=False)
case("jinja raise told", base(A, a="{{ raise('no way') }}\n"), pillar_safe_render_error=False)
case("function error told", base(A, a="x: {{ salt['test.exception']('no') }}\n"), pillar_safe_render_error=False)
case("windows line ends", base(A.replace("\n", "\r\n"), a="x: 1\r\ny: |\r\n  a\r\n  b\r\n"))
case("json renderer", base(A, a='#!json\n{"x": {"y": [1, 2.5, null, true]}}\n'))
case("yaml only", base(A, a="#!yaml\nx: '{{ 1 }}'\n"))
case("unknown renderer", base(AB, a="#!nosuch\nx: 1\n", b="y: 1\n"))
case("json error told", base(A, a="#!json\n{\n"), pillar_safe_render_error=False)
case("bad bytes of renderer yaml", base(A, a="x: '{{ 1 + 1 }}'\n"), renderer="yaml")
case("renderer json", {"base/top.sls": '{"base": {"*": ["a"]}}', "base/a.sls": '{"x": 1}'}, renderer="json")
case("renderer blacklist", base(A, a="#!json\n{\"x\": 1}\n"), renderer_blacklist=["json"])
case("renderer whitelist", base(A, a="#!json\n{\"x\": 1}\n"), renderer_whitelist=["jinja", "yaml"])

# --- the top file
MATCH = "base:\n"
for kind, good, bad in (
    ("glob", "web*", "db*"), ("pcre", "web\\d.*", "web$"), ("list", "a,web1.example", "a,b"), ("grain", "os:Deb*", "os:Arch"), ("grain_pcre", "os:(Debian|Arch)", "os:Deb$"),
    ("pillar", "x:1", "x:2"), ("pillar_pcre", "x:.*", "x:2"), ("pillar_exact", "x:1", "x:2"), ("ipcidr", "10.0.0.0/8", "192.168.0.0/16"),
    ("compound", "G@os:Debian and web* and not E@db.*", "web* and G@os:Arch"), ("nodegroup", "ng1", "ng2"), ("range", "%a", "%b"), ("data", "a:b", "b:c"),
    ("cache", "a", "b"), ("resource", "a", "b"), ("managing_minion", "web1.example", "b"),
):
    case("match " + kind, base(MATCH + f"  '{good}':\n    - match: {kind}\n    - a\n  '{bad}':\n    - b\n    - match: {kind}\n", a="x: 1\n", b="x: 2\n"),
         nodegroups={"ng1": "web* and G@os:Debian", "ng2": "L@x,y"})
case("match unknown", base(MATCH + "  'x':\n    - match: nosuch\n    - a\n", a="x: 1\n"))
case("match is a list", base(MATCH + "  'x':\n    - match: [a]\n    - a\n", a="x: 1\n"))
case("the last match counts", base(MATCH + "  'web*':\n    - match: list\n    - a\n    - match: glob\n", a="x: 1\n"))
case("compound by default", base(MATCH + "  'web* and G@os:Debian':\n    - a\n  'N@ng1':\n    - b\n  'G@os:Arch or L@web1.example':\n    - c\n  '(':\n    - d\n  'and x':\n    - d\n",
                                  a="x: 1\n", b="y: 1\n", c="z: 1\n", d="d: 1\n"), nodegroups={"ng1": ["web*", "and", "G@os:Debian"]})
case("nested grains", base(MATCH + "  'G@n:a:b:7':\n    - a\n  'G@roles:db':\n    - b\n  'P@roles:^w':\n    - c\n", a="x: 1\n", b="y: 1\n", c="z: 1\n"))
case("number as a target", base(MATCH + "  5:\n    - a\n  '*':\n    - b\n", a="x: 1\n", b="y: 1\n"))
case("targets are null", base("base:\n", a="x: 1\n"))
case("targets are a list", base("base:\n  - a\n", a="x: 1\n"))
case("targets are text", base("base: a\n", a="x: 1\n"))
case("sls are text", base("base:\n  '*': a\n", a="x: 1\n"))
case("sls are a map", base("base:\n  '*': {a: 1, b: 2}\n", a="x: 1\n", b="y: 1\n"))
case("sls are null", base("base:\n  '*':\n", a="x: 1\n"))
case("sls is a number", base("base:\n  '*':\n    - 5\n    - a\n", a="x: 1\n"))
case("top is a list", base("- base\n", a="x: 1\n"))
case("top is text", base("base\n", a="x: 1\n"))
case("top is a number", base("12\n", a="x: 1\n"))
case("top has an error", base("base: [\n", a="x: 1\n"))
case("top has an error of jinja", base("base:\n  '*':\n    - {{ nope }}\n", a="x: 1\n"))
case("top by jinja", base("base:\n  '*':\n{% for x in ['a', 'b'] %}\n    - {{ x }}\n{% endfor %}\n{% if grains.os == 'Debian' %}\n  '{{ grains.id | default(opts.id) }}':\n    - c\n{% endif %}\n", a="x: 1\n", b="y: 1\n", c="z: 1\n"))
case("top of yaml twice", base("base:\n  '*':\n    - a\n  '*':\n    - b\n", a="x: 1\n", b="y: 1\n"))
case("order", base("base:\n  'w*':\n    - order: 2\n    - a\n  '*1*':\n    - b\n    - order: '1'\n  '*':\n    - c\n    - order: x\n", a="x: a\n", b="x: b\n", c="x: c\n"))
case("order is null", base("base:\n  'w*':\n    - order: ~\n    - a\n", a="x: a\n"))
case("order is negative", base("base:\n  'w*':\n    - a\n  '*':\n    - order: -1.9\n    - b\n", a="x: a\n", b="x: b\n"))
case("ignore missing", base("base:\n  '*':\n    - ignore_missing: True\n    - a\n    - b\n  'w*':\n    - c\n", a="x: 1\n"))
case("same sls twice", base("base:\n  '*':\n    - a\n    - a\n  'w*':\n    - b\n    - a\n", a="x: 1\n", b="x: 2\n"))
case("top includes", base("include:\n  - more\nbase:\n  '*':\n    - a\n", more="include:\n  - never\nbase:\n  'w*':\n    - b\n  '*':\n    - c\n", a="x: 1\n", b="y: 1\n", c="z: 1\n", never="base:\n  '*':\n    - d\n", d="d: 1\n"))
case("top includes what is missing", base("include:\n  - nosuch\nbase:\n  '*':\n    - a\n", a="x: 1\n"))
case("top includes an error", base("include:\n  - more\nbase:\n  '*':\n    - a\n", a="x: 1\n", more="x: [\n"))
case("top includes null", base("include:\nbase:\n  '*':\n    - a\n", a="x: 1\n"))
case("top includes a list", base("include:\n  - more\nbase:\n  '*':\n    - a\n", a="x: 1\n", more="- x\n"))
case("state_top", {"base/tops/p.sls": A, "base/a.sls": "x: 1\n"}, state_top="tops/p.sls")
case("state_top with a slash", {"base/p.sls": A, "base/a.sls": "x: 1\n"}, state_top="/p.sls")
case("state_top as url", {"base/p.sls": A, "base/a.sls": "x: 1\n"}, state_top="salt://p.sls")

# --- environments
ENVS = {"base/top.sls": "base:\n  '*':\n    - a\ndev:\n  '*':\n    - b\n", "base/a.sls": "x: base\nl: [1]\nenv: {{ saltenv }}\n", "base/b.sls": "y: base\n",
        "dev/top.sls": "dev:\n  '*':\n    - a\n", "dev/a.sls": "x: dev\nl: [2]\nenv: {{ saltenv }}\n", "dev/b.sls": "y: dev\n", "qa/top.sls": "qa:\n  '*':\n    - a\n", "qa/a.sls": "x: qa\n"}
TWO = {"base": ["$R/base"], "dev": ["$R/dev"]}
case("two environments", ENVS, pillar_roots=TWO)
case("two environments, the other order", ENVS, pillar_roots={"dev": ["$R/dev"], "base": ["$R/base"]})
case("pillarenv base", ENVS, pillar_roots=TWO, pillarenv="base")
case("pillarenv dev", ENVS, pillar_roots=TWO, pillarenv="dev")
case("pillarenv unknown", ENVS, pillar_roots=TWO, pillarenv="nosuch")
case("pillarenv empty", ENVS, pillar_roots=TWO, pillarenv="")
case("saltenv dev", ENVS, pillar_roots=TWO, saltenv="dev")
case("pillarenv from saltenv", ENVS, pillar_roots=TWO, saltenv="dev", pillarenv_from_saltenv=True)
case("strategy none", ENVS, pillar_roots=TWO, pillar_source_merging_strategy="none")
case("strategy none, dev", ENVS, pillar_roots=TWO, pillar_source_merging_strategy="none", saltenv="dev")
case("strategy none, unknown", ENVS, pillar_roots=TWO, pillar_source_merging_strategy="none", saltenv="qa")
case("env order", ENVS, pillar_roots=TWO, env_order=["dev", "base"])
case("any env", ENVS, pillar_roots={"base": ["$R/base"], "__env__": ["$R/__env__"]}, pillarenv="qa")
case("any env by saltenv", ENVS, pillar_roots={"base": ["$R/base"], "__env__": ["$R/__env__"]}, saltenv="qa")
case("any env, base", ENVS, pillar_roots={"__env__": ["$R/__env__", "$R/more/__env__"]})
case("any env, known", ENVS, pillar_roots={"__env__": ["$R/__env__"], "dev": ["$R/dev"]}, pillarenv="dev")
case("an environment without roots", {"base/top.sls": "nosuch:\n  '*':\n    - a\nbase:\n  '*':\n    - a\n", "base/a.sls": "x: 1\n"})
case("an environment with empty roots", {"base/top.sls": "e:\n  '*':\n    - a\nbase:\n  '*':\n    - a\n", "base/a.sls": "x: 1\n"}, pillar_roots={"base": ["$R/base"], "e": []})
case("two roots", {"base/top.sls": AB, "base/a.sls": "x: 1\n", "more/a.sls": "x: 2\n", "more/b/init.sls": "y: 2\n", "more/top.sls": "base:\n  '*':\n    - nosuch\n"}, pillar_roots={"base": ["$R/base", "$R/more"]})
case("roots that are not there", base(A, a="x: 1\n"), pillar_roots={"base": ["$R/nosuch", "$R/base"]})
case("links", {"base/top.sls": ALLTOP + "    - 'l.*'\n    - b\n", "out/a.sls": "x: 1\n", "base/l": "-> $R/out", "base/b.sls": "-> $R/out/a.sls", "base/dead.sls": "-> $R/nosuch"})
case("ignored directories", base(ALLTOP + "    - 'd.*'\n    - d.a\n    - 'e.*'\n", d__a="x: 1\n", e__a="y: 1\n"), file_ignore_glob=["d", "*.sls"])
case("hidden files", base(ALLTOP + "    - '*'\n", **{".h": "x: 1\n", "a": "y: 1\n", ".g/b": "z: 1\n"}))

# --- includes
case("include", base(A, a="include:\n  - b\nx: a\nl: [1]\n", b="x: b\ny: b\nl: [2]\n"))
case("include overrides", base(A, a="include:\n  - b\nx: a\nl: [1]\nm: {p: 1}\n", b="x: b\ny: b\nl: [2]\nm: {q: 1}\n"), pillar_includes_override_sls=True)
case("include merges lists", base(A, a="include:\n  - b\nl: [1, 1, 2]\n", b="l: [2, 3, 3]\n"), pillar_merge_lists=True)
case("include with key", base(A, a="include:\n  - b:\n      key: p:q\n  - c:\n      key: r\nx: a\np: {z: 1}\n", b="x: b\n", c="x: c\n"))
case("include with defaults", base(A, a="include:\n  - b:\n      defaults:\n        who: me\n        n: [1, 2]\n      key: k\n  - c\nx: a\n", b="x: {{ who }} {{ n }}\n", c="y: {{ who | default('none') }}\n"))
case("defaults go on down", base(A, a="include:\n  - b:\n      defaults: {who: me}\n", b="include:\n  - c\nx: {{ who }}\n", c="include:\n  - d:\n      defaults: {other: 1}\ny: {{ who }}\n", d="z: {{ who | default('none') }} {{ other }}\n"))
case("defaults with names of arguments", base(A, a="include:\n  - b:\n      defaults: {sls: me}\n", b="x: {{ sls }}\n"), pillar_safe_render_error=False)
case("defaults with names of variables", base(A, a="include:\n  - b:\n      defaults: {grains: {os: none}, argline: x, tmplpath: y}\n", b="x: {{ grains.os }}\n"), pillar_safe_render_error=False)
case("defaults as text", base(A, a="include:\n  - b:\n      defaults: me\n", b="x: 1\n"), pillar_safe_render_error=False)
case("defaults null", base(A, a="include:\n  - b:\n      defaults:\n", b="x: 1\n"))
case("defaults with number keys", base(A, a="include:\n  - b:\n      defaults: {1: 2}\n", b="x: 1\n"), pillar_safe_render_error=False)
case("include null options", base(A, a="include:\n  - b:\nx: 1\n", b="x: 1\n"))
case("include empty map", base(A, a="include:\n  - {}\nx: 1\n"))
case("include number", base(A, a="include:\n  - 5\nx: 1\n"))
case("include key is a number", base(A, a="include:\n  - b:\n      key: 5\nx: 1\n", b="x: 1\n"))
case("include is text", base(A, a="include: b\nx: 1\n", b="x: 2\n"))
case("include is empty", base(A, a="include: []\nx: 1\n"))
case("include is null", base(A, a="include:\nx: 1\n"))
case("include missing", base(A, a="include:\n  - nosuch\nx: 1\n"))
case("include an error", base(A, a="include:\n  - b\n  - c\nx: 1\n", b="x: [\n", c="y: 1\n"))
case("include a list", base(A, a="include:\n  - b\nx: 1\n", b="- 1\n"))
case("include an empty file", base(A, a="include:\n  - b\nx: 1\n", b=""))
case("include text", base(A, a="include:\n  - b\nx: 1\n", b="text\n"))
case("include twice", base(AB, a="include:\n  - c\n  - c\nx: 1\n", b="include:\n  - c\ny: 1\n", c="z: [1]\nx: 3\n"))
case("include of a circle", base(A, a="include:\n  - b\nx: a\ny: a\n", b="include:\n  - c\nx: b\nz: b\n", c="include:\n  - a\nx: c\nw: c\n"))
case("include itself", base(A, a="include:\n  - a\nx: a\n"))
case("include by glob", base(A, a="include:\n  - 'd.*'\n  - 'n*'\nx: a\n", d__b="x: b\nb: 1\n", d__c="x: c\nc: 1\n", d__init="i: 1\n"))
case("include with slash", base(A, a="include:\n  - d/b\nx: a\n", d__b="b: 1\n"))
case("include relative", base(ALLTOP + "    - p.q\n    - r\n", p__q="include:\n  - .s\nx: 1\n", p__s="s: p\n", s="s: top\nt: top\n", r__init="include:\n  - .u\n  - .v.w\n", r__u="u: 1\n", r__v__w="w: 1\n"))
case("include relative, above", base(ALLTOP + "    - p.q.r\n", p__q__r="include:\n  - ..s\nx: 1\n", p__s="s: 1\n", p__q__s="s: 2\n"))
case("include relative of init", base(ALLTOP + "    - p\n", p__init="include:\n  - .q\nx: 1\n", p__q="include:\n  - .r\nq: 1\n", p__r="r: 1\n", q="q: top\n"))
case("include relative, missing", base(ALLTOP + "    - p.q\n", p__q="include:\n  - .nosuch\nx: 1\n"))
case("include with ignore missing", base("base:\n  '*':\n    - a\n    - b\n    - ignore_missing: True\n", a="include:\n  - b\n  - c\nx: 1\n"))
case("include in another environment", {"base/top.sls": "dev:\n  '*':\n    - a\n", "dev/a.sls": "include:\n  - b\nx: 1\n", "base/b.sls": "b: 1\n"}, pillar_roots=TWO)
case("includes of strategy list", base(A, a="include:\n  - b\n  - c\nx: a\ny: a\n", b="x: b\n", c="x: c\nz: c\n"), pillar_source_merging_strategy="list")
case("includes of strategy overwrite", base(AB, a="include:\n  - c\n  - d\nx: {a: 1}\n", b="include:\n  - c\nw: 1\n", c="x: {c: 1}\ny: {c: 1}\n", d="x: {d: 1}\ny: {d: 1}\n"), pillar_source_merging_strategy="overwrite")
case("an error twice", base(A, a="include:\n  - nosuch\n  - b\n  - b\nx: 1\n", b="y: 1\n"))

# --- merging
M = dict(a="m: {l: [1, 2], d: {x: 1, y: [1]}, s: a}\nl: [1, {a: 1}]\nonly_a: 1\n", b="m: {l: [2, 3, 3], d: {y: [2], z: 3}, s: b}\nl: [{a: 1}, 2, 2]\nonly_b: 1\n", c="m: {d: [1], l: {k: 1}}\nl: x\n", d="m: text\nl: {q: 1}\nonly_a: ~\n")
ABCD = ALLTOP + "    - a\n    - b\n    - c\n    - d\n"
for strategy in ("smart", "recurse", "aggregate", "list", "overwrite", "none", "nosuch"):
    for lists in (False, True):
        case(f"merge {strategy} {lists}", base(AB, **M), pillar_source_merging_strategy=strategy, pillar_merge_lists=lists)
        case(f"merge of kinds {strategy} {lists}", base(ABCD, **M), pillar_source_merging_strategy=strategy, pillar_merge_lists=lists, override={"m": {"l": [9]}, "l": [2, 9]})
case("merge of equal values", base(AB, a="l: [1, true, 1.0, '1', ~]\n", b="l: [true, 1, 0, false, '1', 2.0]\n"), pillar_merge_lists=True)
case("merge by environments", ENVS, pillar_roots=TWO, pillar_merge_lists=True)
case("merge of numbers and truth", base(AB, a="l: [1, [2.0], {k: true}, 0]\n", b="l: [1.0, true, [2], {k: 1}, false]\n"), pillar_merge_lists=True)
case("overwrite of what is included by a glob", base(A, a="include:\n  - 'd.*'\n  - e\n", d__a="x: {a: 1}\ny: 1\n", d__b="x: {b: 1}\ny: 2\n", e="include:\n  - d.a:\n      key: k\nz: 1\n"), pillar_source_merging_strategy="overwrite")

# --- overrides
case("override", base(AB, a="x: {p: 1}\ny: [1]\n", b="z: 1\n"), override={"x": {"q": 2}, "y": [2], "w": "w"})
case("override before keys", base(A, a="b: 1\na: 1\n"), override={"a": 5, "z": 1})
case("override merges lists", base(A, a="y: [1]\n"), override={"y": [2]}, pillar_merge_lists=True)
case("override is a list", base(A, a="y: [1]\n"), override=["x"])
case("override empty", base(A, a="y: [1]\n"), override={})
case("override not seen in templates", base(A, a="y: {{ pillar.get('w', 'none') }} {{ salt['pillar.get']('w', 'none') }}\n"), override={"w": 1})
case("override with strategy list", base(A, a="y: 1\n"), override={"y": 2, "z": 3}, pillar_source_merging_strategy="list")
case("override of errors", base(A), override={"_errors": ["mine"]})

# --- templates
case("names in templates", base(ALLTOP + "    - p.q\n    - r\n", p__q="a: {{ sls }} {{ saltenv }} {{ slspath }} {{ tplfile }} {{ tpldir }} {{ tpldot }} {{ slsdotpath }}\nb: {{ opts.id }} {{ opts.minion_id }} {{ opts.file_client }} {{ opts.pillarenv }} {{ opts.saltenv }}\nc: {{ grains.os }}\nd: {{ pillar }}\ne: {{ _pillar_rend }}\n", r__init="r: {{ tplfile }} {{ slspath }}\n"), pillarenv="base")
case("id in templates", base(A, a="x: {{ grains.id | default('none') }} {{ opts['id'] }} {{ salt['grains.get']('os') }} {{ salt['grains.get']('n:a:b') }}\n"))
case("earlier sls are not seen", base(AB, a="x: 1\n", b="y: {{ pillar.get('x', 'none') }} {{ salt['pillar.get']('x', 'none') }}\n"))
case("import", base(A, a="{% from 'lib/m.jinja' import v, f with context %}\n{% import_yaml 'data.yaml' as d %}\n{% import_json './data.json' as j %}\nx: {{ v }} {{ f(2) }} {{ d.k }} {{ j.k }}\n{% include 'part.txt' %}\n", **{})
     | {"base/lib/m.jinja": "{% set v = grains.os %}{% macro f(n) %}{{ n * 2 }}{% endmacro %}\n", "base/data.yaml": "k: [1, 2]\n", "base/data.json": "{\"k\": 3}", "base/part.txt": "y: {{ sls }}\n"})
case("import from the other root", {"base/top.sls": A, "base/a.sls": "{% from 'm.jinja' import v %}\nx: {{ v }}\n", "more/m.jinja": "{% set v = 5 %}\n"}, pillar_roots={"base": ["$R/base", "$R/more"]})
case("import of the environment", {"base/top.sls": "dev:\n  '*':\n    - a\n", "dev/a.sls": "{% from 'm.jinja' import v %}\nx: {{ v }}\n", "base/m.jinja": "{% set v = 'base' %}\n", "dev/m.jinja": "{% set v = 'dev' %}\n"}, pillar_roots=TWO)
case("import missing", base(A, a="{% from 'nosuch.jinja' import v %}\nx: {{ v }}\n"), pillar_safe_render_error=False)
case("import from above", base(A, a="{% from '../x.jinja' import v %}\nx: {{ v }}\n") | {"x.jinja": "{% set v = 1 %}"}, pillar_safe_render_error=False)
case("import from above by name", base(A, a="{% from 'd/../../x.jinja' import v %}\nx: {{ v }}\n") | {"x.jinja": "{% set v = 1 %}", "base/d/e": ""}, pillar_safe_render_error=False)
case("jinja options", base(A, a="{% if true %}\nx: 1\n{% endif %}\n#%# set y = 5\ny: 2\n"), jinja_sls_env={"line_statement_prefix": "#%#"}, jinja_trim_blocks=True)
case("functions in templates", base(A, a="x: {{ salt['test.echo']('e') }} {{ salt.test.ping() }} {{ 'nosuch.f' in salt }}\ny: {{ salt['cmd.run']('echo hi') }}\nz: {{ salt['grains.filter_by']({'Debian': 1, 'default': 2}, grain='os') }}\n"))
case("error in an attribute told", base(A, a="x: {{ grains.nosuch.deep }}\n"), pillar_safe_render_error=False)

case("cmd error told", base(A, a="x: {{ salt['grains.filter_by']('x') }}\n"), pillar_safe_render_error=False)
case("pillar changed in a template", base(AB, a="{% do pillar.update({'z': 1}) %}\nx: 1\n", b="y: {{ pillar.get('z', 'none') }}\n"))
case("template in a list", base(A, a="x:\n{% for r in grains.roles %}\n  - {{ r }}\n{% endfor %}\n"))

# --- pillar_opts, external pillars
case("pillar_opts", base(A, a="x: 1\nmaster: mine\n"), pillar_opts=True)
EXT = "$R/base"
case("ext cmd_yaml", base(A, a="x: 1\nm: {p: 1}\n"), ext_pillar=[{"cmd_yaml": "echo 'm: {q: \"%s\"}'; echo 'y: [1]'"}])
case("ext cmd_json", base(A, a="x: 1\n"), ext_pillar=[{"cmd_json": 'echo {\\"arg\\":\\"%s\\"}'}])
case("ext two", base(A, a="x: 1\n"), ext_pillar=[{"cmd_yaml": "echo 'a: 1'"}, {"cmd_yaml": "echo 'a: 2'; echo 'b: 2'"}])
case("ext two in one", base(A, a="x: 1\n"), ext_pillar=[{"cmd_yaml": "echo 'a: 1'", "cmd_json": "echo '{\"b\": 2}'"}])
case("ext fails", base(A, a="x: 1\n"), ext_pillar=[{"cmd_yaml": "exit 3"}, {"cmd_json": "false"}, {"cmd_yaml": "echo 'a: ['"}, {"cmd_yaml": "echo 'z: 1'"}])
case("ext is no map", base(A, a="x: 1\n"), ext_pillar=[{"cmd_yaml": "echo '[1]'"}])
case("ext is text", base(A, a="x: 1\n"), ext_pillar=[{"cmd_yaml": "echo hi"}])
case("ext unknown", base(A, a="x: 1\n"), ext_pillar=[{"nosuch": "a"}, {"cmd_yaml": "echo 'a: 1'"}])
case("ext malformed", base(A, a="x: 1\n"), ext_pillar={"cmd_yaml": "echo 'a: 1'"})
case("ext malformed entry", base(A, a="x: 1\n"), ext_pillar=[{"cmd_yaml": "echo 'a: 1'"}, "cmd_yaml"])
case("ext malformed entry with override", base(A, a="x: 1\n"), ext_pillar=["cmd_yaml"], override={"o": 1})
case("ext wrong arguments", base(A, a="x: 1\n"), ext_pillar=[{"cmd_yaml": {"nosuch": 1}}, {"cmd_yaml": ["a", "b"]}])
case("ext arguments by name", base(A, a="x: 1\n"), ext_pillar=[{"cmd_yaml": {"command": "echo 'a: 1'"}}, {"cmd_yaml": ["echo 'b: 2'"]}])
case("ext excluded", base(A, a="x: 1\n"), ext_pillar=[{"cmd_yaml": "echo 'a: 1'"}], exclude_ext_pillar=["cmd_yaml"])
case("ext over override", base(A, a="x: 1\n"), ext_pillar=[{"cmd_yaml": "echo 'o: ext'; echo 'e: 1'"}], override={"o": "cli"})
case("ext with strategy list", base(A, a="x: 1\n"), ext_pillar=[{"cmd_yaml": "echo 'x: 2'; echo 'e: 1'"}], pillar_source_merging_strategy="list")
case("ext first", base("base:\n  'I@role:web':\n    - a\n  '*':\n    - b\n", a="x: {{ pillar.role }} {{ salt['pillar.get']('role') }}\n", b="role: fromsls\nm: {b: 1}\n"), ext_pillar=[{"cmd_yaml": "echo 'role: web'; echo 'm: {e: 1}'"}], ext_pillar_first=True)
case("ext first with override", base("base:\n  'I@role:web':\n    - a\n  '*':\n    - b\n", a="x: {{ pillar.role }}\n", b="z: {{ pillar.o }}\n"), ext_pillar=[{"cmd_yaml": "echo 'role: web'"}], ext_pillar_first=True, override={"o": 5})
case("ext first fails", base(A, a="x: 1\n"), ext_pillar=["x"], ext_pillar_first=True)
case("ext last cannot be matched", base("base:\n  'I@role:web':\n    - a\n  '*':\n    - b\n", a="x: 1\n", b="y: 1\n"), ext_pillar=[{"cmd_yaml": "echo 'role: web'"}])
TREE = {"ft/hosts/web1.example/a": "one\n", "ft/hosts/web1.example/d/e/f": "deep\n\n", "ft/hosts/web1.example/d/g": "\u00e9", "ft/hosts/other/a": "no\n", "ft/nodegroups/ng1/a": "group\n", "ft/nodegroups/ng1/b": "group b\n", "ft/nodegroups/ng2/c": "no\n"}
NG = {"ng1": "web*", "ng2": "L@x,y", "ng3": "G@os:Debian or web*"}
case("ext file_tree", base(A, a="x: 1\n") | TREE, ext_pillar=[{"file_tree": {"root_dir": "$R/ft"}}], nodegroups=NG)
case("ext file_tree keeps newlines", base(A, a="x: 1\n") | TREE, ext_pillar=[{"file_tree": {"root_dir": "$R/ft", "keep_newline": True}}])
case("ext file_tree keeps some newlines", base(A, a="x: 1\n") | TREE, ext_pillar=[{"file_tree": {"root_dir": "$R/ft", "keep_newline": ["d/*/f", "./a"]}}])
case("ext file_tree templates", base(A, a="x: 1\n") | {"ft/hosts/web1.example/a": "k: {{ grains.os }}\n"}, ext_pillar=[{"file_tree": {"root_dir": "$R/ft", "template": True, "render_default": "jinja|yaml"}}])
case("ext file_tree templates of text", base(A, a="x: 1\n") | {"ft/hosts/web1.example/a": "k {{ grains.os }}\n"}, ext_pillar=[{"file_tree": {"root_dir": "$R/ft", "template": True, "render_default": "jinja"}}])
case("ext file_tree without a root", base(A, a="x: 1\n"), ext_pillar=[{"file_tree": {"root_dir": "$R/nosuch"}}, {"file_tree": {}}])
case("ext file_tree relative", base(A, a="x: 1\n") | {"base/ft/hosts/web1.example/a": "rel\n"}, ext_pillar=[{"file_tree": {"root_dir": "ft"}}], pillarenv="base")
case("ext file_tree relative without pillarenv", base(A, a="x: 1\n") | {"base/ft/hosts/web1.example/a": "rel\n"}, ext_pillar=[{"file_tree": {"root_dir": "ft"}}])
case("ext file_tree bad keep_newline", base(A, a="x: 1\n") | TREE, ext_pillar=[{"file_tree": {"root_dir": "$R/ft", "keep_newline": "x"}}])
case("ext file_tree links", base(A, a="x: 1\n") | TREE | {"ft/hosts/web1.example/l": "-> $R/out", "out/z": "out\n", "ft/hosts/web1.example/lf": "-> $R/out/z"}, ext_pillar=[{"file_tree": {"root_dir": "$R/ft", "follow_dir_links": True}}])
case("ext nodegroups", base(A, a="x: 1\n"), ext_pillar=[{"nodegroups": {"pillar_name": "groups"}}, {"nodegroups": {}}], nodegroups={"ng1": "web*", "ng2": "L@x,y", "ng3": "E@web.* and not L@x"})
case("ext extra_minion_data", base(A, a="x: 1\n"), ext_pillar=[{"extra_minion_data_in_pillar": {"include": ["p:q", "n", "nosuch"]}}], extra={"p": {"q": 1, "r": 2}, "n": [1], "z": 5})
case("ext extra_minion_data, all", base(A, a="x: 1\n"), ext_pillar=[{"extra_minion_data_in_pillar": {"include": "<all>"}}], extra={"p": {"q": 1, "r": 2}})
case("ext extra_minion_data, none", base(A, a="x: 1\n"), ext_pillar=[{"extra_minion_data_in_pillar": {"include": "*"}}])
case("on demand", base(A, a="x: 1\n"), ext={"cmd_yaml": "echo 'd: 1'"}, on_demand_ext_pillar=["cmd_yaml"])
case("on demand, not allowed", base(A, a="x: 1\n"), ext={"cmd_yaml": "echo 'd: 1'"})
case("on demand, malformed", base(A, a="x: 1\n"), ext=["cmd_yaml"], on_demand_ext_pillar=["cmd_yaml"])

# --- stack
STACK = {"st/stack.cfg": "core.yml\nenv/{{ pillarenv }}.yml\n{% if __grains__['os'] == 'Debian' %}\nos/*.yml\n{% endif %}\nminions/{{ minion_id }}.yml\n\nnosuch.yml\n",
         "st/core.yml": "a: 1\nl: [1, 2]\nm: {x: 1, y: {z: 1}}\n", "st/os/b.yml": "l: [3]\nm: {y: {w: 2}}\nfrom: {{ stack.a }} {{ pillar.x }}\n",
         "st/os/c.yml": "l:\n  - __: merge-first\n  - 0\nm:\n  __: overwrite\n  only: 1\n", "st/minions/web1.example.yml": "a: two\nl:\n  - __: remove\n  - 2\nid: {{ minion_id }} {{ ymlpath }}\nx: mine\n"}
case("ext stack", base(A, a="x: 1\n") | STACK, ext_pillar=[{"stack": "$R/st/stack.cfg"}])
case("ext stack by grains", base(A, a="x: 1\n") | STACK, ext_pillar=[{"stack": {"grains:os": {"Debian": "$R/st/stack.cfg", "Arch": ["$R/nosuch"]}, "opts:nosuch": {"a": "b"}}}])
case("ext stack, list and missing", base(A, a="x: 1\n") | STACK, ext_pillar=[{"stack": ["$R/nosuch.cfg", "$R/st/stack.cfg"]}])
case("ext stack as yaml", base(A, a="x: 1\n") | {"st/s.cfg": "- a.yml\n- b.yml\n", "st/a.yml": "p: {q: [1, 2], r: 1}\ns: 5\n", "st/b.yml": "__: remove\ns: 1\n"}, ext_pillar=[{"stack": "$R/st/s.cfg"}])
case("ext stack errors", base(A, a="x: 1\n") | {"st/s.cfg": "a.yml\n", "st/a.yml": "p: [\n"}, ext_pillar=[{"stack": "$R/st/s.cfg"}])
case("ext stack error of jinja", base(A, a="x: 1\n") | {"st/s.cfg": "a.yml\n", "st/a.yml": "p: {{ nosuch.x }}\n"}, ext_pillar=[{"stack": "$R/st/s.cfg"}])
case("ext stack unknown strategy", base(A, a="x: 1\n") | {"st/s.cfg": "a.yml\n", "st/a.yml": "__: foo\np: 1\n"}, ext_pillar=[{"stack": "$R/st/s.cfg"}])
case("ext stack, merge-first", base(A, a="x: 1\n") | {"st/s.cfg": "a.yml\nb.yml\n", "st/a.yml": "p: {q: 1}\nl: [1]\nt: a\n", "st/b.yml": "__: merge-first\np: {q: 2, r: 2}\nl: [2]\nt: b\nn: {__: x}\n"}, ext_pillar=[{"stack": "$R/st/s.cfg"}])
case("ext stack, unknown traverse", base(A, a="x: 1\n"), ext_pillar=[{"stack": {"foo:bar": {"a": "b"}}}])

# --- decryption
case("decrypt malformed", base(A, a="x: 1\n"), decrypt_pillar=["a", {"b": "nosuch"}])
case("decrypt what is not there", base(A, a="x: 1\n"), decrypt_pillar=["q", "x:y"])
case("decrypt by an unknown renderer", base(A, a="x: abc\nm: {y: z}\n"), decrypt_pillar=[{"x": "nosuch"}, {"m:y": "nosuch"}])
case("decrypt by a forbidden renderer", base(A, a="x: abc\n"), decrypt_pillar=[{"x": "yaml"}])
case("decrypt by yaml", base(A, a="x: 'abc: 1'\nm: {y: '[1]'}\n"), decrypt_pillar=[{"x": "yaml"}, {"m:y": "yaml"}], decrypt_pillar_renderers=["gpg", "yaml"])
case("decrypt plain text", base(A, a="x: abc\nm: {y: [z, 1]}\n"), decrypt_pillar=["x", "m"])
case("decrypt with a delimiter", base(A, a="m: {y: '[1]'}\n"), decrypt_pillar=[{"m|y": "yaml"}], decrypt_pillar_renderers=["yaml"], decrypt_pillar_delimiter="|")
