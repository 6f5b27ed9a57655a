stage: dev
answer: true
