"""Records what Salt's Jinja makes of the templates in cases/: run it with the Python of a Salt 3008.3 installation,

    PYTHONHASHSEED=0 python modules/renderers/jinja/testdata/generate.py

A file of cases/ holds templates between lines "%%%% name {options}". The options, JSON, may be left out: "opts" are
options of Salt, "sls" the name of the SLS. All templates see the variables of vars.json, the files of files/ and their path as tree. The
answers go to recorded.json: the output, or the text of Salt's error without Python's traceback. The names of all filters,
tests and globals go to names.json.
"""

import collections
import glob
import importlib
import json
import logging
import os
import pkgutil
import shutil
import sys
import tempfile
import time
import warnings

import salt.config
import salt.exceptions
import salt.utils.stringutils
import salt.utils.templates
import salt.modules.match

here = os.path.dirname(os.path.abspath(__file__))
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
os.environ["TZ"] = "UTC"
time.tzset()


def echo(*args, **kwargs):
    return args[0] if args else kwargs


def fail(text="it failed"):
    raise salt.exceptions.CommandExecutionError(text)


FUNCTIONS = {"test.echo": echo, "test.fail": fail, "test.kwargs": lambda **kw: kw}


class Module:
    def __init__(self, name):
        self.__dict__["name_"] = name

    def __getattr__(self, name):
        try:
            return FUNCTIONS[self.name_ + "." + name]
        except KeyError:
            raise AttributeError(name)


Module.__module__, Module.__name__ = "salt.loader.lazy", "LoadedMod"


class AliasedLoader(dict):
    def __getattr__(self, name):
        if not any(f.startswith(name + ".") for f in FUNCTIONS):
            raise AttributeError(name)
        return Module(name)


AliasedLoader.__module__ = "salt.utils.templates"


def ordered(value):
    if isinstance(value, dict):
        return collections.OrderedDict((k, ordered(v)) for k, v in value.items())
    if isinstance(value, list):
        return [ordered(v) for v in value]
    return value


def cases():
    for path in sorted(glob.glob(os.path.join(here, "cases", "*.txt"))):
        group = os.path.basename(path)[:-4]
        with open(path, encoding="utf-8", newline="") as f:
            parts = f.read().split("%%%% ")[1:]
        for part in parts:
            head, _, text = part.partition("\n")
            name, _, options = head.partition(" ")
            yield group + "/" + name, json.loads(options or "{}"), text[:-1]


def render(name, options, text, base, variables):
    cache = tempfile.mkdtemp(dir=base)
    opts = salt.config.DEFAULT_MINION_OPTS.copy()
    opts.update(
        file_client="local",
        file_roots={"base": [os.path.join(base, "files")]},
        pillar_roots={"base": []},
        cachedir=cache,
        root_dir=base,
        fileserver_backend=["roots"],
        extension_modules=os.path.join(base, "ext"),
        sock_dir=base,
        pki_dir=base,
        __role="minion",
    )
    opts.update(options.get("opts", {}))
    context = dict(json.loads(json.dumps(variables)))
    context["od"] = ordered(context["od"])
    context["salt"] = AliasedLoader(FUNCTIONS)
    context.update(opts=opts, saltenv="base", tree=os.path.join(base, "files"))
    if "sls" in options:
        context["sls"] = options["sls"]
        context.update(options.get("context", {}))
    try:
        out = salt.utils.templates.render_jinja_tmpl(text, context, None)
        return {"output": out.replace(os.path.join(base, "files"), "$FILES")}
    except salt.exceptions.SaltRenderError as exc:
        out = exc.error
        if exc.line_num and exc.buffer:
            buf = exc.buffer.split("\nTraceback (most recent call last):", 1)[0]
            mark = "    <======================"
            context = salt.utils.stringutils.get_context(buf, exc.line_num, marker=mark)
            out += f"; line {exc.line_num}\n\n{context}"
        return {"error": out.replace(os.path.join(cache, "files", "base"), "$FILES").replace(os.path.join(base, "files"), "$FILES")}
    except BaseException as exc:  # nothing of Salt's: the case is of no use
        return {"broken": f"{type(exc).__name__}: {exc}"}


def names():
    """The names that a template finds once all of salt.utils has been loaded."""
    for module in pkgutil.iter_modules(salt.utils.__path__):
        try:
            importlib.import_module("salt.utils." + module.name)
        except BaseException:  # not for this system
            pass
    found = {}
    environment = salt.utils.templates.jinja2.sandbox.SandboxedEnvironment
    from_string = environment.from_string

    def look(env, text):
        found.update(filters=sorted(env.filters), tests=sorted(env.tests), globals=sorted(env.globals))
        return from_string(env, text)

    environment.from_string = look
    salt.utils.templates.render_jinja_tmpl("", {"saltenv": "base", "opts": salt.config.DEFAULT_MINION_OPTS.copy()}, None)
    environment.from_string = from_string
    found["globals"] = [name for name in found["globals"] if name not in ("saltenv", "opts")]
    with open(os.path.join(here, "names.json"), "w", encoding="utf-8") as f:
        f.write("{\n" + ",\n".join(json.dumps(k) + ": " + json.dumps(v) for k, v in found.items()) + "\n}\n")


def main():
    names()
    with open(os.path.join(here, "vars.json"), encoding="utf-8") as f:
        variables = json.load(f)
    base = tempfile.mkdtemp()
    shutil.copytree(os.path.join(here, "files"), os.path.join(base, "files"), symlinks=True)
    out = []
    try:
        for name, options, text in cases():
            got = render(name, options, text, base, variables)
            if "broken" in got:
                print(name, got["broken"], file=sys.stderr)
                continue
            case = {"name": name, "template": text}
            if options:
                case["options"] = options
            case.update(got)
            out.append(case)
    finally:
        shutil.rmtree(base)
    with open(os.path.join(here, "recorded.json"), "w", encoding="utf-8") as f:
        f.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=False) for c in out) + "\n]\n")
    print(len(out), "cases")


if __name__ == "__main__":
    main()
