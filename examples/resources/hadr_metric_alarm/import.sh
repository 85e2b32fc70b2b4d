terraform import hadr_metric_alarm.latency orders-a-latency
