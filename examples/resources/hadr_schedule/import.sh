terraform import hadr_schedule.watch orders-watch
