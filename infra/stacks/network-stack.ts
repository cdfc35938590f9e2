import {
  CfnEIP,
  GatewayVpcEndpointAwsService,
  IpAddresses,
  type IVpc,
  NatProvider,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { CfnOutput, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { Egress, Way } from './egress.ts';

/**
 * Two subnets in two zones, each with a NAT gateway and an elastic IP address. Customers allow these addresses, so they
 * outlive the stack.
 */
export class NetworkStack extends Stack {
  readonly egress: Egress;

  constructor(scope: Construct, id: string, props: StackProps = {}) {
    super(scope, id, { ...props, terminationProtection: true });
    const addresses = { a: this.#address('a'), b: this.#address('b') };
    const vpc = new Vpc(this, 'Network', {
      ipAddresses: IpAddresses.cidr('10.0.0.0/16'),
      maxAzs: 2,
      natGateways: 2,
      natGatewayProvider: NatProvider.gateway({
        eipAllocationIds: [addresses.a.attrAllocationId, addresses.b.attrAllocationId],
      }),
      subnetConfiguration: [
        { name: 'Gateways', subnetType: SubnetType.PUBLIC, cidrMask: 28, mapPublicIpOnLaunch: false },
        { name: 'Functions', subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 20 },
      ],
      // Traffic to these services is free this way; through a NAT gateway it would be paid per gigabyte.
      gatewayEndpoints: {
        Table: { service: GatewayVpcEndpointAwsService.DYNAMODB },
        Files: { service: GatewayVpcEndpointAwsService.S3 },
      },
      restrictDefaultSecurityGroup: false,
    });
    const group = new SecurityGroup(this, 'Functions', {
      vpc: vpc as IVpc,
      description: 'Functions that talk to databases: nothing connects to them here',
      allowAllOutbound: false,
    });
    group.addEgressRule(Peer.anyIpv4(), Port.allTcp(), 'Databases may be at any port');

    const [a, b] = vpc.privateSubnets;
    if (!a || !b) throw new Error('The network has no two subnets');
    this.egress = {
      subnetIds: { a: a.subnetId, b: b.subnetId },
      securityGroupId: group.securityGroupId,
      addresses: { a: addresses.a.attrPublicIp, b: addresses.b.attrPublicIp },
    };
    new CfnOutput(this, 'AddressA', { value: this.egress.addresses.a });
    new CfnOutput(this, 'AddressB', { value: this.egress.addresses.b });
    Validations.of(vpc).acknowledge({
      id: 'AwsSolutions-VPC7',
      reason: 'Only functions are in it, and each of their connections is in their own logs.',
    });
  }

  #address(way: Way): CfnEIP {
    const address = new CfnEIP(this, `Elastic${way.toUpperCase()}`, { domain: 'vpc' });
    address.applyRemovalPolicy(RemovalPolicy.RETAIN);
    return address;
  }
}
