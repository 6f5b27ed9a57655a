others: never
