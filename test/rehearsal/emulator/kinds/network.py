"""AWS::EC2::*"""

from .kind import Kind, Made, call, kinds, of_type, without


class Networked(Kind):
    """A part of a network: made by one call that is given its tags, and never changed in place."""

    def __init__(self, noun, answer, identity, *, tagged=None, attributes=()):
        self.noun = noun
        self.answer = answer
        self.identity = identity
        self.tagged = tagged or noun.replace("_", "-")
        self.attributes = attributes

    def create(self, context, properties):
        wanted = without(properties, "Tags")
        tags = properties.get("Tags")
        if tags:
            wanted["TagSpecifications"] = [{"ResourceType": self.tagged, "Tags": tags}]
        answer = call(context, "ec2", f"create_{self.noun}", wanted)
        made = answer[self.answer] if self.answer else answer
        return Made(made[self.identity], {name: made[name] for name in self.attributes})

    def delete(self, context, made, properties):
        call(context, "ec2", f"delete_{self.noun}", {self.identity: made.physical})


kinds["AWS::EC2::RouteTable"] = Networked("route_table", "RouteTable", "RouteTableId")
kinds["AWS::EC2::NatGateway"] = Networked("nat_gateway", "NatGateway", "NatGatewayId", tagged="natgateway")
kinds["AWS::EC2::InternetGateway"] = Networked("internet_gateway", "InternetGateway", "InternetGatewayId")


@of_type("AWS::EC2::VPC")
class Vpc(Networked):
    def __init__(self):
        super().__init__("vpc", "Vpc", "VpcId")

    def create(self, context, properties):
        switches = ("EnableDnsHostnames", "EnableDnsSupport")
        made = super().create(context, without(properties, *switches))
        for switch in switches:
            if switch in properties:
                value = {"VpcId": made.physical, switch: {"Value": properties[switch]}}
                call(context, "ec2", "modify_vpc_attribute", value)
        described = context.client("ec2").describe_security_groups(
            Filters=[{"Name": "vpc-id", "Values": [made.physical]}, {"Name": "group-name", "Values": ["default"]}]
        )
        made.attributes["DefaultSecurityGroup"] = described["SecurityGroups"][0]["GroupId"]
        return made


@of_type("AWS::EC2::Subnet")
class Subnet(Networked):
    def __init__(self):
        super().__init__("subnet", "Subnet", "SubnetId")

    def create(self, context, properties):
        made = super().create(context, without(properties, "MapPublicIpOnLaunch"))
        switch = {"Value": properties["MapPublicIpOnLaunch"]}
        call(context, "ec2", "modify_subnet_attribute", {"SubnetId": made.physical, "MapPublicIpOnLaunch": switch})
        return made


@of_type("AWS::EC2::EIP")
class Address(Kind):
    def create(self, context, properties):
        wanted = without(properties, "Tags")
        wanted["TagSpecifications"] = [{"ResourceType": "elastic-ip", "Tags": properties.get("Tags", [])}]
        answer = call(context, "ec2", "allocate_address", wanted)
        attributes = {"AllocationId": answer["AllocationId"], "PublicIp": answer["PublicIp"]}
        return Made(answer["PublicIp"], attributes)

    def delete(self, context, made, properties):
        context.client("ec2").release_address(AllocationId=made.attributes["AllocationId"])


@of_type("AWS::EC2::Route")
class Route(Kind):
    def create(self, context, properties):
        call(context, "ec2", "create_route", properties)
        return Made(f"{properties['RouteTableId']}|{properties['DestinationCidrBlock']}")

    def delete(self, context, made, properties):
        table, block = made.physical.split("|")
        context.client("ec2").delete_route(RouteTableId=table, DestinationCidrBlock=block)


@of_type("AWS::EC2::SubnetRouteTableAssociation")
class Association(Kind):
    def create(self, context, properties):
        return Made(call(context, "ec2", "associate_route_table", properties)["AssociationId"])

    def delete(self, context, made, properties):
        context.client("ec2").disassociate_route_table(AssociationId=made.physical)


@of_type("AWS::EC2::VPCGatewayAttachment")
class Attachment(Kind):
    def create(self, context, properties):
        call(context, "ec2", "attach_internet_gateway", properties)
        return Made(f"IGW|{properties['VpcId']}")

    def delete(self, context, made, properties):
        call(context, "ec2", "detach_internet_gateway", properties)


@of_type("AWS::EC2::VPCEndpoint")
class Endpoint(Networked):
    def __init__(self):
        super().__init__("vpc_endpoint", "VpcEndpoint", "VpcEndpointId")

    def delete(self, context, made, properties):
        context.client("ec2").delete_vpc_endpoints(VpcEndpointIds=[made.physical])


@of_type("AWS::EC2::SecurityGroup")
class SecurityGroup(Kind):
    def create(self, context, properties):
        wanted = {
            "GroupName": f"{context.stack}-{context.logical}",
            "Description": properties["GroupDescription"],
            "VpcId": properties["VpcId"],
            "TagSpecifications": [{"ResourceType": "security-group", "Tags": properties.get("Tags", [])}],
        }
        group = call(context, "ec2", "create_security_group", wanted)["GroupId"]
        client = context.client("ec2")
        everything = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
        client.revoke_security_group_egress(GroupId=group, IpPermissions=everything)
        for rule in properties.get("SecurityGroupEgress", []):
            ranges = [{"CidrIp": rule["CidrIp"], "Description": rule["Description"]}]
            permission = {**without(rule, "CidrIp", "Description"), "IpRanges": ranges}
            client.authorize_security_group_egress(GroupId=group, IpPermissions=[permission])
        return Made(group, {"GroupId": group})

    def delete(self, context, made, properties):
        context.client("ec2").delete_security_group(GroupId=made.physical)
