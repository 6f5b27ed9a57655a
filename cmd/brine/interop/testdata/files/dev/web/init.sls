dev:
  test.nop:
    - name: {{ saltenv }} {{ slspath }} {{ tplfile.split('/')[-1] }}
