import { Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { CfnFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Aws } from 'aws-cdk-lib/core';
import type { Job } from '../../functions/jobs/jobs.ts';
import type { Permission } from './grants.ts';

/** The two ways out, each with an address of its own. */
export const ways = ['a', 'b'] as const;
export type Way = (typeof ways)[number];

/** The network whose traffic leaves by fixed addresses. */
export interface Egress {
  readonly subnetIds: Readonly<Record<Way, string>>;
  readonly securityGroupId: string;
  readonly addresses: Readonly<Record<Way, string>>;
}

/**
 * Through which NAT gateways a function connects: functions that use MongoDB through either, so that a cluster has to
 * allow exactly two addresses; a verifier only through its own, so that both are tested; others need no fixed address.
 */
export const gatewaysFor = (permissions: readonly Permission[]): readonly Way[] =>
  permissions.includes('mongodb') ? ways : [];

/** The way of a job: `gatewaysFor`, and for the verifiers the one that ends their name. */
export const gatewaysForJob = (name: string, job: Job, permissions: readonly Permission[]): readonly Way[] =>
  job.starts === 'invoked' ? ways.filter((way) => name.endsWith(`-${way}`)) : gatewaysFor(permissions);

const interfaces = `arn:${Aws.PARTITION}:ec2:${Aws.REGION}:${Aws.ACCOUNT_ID}:*/*`;

/**
 * What Lambda needs to connect a function to a network. It takes no narrower names (AWS Lambda, "Execution role
 * permissions"), so the code of the function itself, which acts by the same role, is refused all of it.
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

/** The wildcards in `networkStatements`, as cdk-nag names them. */
export const networkWildcards = [
  'AwsSolutions-IAM5[Resource::*]',
  'AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:ec2:<AWS::Region>:<AWS::AccountId>:*/*]',
];

/** Connects a function to the network. The CDK's own way would give its role a policy with more than it needs. */
export const connect = (lambda: LambdaFunction, { subnetIds, securityGroupId }: Egress, by: readonly Way[]): void => {
  (lambda.node.defaultChild as CfnFunction).vpcConfig = {
    subnetIds: by.map((way) => subnetIds[way]),
    securityGroupIds: [securityGroupId],
  };
};
