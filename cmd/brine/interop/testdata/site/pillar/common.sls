include:
  - data.hosts:
      key: hosts
      defaults: {domain: example.org}
  - cron
stage: prod
