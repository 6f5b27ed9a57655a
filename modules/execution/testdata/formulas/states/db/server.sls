#!jinja|yaml
{%- set v = salt['pillar.get']('db:version', 13) | int %}
{%- macro package(name) %}postgresql-{{ name }}{% if varargs %}-{{ varargs | join('-') }}{% endif %}{% if kwargs %} {{ kwargs | dictsort }}{% endif %}{% endmacro %}
db-server:
  pkg.installed:
    - pkgs:
      - {{ package(v) }}
      - {{ package('contrib', v, 'x') }}
      - {{ package('q', a=1) | yaml_dquote }}
    - unless: {{ "test -d /var/lib/postgresql/" ~ v if v >= 14 else "false" }}
    - retry: {attempts: {{ [v // 4, 2] | max }}, until: true, interval: {{ (v / 4) | round(1, 'floor') }}}

{% raw %}
db-template:
  test.nop:
    - name: "{{ not rendered }}"
{% endraw %}

{% set parts = 'a.b.c'.split('.') -%}
db-numbers:
  test.nop:
    - parts: {{ parts[::-1] }}
    - shift: {{ (1 + 7) ** 2 }} {# a comment #}
    - size: {{ 134217728 | filesizeformat(true) }}
    - float: {{ 1e3 }} 
    - avg: {{ [1, 2, 3.5] | avg }}
    - ver: {{ '15.10' | to_bool }} {{ '15.10'.split('.') | map('int') | max }}
    - cidr: {{ ['10.0.0.1', 'fe80::1', 'nope'] | ipv4 }}
    - hash: {{ 'text' | sha256 | truncate(20, true) }}
    - b64: {{ 'text' | base64_encode }}
    - uuid: {{ 'text' | uuid }}
    - quote: {{ "it's" | quote | yaml_encode }}
    - wrap: {{ 'a b c d e f' | wordwrap(5, wrapstring=' / ') }}
