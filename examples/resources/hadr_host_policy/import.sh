terraform import hadr_host_policy.agent db-host/hadr-orders
