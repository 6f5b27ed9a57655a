more:
  test.succeed_with_changes: []
