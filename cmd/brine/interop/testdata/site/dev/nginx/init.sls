nginx_of_dev:
  test.configurable_test_state:
    - changes: True
    - result: {{ salt['pillar.get']('answer', True) }}
    - comment: {{ saltenv }} {{ sls }} {{ salt['cp.hash_file']('salt://common/motd.txt').get('hash_type') }} {{ salt['pillar.get']('stage') }}
