{#- they are only tried out: the machine of a test keeps its users #}
{%- if opts.get('test') %}
{%- import 'users/lib.jinja' as lib with context %}
{%- set groups = [] %}
{%- for name, user in salt['pillar.get']('users', {}) | dictsort if not user.get('absent') %}
  {%- do groups.extend(user.get('groups', [])) %}
{{ lib.user(name, user) }}
{%- endfor %}
{%- for group in groups | unique | sort %}
users_group_{{ group }}:
  group.present:
    - name: brine_{{ group }}
    - system: True
{%- endfor %}

users_gone:
  user.absent:
    - names: {{ salt['pillar.get']('users', {}).items() | selectattr('1.absent', 'defined') | map(attribute='0') | map('regex_replace', '^', 'brine_') | list | json }}
{%- else %}
users_none:
  test.nop: []
{%- endif %}
