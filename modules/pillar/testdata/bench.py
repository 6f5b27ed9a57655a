"""Times salt.pillar.Pillar on the tree of BenchmarkCompile: milliseconds a pillar, the best of five rounds.

Run with the Python of a Salt 3008 installation, beside: go test -run xxx -bench Compile ./modules/pillar
"""

import logging
import os
import shutil
import tempfile
import time

import salt.config
import salt.pillar

logging.disable(logging.CRITICAL)
TOP = "base:\n  '*':\n    - common\n    - users\n  'G@os:Debian and web*':\n    - web\n  'E@^db\\d+':\n    - db\n"
FILES = {
    "map.jinja": "{% set ports = {'Debian': 80, 'Suse': 8080} %}\n",
    "common.sls": "include:\n  - defaults\nsite: main\nmerged:\n  own: {b: 2}\n",
    "defaults.sls": "merged:\n  own: {a: 1}\n  list: [1, 2, 3]\n",
    "users.sls": "users:\n{% for i in range(50) %}\n  user{{ i }}:\n    uid: {{ 1000 + i }}\n    shell: /bin/sh\n    groups: [a, b]\n{% endfor %}\n",
    "web.sls": "{% from 'map.jinja' import ports %}\nweb:\n  port: {{ ports[grains.os] }}\n  host: {{ salt['grains.get']('id') }}\n",
    "db.sls": "db: 1\n",
}
for i in range(20):
    TOP += f"  'P@role:^(r{i}|all)$':\n    - role.r{i}\n"
    FILES[f"role/r{i}.sls"] = f"role{i}:\n  ports: [80, 44{i}]\n  name: {{{{ grains.id }}}}-{i}\n"
FILES["top.sls"] = TOP

root = tempfile.mkdtemp()
try:
    for name, text in FILES.items():
        path = os.path.join(root, "base", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    opts = salt.config.DEFAULT_MASTER_OPTS.copy()
    opts.update(root_dir=root, cachedir=root + "/cache", pki_dir=root + "/pki", sock_dir=root + "/run", conf_file=root + "/master", extension_modules=root + "/ext",
                id="bench_master", __role="master", file_roots={"base": []}, pillar_roots={"base": [root + "/base"]}, grains={})
    best, n = None, 0
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(10):
            n += 1
            out = salt.pillar.Pillar(opts, {"id": f"web{n}", "os": "Debian", "role": "all"}, f"web{n}", None).compile_pillar()
            assert "_errors" not in out and len(out["users"]) == 50 and out["role7"]["name"] == f"web{n}-7" and out["web"]["host"] == f"web{n}"
        spent = (time.perf_counter() - begin) / 10
        best = spent if best is None else min(best, spent)
    print(f"{best * 1000:.2f} ms")
finally:
    shutil.rmtree(root)
