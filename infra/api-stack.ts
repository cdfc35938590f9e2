import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import {
  type CorsPreflightOptions,
  HttpApi,
  HttpMethod,
  HttpRoute,
  HttpRouteKey,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { CfnOutput, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { defaultRoutes } from '../functions/default/routes.ts';
import { EndpointFunction } from './endpoint-function.ts';
import { functionName } from './function-files.ts';
import { rateCounting, type Stores, statementsFor, variablesFor } from './grants.ts';
import type { PackagedFunction, Packages } from './packaged-function.ts';

export interface ApiStackProps extends StackProps {
  readonly stores: Stores;
  readonly packages: Packages;
  /** Settings that every function behind this gateway shares. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cors: CorsPreflightOptions | undefined;
}

/** Fields of one line of the gateway's log; no path and no query, which hold ids and keys. */
const accessLog = {
  requestId: '$context.requestId',
  route: '$context.routeKey',
  status: '$context.status',
  ms: '$context.responseLatency',
  ip: '$context.identity.sourceIp',
  error: '$context.integrationErrorMessage',
};

const preflightAnswer: PackagedFunction = {
  code: Code.fromInline('exports.handler = async () => ({ statusCode: 204 });'),
  native: false,
};

/**
 * One base address: the HTTP API, its CORS, its log, and what answers where no row of the tables matches.
 * The rows themselves are in stacks of their own, see `AreaStack`.
 */
export class ApiStack extends Stack {
  readonly api: HttpApi;

  constructor(scope: Construct, id: string, { stores, packages, environment, cors, ...props }: ApiStackProps) {
    super(scope, id, props);
    this.api = new HttpApi(this, 'Api', {
      apiName: id,
      createDefaultStage: false,
      ...(cors ? { corsPreflight: cors } : {}),
    });
    const logGroup = new LogGroup(this, 'AccessLog', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    new HttpStage(this, 'Stage', {
      httpApi: this.api,
      autoDeploy: true,
      accessLogSettings: {
        destination: new LogGroupLogDestination(logGroup),
        format: AccessLogFormat.custom(JSON.stringify(accessLog)),
      },
    });

    const { summary, uses } = defaultRoutes['not-found'];
    const notFound = new EndpointFunction(this, 'not-found', {
      packaged: packages(functionName('default', 'not-found')),
      description: summary,
      statements: [rateCounting(stores), ...statementsFor(uses, stores)],
      environment: { ...environment, ...variablesFor(uses, stores) },
    });
    this.#route('UnknownRoute', HttpRouteKey.DEFAULT, notFound);
    if (cors) {
      // Without it the preflights of every path would fall through to `$default` and be refused.
      const preflight = new EndpointFunction(this, 'preflight', {
        packaged: preflightAnswer,
        description: 'Let the gateway answer CORS preflights',
        statements: [],
        environment: {},
      });
      this.#route('Preflight', HttpRouteKey.with('/{proxy+}', HttpMethod.OPTIONS), preflight);
    }

    Validations.of(this).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason: 'Unknown routes and preflights are answered to everyone.',
    });
    new CfnOutput(this, 'Url', { value: this.api.apiEndpoint });
  }

  #route(id: string, routeKey: HttpRouteKey, { lambda }: EndpointFunction): void {
    new HttpRoute(this, id, {
      httpApi: this.api,
      routeKey,
      integration: new HttpLambdaIntegration(`${id}Integration`, lambda),
    });
  }
}
