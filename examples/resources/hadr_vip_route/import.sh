terraform import hadr_vip_route.orders 192.168.77.10/rtb-0123456789abcdef0/eni-0123456789abcdef0,eni-0fedcba9876543210
