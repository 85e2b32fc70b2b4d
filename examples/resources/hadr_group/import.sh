terraform import hadr_group.orders hadr-orders/orders
