#!jinja|json
{"monitoring": {"interval": {{ 5 * 6 }}, "checks": {{ {'disk': {'warn': 80, 'crit': 90}, 'load': {'warn': 1.5, 'crit': 3.0}} | tojson }},
 "targets": [{% for i in range(3) %}"10.0.{{ i }}.1"{{ "," if not loop.last }}{% endfor %}]}}
