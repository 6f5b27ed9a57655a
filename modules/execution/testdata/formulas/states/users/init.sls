{% from 'users/map.jinja' import users, defaults with context %}
{% set used = namespace(sudo=False, n=0) %}

{%- for name, group in users.get('groups', {}).items() %}
users_group_{{ name }}:
  group.present:
    - name: {{ name }}
    {%- if group is not none and group.gid is defined %}
    - gid: {{ group.gid }}
    {%- endif %}
    - system: {{ (group or {}).get('system', False) }}
{% endfor %}

{%- for name, user in users.list.items() if user.absent is not defined or not user.absent %}
{%- set user = user or {} %}
{%- set home = user.get('home', {}).get('path', '/home/' ~ name) %}
{%- if user.get('sudo') %}{% set used.sudo = True %}{% endif %}
{%- set used.n = used.n + 1 %}
users_{{ name }}_user:
  user.present:
    - name: {{ name }}
    - home: {{ home }}
    - shell: {{ user.get('shell', defaults.shell) }}
    - uid: {{ user.uid | default(defaults.first_uid + used.n) }}
    - fullname: {{ user.get('fullname', name | capitalize) | yaml_dquote }}
    {%- if 'expire' in user %}
    - expire: {{ user.expire }}
    {%- endif %}
    - groups: {{ (user.get('groups', []) + [defaults.group]) | unique | sort | tojson }}
    - require:
      {%- for group in user.get('groups', []) %}
      - group: users_group_{{ group }}
      {%- else %}
      - test: users_none
      {%- endfor %}

{%- for key in user.get('ssh_auth', []) %}
{%- set parts = key.split() %}
users_{{ name }}_key_{{ loop.index0 }}_{{ parts[-1] | regex_replace('[^a-z]+', '_') }}:
  ssh_auth.present:
    - user: {{ name }}
    - enc: {{ parts[0] }}
    - name: {{ parts[1] }}
    - comment: {{ parts[2] | default('', true) | yaml_encode }}
{%- endfor %}

{%- if user.env is defined %}
users_{{ name }}_env:
  file.append:
    - name: {{ home }}/.profile
    - text:
      {%- for k, v in user.env | dictsort(reverse=True) %}
      - {{ ('export %s="%s"' % (k, v)) | yaml_squote }}
      {%- endfor %}
{%- endif %}

{%- if user.get('sudo_rules') %}
users_{{ name }}_sudoers:
  file.managed:
    - name: /etc/sudoers.d/{{ name | replace('.', '_') }}
    - mode: '0440'
    - contents: |
        {%- for rule in user.sudo_rules %}
        {{ name }} {{ rule }}
        {%- endfor %}
{%- endif %}
{% endfor %}

{%- for name, user in users.list.items() if user.absent is defined and user.absent %}
users_absent_{{ name }}:
  user.absent: [{name: {{ name }}}, {purge: True}]
{%- endfor %}

{% if used.sudo -%}
users_sudo:
  pkg.installed: [{name: sudo}]
{%- endif %}

users_none:
  test.nop: []

users_count:
  test.show_notification:
    - text: {{ 'There are %d users, sudo: %s' | format(used.n, used.sudo) | yaml_dquote }}
