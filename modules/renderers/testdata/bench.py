"""Times Salt's renderers on the texts of bench_test.go: milliseconds a turn, the best of five rounds.

Run with the Python of a Salt 3008 installation, beside: go test -run xxx -bench . ./modules/renderers
"""

import time

import salt.config
import salt.loader
import salt.template

PLAIN = "".join(f"state_{i}:\n  file.managed:\n    - name: /etc/f{i}\n    - mode: 0644\n    - require: [pkg: p{i}]\n" for i in range(300))
LOOP = ("{% for i in range(300) %}\nstate_{{ i }}:\n  file.managed:\n    - name: /etc/f{{ i }}\n    - mode: 0644\n"
        "    - require: [pkg: p{{ i }}]\n{% endfor %}\n")

opts = salt.config.minion_config(None)
opts.update({"file_client": "local", "file_roots": {"base": []}, "pillar_roots": {"base": []}})
renderers = salt.loader.render(opts, {})
for name, pipe, text in (("YAML", "yaml", PLAIN), ("JinjaYAML", "jinja|yaml", LOOP)):
    best = None
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(10):
            assert len(salt.template.compile_template(":string:", renderers, pipe, [], [], input_data=text)) == 300
        spent = (time.perf_counter() - begin) / 10
        best = spent if best is None else min(best, spent)
    print(f"{name} {best * 1000:.2f} ms")
