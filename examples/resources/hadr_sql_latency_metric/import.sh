terraform import hadr_sql_latency_metric.a hadr-orders/orders/a
