{% from 'broken/none.jinja' import x %}
{{ x }}
