first: 1
{% set x = salt['pillar.get']('users') %}
{% for name in x %}
{{ name.nothing.at_all }}
{% endfor %}
