#!jinja|yaml
{% from 'users/map.jinja' import users with context %}
{%- set rules = [] %}
{%- for name, user in users.list | dictsort %}
{%- do rules.extend((user or {}).get('sudo_rules', []) | map('regex_search', '\\((\\w+)\\)') | reject('none') | map('first') | list) %}
{%- endfor %}
sudo_rules: {{ rules }}
by_shell:
{%- for shell, group in users.list.values() | selectattr('uid', 'defined') | groupby('shell', default='none') %}
  {{ shell }}: {{ group | map(attribute='uid') | list }}
{%- endfor %}
