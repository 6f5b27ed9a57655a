#!jinja|yaml
{%- macro recurse(checks, depth=0) %}
{%- for k, v in checks | dictsort %}
{{ '  ' * depth }}{{ k }}:{% if v is mapping %}{{ recurse(v, depth + 1) }}{% else %} {{ v }}{% endif %}
{%- endfor %}
{%- endmacro %}
{%- for node in [{'n': 'a', 'c': [{'n': 'b', 'c': []}]}] recursive %}
{%- if loop.depth0 == 0 %}
tree: {% endif %}{ {{ node.n }}: [{{ loop(node.c) }}] }
{%- endfor %}
checks: {{ recurse(pillar.monitoring.checks, 1) }}
{% with total = pillar.monitoring.checks | length, first = pillar.monitoring.checks | first %}
total: {{ total }}
first: {{ first }}
{% endwith %}
{% set text %}
several
lines
{% endset %}
text: {{ text | trim | replace('\n', ' ') }}
inline: {% filter upper | replace(' ', '_') %}some text here{% endfilter %}
json: {{ {'b': [1, None, True], 'a': 'ü'} | json }}
yaml: {{ {'b': [1, none, true], 'a': 'ü'} | yaml }}
python: {{ {'b': (1, none), 'a': 'ü'} }}
