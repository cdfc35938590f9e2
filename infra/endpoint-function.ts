import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Function as LambdaFunction, LoggingFormat, Runtime } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import type { PackagedFunction } from './packaged-function.ts';

export interface EndpointFunctionProps {
  readonly packaged: PackagedFunction;
  readonly description: string;
  /** What the function may do besides writing its own log. */
  readonly statements: readonly PolicyStatement[];
  readonly environment: Readonly<Record<string, string>>;
  /** 29 s unless said otherwise: what the gateway waits at most. */
  readonly timeout?: Duration;
}

/** Memory at which Lambda gives one whole CPU, which bcrypt needs; the others wait for databases. */
const wholeCpuMiB = 1769;

/**
 * One function with the defaults of the house: Node 24, arm64 (x86_64 with a whole CPU where a native module is part of
 * it), a log kept for a month, and a role of its own that may do exactly what it is told.
 */
export class EndpointFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, props: EndpointFunctionProps) {
    super(scope, id);
    const { packaged, description, statements, environment, timeout = Duration.seconds(29) } = props;
    const logGroup = new LogGroup(this, 'Log', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: {
        function: new PolicyDocument({
          statements: [
            new PolicyStatement({
              actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
              resources: [logGroup.logGroupArn],
            }),
            ...statements,
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
      environment: { ...environment },
      role,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
    });
  }
}
