{% import_yaml 'data/people.yaml' as people %}
users:
{% for name, person in people.items() %}
  {{ name }}:
    uid: {{ 3000 + loop.index }}
    {{ person | yaml(False) | indent(4) }}
{% endfor %}
  old: {absent: True}
