{% from 'common/macros.jinja' import at with context %}
{% load_yaml as options %}
Port: {{ salt['pillar.get']('ssh:port', 22) }}
PermitRootLogin: 'no'
{% for key, value in salt['pillar.get']('ssh:options', {}).items() %}
{{ key }}: {{ value | yaml_encode }}
{% endfor %}
{% endload %}
ssh_config:
  file.managed:
    - name: {{ at('etc/ssh/sshd_config') }}
    - source: salt://ssh/files/sshd_config
    - template: jinja
    - makedirs: True
    - context: {options: {{ options | json }}}

ssh_keys:
  file.recurse:
    - name: {{ at('etc/ssh/keys') }}
    - source: salt://ssh/files/keys
    - file_mode: '0600'
    - dir_mode: '0700'
    - exclude_pat: 'E@\.bak$'

ssh_check:
  cmd.run:
    - name: grep -c . {{ at('etc/ssh/sshd_config') }}
    - onchanges:
      - file: ssh_config

ssh_host_key:
  file.managed:
    - name: {{ at('etc/ssh/host_key') }}
    - contents_pillar: ssh:host_key
    - mode: '0600'
    - show_changes: False
    - makedirs: True

ssh_stateful:
  cmd.script:
    - name: salt://ssh/files/check.sh
    - args: {{ grains['id'] }} 'two words'
    - stateful: True
