terraform import hadr_function.takeover orders-takeover
