{% extends 'monitoring/base.jinja' %}
{% block head %}# derived from {{ super() }}{% endblock %}
{% block tail %}{{ grains.id }}{% endblock %}
