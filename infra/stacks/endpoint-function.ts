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
  /** What the function may do besides writing its own log. */
  readonly statements: readonly PolicyStatement[];
  readonly environment: Readonly<Record<string, string>>;
  /** By which of the fixed addresses it goes out, where the deployment has any; by none unless said otherwise. */
  readonly ways?: readonly Way[];
  /** 29 s unless said otherwise: what the gateway waits at most. */
  readonly timeout?: Duration;
  /** The most runs at once, which are then always free for it. */
  readonly reservedConcurrency?: number | undefined;
  /** For a function that others call by it; otherwise CloudFormation finds one. */
  readonly functionName?: string;
}

/** Memory at which Lambda gives one whole CPU, which bcrypt needs; the others wait for databases. */
const wholeCpuMiB = 1769;

/**
 * A Lambda function with the deployment's defaults: Node 24, arm64 (x86_64 with a full CPU if it needs a native
 * module), a JSON log group named after its stack and itself, and a role of its own with exactly the given statements.
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
