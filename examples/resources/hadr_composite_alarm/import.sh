terraform import hadr_composite_alarm.failed orders-a-failed
