roles: [db]
