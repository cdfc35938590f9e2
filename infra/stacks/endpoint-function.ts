import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Function as LambdaFunction, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { PackagedFunction } from '../build/packaged-function.ts';
import { connect, networkStatements, type Way } from './egress.ts';
import type { FunctionDefaults } from './function-defaults.ts';

interface EndpointFunctionProps {
  readonly defaults: FunctionDefaults;
  readonly packaged: PackagedFunction;
  readonly description: string;
  /** Permissions in addition to writing its own log. */
  readonly statements: readonly PolicyStatement[];
  readonly environment: Readonly<Record<string, string>>;
  /** The NAT gateways for its traffic, if the deployment has any. */
  readonly ways?: readonly Way[];
  /** Default: 29 s, one second less than the gateway's limit. */
  readonly timeout?: Duration;
  /** Reserved concurrency, which is also its maximum. */
  readonly reservedConcurrency?: number | undefined;
  /** A fixed name, for functions that others call; otherwise CloudFormation generates one. */
  readonly functionName?: string;
}

/** The memory size with one full CPU, which bcrypt needs; other functions wait for databases. */
const wholeCpuMiB = 1769;

/**
 * A Lambda function with Node 24, a JSON log group, and its own role with exactly the given statements. It runs on
 * arm64, or on x86_64 with a full CPU if it has native code.
 */
export class EndpointFunction extends Construct {
  readonly lambda: LambdaFunction;
  readonly log: LogGroup;

  constructor(scope: Construct, id: string, props: EndpointFunctionProps) {
    super(scope, id);
    const {
      defaults,
      packaged,
      description,
      statements,
      environment,
      ways = [],
      timeout = Duration.seconds(29),
      reservedConcurrency,
      functionName,
    } = props;
    const egress = ways.length > 0 ? defaults.egress : undefined;
    this.log = new LogGroup(this, 'Log', {
      logGroupName: `/${Stack.of(this).stackName}/${id}`,
      retention: defaults.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        function: new PolicyDocument({
          statements: [
            new PolicyStatement({
              actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
              resources: [this.log.logGroupArn],
            }),
            ...statements,
            ...(egress ? networkStatements() : []),
          ],
        }),
      },
    });
    this.lambda = new LambdaFunction(this, 'Function', {
      description,
      code: packaged.code,
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: packaged.native ? Architecture.X86_64 : Architecture.ARM_64,
      memorySize: packaged.native ? wholeCpuMiB : 512,
      timeout,
      ...(functionName !== undefined && { functionName }),
      ...(reservedConcurrency !== undefined && { reservedConcurrentExecutions: reservedConcurrency }),
      environment: { ...environment },
      role,
      logGroup: this.log,
      loggingFormat: LoggingFormat.JSON,
      systemLogLevelV2: defaults.platformLogs,
    });
    if (egress) connect(this.lambda, egress, ways);
  }
}
