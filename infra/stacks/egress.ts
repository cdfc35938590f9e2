import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { CfnFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Aws } from 'aws-cdk-lib/core';
import type { Job } from '../../functions/jobs/jobs.ts';
import type { Permission } from './grants.ts';

/** The two NAT gateways, each with a fixed address. */
const ways = ['a', 'b'] as const;
export type Way = (typeof ways)[number];

/** The network with fixed egress addresses. */
export interface Egress {
  readonly subnetIds: Readonly<Record<Way, string>>;
  readonly securityGroupId: string;
  readonly addresses: Readonly<Record<Way, string>>;
}

/**
 * The NAT gateways of a function. Functions that use MongoDB may use both, so a cluster must allow exactly two
 * addresses. Each verifier uses one of them, so that both are tested. Other functions need no fixed address.
 */
export const gatewaysFor = (permissions: readonly Permission[]): readonly Way[] =>
  permissions.includes('mongodb') ? ways : [];

/** The NAT gateways of a job; a verifier's is the last part of its name. */
export const gatewaysForJob = (name: string, job: Job, permissions: readonly Permission[]): readonly Way[] =>
  job.starts === 'invoked' ? ways.filter((way) => name.endsWith(`-${way}`)) : gatewaysFor(permissions);

const interfaces = `arn:${Aws.PARTITION}:ec2:${Aws.REGION}:${Aws.ACCOUNT_ID}:*/*`;

/**
 * Lambda's permissions for connecting a function to a network. AWS allows no narrower ones ("Execution role
 * permissions"), so a deny statement withholds them from the function's own code, which has the same role.
 */
export const networkStatements = (): PolicyStatement[] => {
  const changes = ['CreateNetworkInterface', 'DeleteNetworkInterface', 'AssignPrivateIpAddresses'];
  const actions = [...changes, 'UnassignPrivateIpAddresses'].map((action) => `ec2:${action}`);
  const reads = ['ec2:DescribeNetworkInterfaces', 'ec2:DescribeSubnets'];
  return [
    new PolicyStatement({ actions, resources: [interfaces] }),
    new PolicyStatement({ actions: reads, resources: ['*'] }),
    new PolicyStatement({
      effect: Effect.DENY,
      actions: [...actions, ...reads],
      resources: ['*'],
      conditions: { Null: { 'lambda:SourceFunctionArn': 'false' } },
    }),
  ];
};

/** cdk-nag's names of the wildcards in `networkStatements`. */
export const networkWildcards = [
  'AwsSolutions-IAM5[Resource::*]',
  'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ec2:<AWS::Region>:<AWS::AccountId>:*/*]',
];

/** Connects a function to the network. The CDK's own method would add more permissions than needed. */
export const connect = (lambda: LambdaFunction, { subnetIds, securityGroupId }: Egress, by: readonly Way[]): void => {
  (lambda.node.defaultChild as CfnFunction).vpcConfig = {
    subnetIds: by.map((way) => subnetIds[way]),
    securityGroupIds: [securityGroupId],
  };
};
