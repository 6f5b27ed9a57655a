{%- from "db/macros.jinja" import format_state, caller_of with context %}
{%- set db = salt['pillar.get']('db') %}
{%- load_yaml as hba %}
{%- for acl in db.acls %}
- {{ acl | join('\t') | yaml_dquote }}
{%- endfor %}
{%- endload %}
{%- load_text as note %}
version {{ db.version }}
{%- endload %}
include:
  - db.server

db-reload:
  test.succeed_without_changes: []

db-conf:
  file.managed:
    - name: /etc/postgresql/{{ db.version }}/main/conf.d/salt.conf
    - contents:
      {%- for k, v in db.settings.items() %}
      {%- set v = {True: 'on', False: 'off'}.get(v, v) %}
      - {{ (k ~ " = '" ~ v ~ "'") | yaml_encode }}
      {%- endfor %}

db-hba:
  file.managed:
    - name: /etc/postgresql/{{ db.version }}/main/pg_hba.conf
    - contents: {{ hba | tojson }}
    - comment: {{ note | yaml_encode }}
    - call: {% call(n, b) caller_of('title') %}{{ n }}-{{ b }}{% endcall %}
{% for name, role in db.roles.items() %}
{%- set role = role | default({}, true) %}
{{- format_state(name, 'user', dict(role, require=[{'file': 'db-hba'}])) }}
{%- endfor %}
{%- for name, database in db.databases | dictsort(by='key', reverse=true) %}
{%- set extensions = database.pop('extensions', {}) %}
{{- format_state(name, 'database', database) }}
{%- for ext, args in extensions.items() %}
{{- format_state(ext, 'extension', {'maintenance_db': name, 'ensure': 'absent' if not args else 'present'}) }}
{%- endfor %}
{%- endfor %}
