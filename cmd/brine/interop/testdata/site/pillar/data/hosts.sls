{% for n in range(1, 4) -%}
web{{ n }}.{{ domain }}: 10.0.0.{{ n }}
{% endfor -%}
{{ grains.id }}.{{ domain }}: 10.1.0.1
