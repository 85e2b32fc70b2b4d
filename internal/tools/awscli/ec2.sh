vpc=$(aws ec2 create-vpc --cidr-block 10.77.0.0/16 --tag-specifications 'ResourceType=vpc,Tags=[{Key=Name,Value=cli}]' --query Vpc.VpcId --output text)
want "ec2: a VPC is found by its tag" "$vpc" "$(aws ec2 describe-vpcs --filters Name=tag:Name,Values=cli --query 'Vpcs[].VpcId' --output text)"
subnet=$(aws ec2 create-subnet --vpc-id "$vpc" --cidr-block 10.77.1.0/24 --query Subnet.SubnetId --output text)
table=$(aws ec2 create-route-table --vpc-id "$vpc" --query RouteTable.RouteTableId --output text)
interface=$(aws ec2 create-network-interface --subnet-id "$subnet" --query NetworkInterface.NetworkInterfaceId --output text)
want "ec2: a route is made" true "$(aws ec2 create-route --route-table-id "$table" --destination-cidr-block 192.168.77.1/32 --network-interface-id "$interface" --query Return --output text | tr T t)"
want "ec2: and leads to the interface" "$interface" "$(aws ec2 describe-route-tables --route-table-ids "$table" \
	--query "RouteTables[0].Routes[?DestinationCidrBlock=='192.168.77.1/32'].NetworkInterfaceId" --output text)"
want "ec2: route tables, some pages" 2 "$(all aws ec2 describe-route-tables --filters "Name=vpc-id,Values=$vpc" --page-size 5 --query 'RouteTables[].RouteTableId')"
want "ec2: a page of route tables has a next one" "$one_and_more" "$(first RouteTables aws ec2 describe-route-tables --filters "Name=vpc-id,Values=$vpc")"
want "ec2: instances that exist, some pages" "$instances" "$(all aws ec2 describe-instances --page-size 5 --query 'Reservations[].Instances[].InstanceId')"
refused "ec2: a route table that does not exist" InvalidRouteTableID.NotFound aws ec2 describe-route-tables --route-table-ids rtb-0123456789abcdef0
refused "ec2: a malformed identifier" InvalidInstanceID.Malformed aws ec2 describe-instances --instance-ids i-x
refused "ec2: a permission without an effect" DryRunOperation aws ec2 delete-route --route-table-id "$table" --destination-cidr-block 192.168.77.1/32 --dry-run
refused "ec2: a VPC that is in use" DependencyViolation aws ec2 delete-vpc --vpc-id "$vpc"
aws ec2 delete-route --route-table-id "$table" --destination-cidr-block 192.168.77.1/32 >/dev/null
refused "ec2: a deleted route is gone" InvalidRoute.NotFound aws ec2 delete-route --route-table-id "$table" --destination-cidr-block 192.168.77.1/32
aws ec2 delete-network-interface --network-interface-id "$interface" >/dev/null
refused "ec2: a deleted interface is gone" InvalidNetworkInterfaceID.NotFound aws ec2 describe-network-interfaces --network-interface-ids "$interface"
