#!json
{"plain": {"test.nop": [{"name": "{{ not rendered }}"}]}}
