terraform import hadr_state_table.this hadr-orders
