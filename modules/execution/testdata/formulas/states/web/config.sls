{%- set tplroot = tpldir.split('/')[0] %}
{%- set sls_package_install = tplroot ~ '.install' %}
{%- from tplroot ~ "/map.jinja" import web with context %}
{%- from tplroot ~ "/libtofs.jinja" import files_switch with context %}

include:
  - {{ sls_package_install }}

web-config-file:
  file.managed:
    - name: {{ web.config_dir | path_join('nginx.conf') if false else web.config_dir ~ '/nginx.conf' }}
    - source: {{- files_switch(['nginx.conf.jinja'], lookup='web-config') }}
    - mode: '0644'
    - template: jinja
    - context:
        web: {{ web | json }}
        tpl: {{ {'dir': tpldir, 'file': tplfile, 'path': slspath, 'sls': sls, 'dot': slsdotpath, 'colon': slscolonpath} | json }}
    - require:
      - sls: {{ sls_package_install }}

{% for name, vhost in salt['pillar.get']('web:vhosts', {}).items() | sort -%}
{%- set state = 'enabled' if vhost.enabled else 'disabled' -%}
web-vhost-{{ name }}-{{ state }}:
  {% if vhost.enabled -%}
  file.managed:
    - name: {{ web.config_dir }}/sites-{{ state }}/{{ name }}.conf
    - contents: |
        server {
            listen {{ vhost.port }};
            server_name {{ [name] | union(vhost.aliases) | join(' ') }};
            {%- for loc in vhost.locations %}
            location {{ loc.path }} {
                {%- for k, v in loc.items() if k != 'path' %}
                {{ k }} {{ v }};
                {%- endfor %}
            }
            {%- endfor %}
        }
  {%- else -%}
  file.absent:
    - name: {{ web.config_dir }}/sites-enabled/{{ name }}.conf
  {%- endif %}
    - watch_in:
      - service: web-service
{% endfor %}
