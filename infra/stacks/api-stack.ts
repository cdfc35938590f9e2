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
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { CfnOutput, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { defaultRoutes } from '../../functions/default/routes.ts';
import { functionName } from '../build/function-files.ts';
import type { PackagedFunction } from '../build/packaged-function.ts';
import { ApiDomain } from './api-domain.ts';
import type { Domain } from './domain-record.ts';
import { gatewaysFor } from './egress.ts';
import { EndpointFunction } from './endpoint-function.ts';
import type { FunctionDefaults } from './function-defaults.ts';
import { permissionsOfRoute, rateCounting, statementsFor, variablesFor } from './grants.ts';
import type { Stores } from './statements.ts';
import { viewerSecretOf } from './viewer-secret.ts';

interface ApiStackProps extends StackProps {
  readonly stores: Stores;
  readonly defaults: FunctionDefaults;
  /** Defaults of all functions behind this gateway. */
  readonly environment: Readonly<Record<string, string>>;
  readonly cors: CorsPreflightOptions | undefined;
  /** Requests per second for all callers together. */
  readonly requestsPerSecond: number;
  readonly domain: Domain | undefined;
  /** The console's CloudFront forwards requests to it; its own address works too. */
  readonly behindConsole: boolean;
  /** Without CloudFront, the console's pages are at its address, outside of `/api`. */
  readonly withPages?: boolean;
}

/** Fields of a line in the gateway's log. Paths and queries are omitted, because they contain ids and keys. */
const accessLog = {
  requestId: '$context.requestId',
  route: '$context.routeKey',
  status: '$context.status',
  ms: '$context.responseLatency',
  ip: '$context.identity.sourceIp',
  error: '$context.integrationErrorMessage',
};

/** Burst limit: half a second's worth, within AWS's limit for an account. */
const burstOf = (requestsPerSecond: number): number => Math.min(5000, Math.ceil(requestsPerSecond / 2));

const preflightAnswer: PackagedFunction = {
  code: Code.fromInline('exports.handler = async () => ({ statusCode: 204 });'),
  native: false,
};

/**
 * One base address: an HTTP API with its CORS, its log and a response for unknown routes. `AreaStack` adds the routes.
 */
export class ApiStack extends Stack {
  readonly api: HttpApi;
  /** The address of its domain, or its own without a domain. */
  readonly url: string;
  readonly accessLog: LogGroup;
  /** The secret that the console's CloudFront sends; empty if CloudFront is not in front. */
  readonly viewerSecret: string;

  constructor(scope: Construct, id: string, props: ApiStackProps) {
    const {
      stores,
      defaults,
      environment,
      cors,
      requestsPerSecond,
      domain,
      behindConsole,
      withPages = false,
      ...stackProps
    } = props;
    super(scope, id, stackProps);
    this.api = new HttpApi(this, 'Api', {
      apiName: id,
      createDefaultStage: false,
      ...(cors ? { corsPreflight: cors } : {}),
    });
    this.accessLog = new LogGroup(this, 'AccessLog', {
      // Log groups with other names add to one account-wide policy, which has little space.
      logGroupName: `/aws/vendedlogs/${this.stackName}/requests`,
      retention: defaults.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const stage = new HttpStage(this, 'Stage', {
      httpApi: this.api,
      autoDeploy: true,
      throttle: { rateLimit: requestsPerSecond, burstLimit: burstOf(requestsPerSecond) },
      accessLogSettings: {
        destination: new LogGroupLogDestination(this.accessLog),
        format: AccessLogFormat.custom(JSON.stringify(accessLog)),
      },
    });

    // Stacks that now use a domain still import this output until they are updated.
    this.exportValue(this.api.apiEndpoint);
    this.url = domain ? `https://${domain.name}` : this.api.apiEndpoint;
    if (domain) new ApiDomain(this, 'Domain', { ...domain, stage });

    this.viewerSecret = behindConsole ? viewerSecretOf(this) : '';
    const unknown = defaultRoutes['not-found'];
    const functionId = functionName('default', 'not-found');
    const permissions = permissionsOfRoute(defaults.reached(functionId), unknown);
    const notFound = new EndpointFunction(this, 'not-found', {
      defaults,
      packaged: defaults.packages(functionId),
      description: unknown.summary,
      statements: [rateCounting(stores), ...statementsFor(permissions, stores)],
      environment: {
        ...environment,
        ...variablesFor(permissions, stores),
        ...(behindConsole ? { VIEWER_SECRET: this.viewerSecret } : {}),
      },
      ways: gatewaysFor(permissions),
    });
    this.#route('UnknownRoute', HttpRouteKey.DEFAULT, notFound);
    // Otherwise, the route for pages would match these.
    if (withPages) this.#route('UnknownCall', HttpRouteKey.with('/api/{proxy+}', HttpMethod.GET), notFound);
    if (cors) {
      // Otherwise, preflights of all paths would go to `$default` and be rejected.
      const preflight = new EndpointFunction(this, 'preflight', {
        defaults,
        packaged: preflightAnswer,
        description: 'Let the gateway respond to CORS preflights',
        statements: [],
        environment: {},
      });
      this.#route('Preflight', HttpRouteKey.with('/{proxy+}', HttpMethod.OPTIONS), preflight);
    }

    Validations.of(this).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason: 'Unknown routes and preflights get a response without authorization.',
    });
    new CfnOutput(this, 'Url', { value: this.url });
  }

  #route(id: string, routeKey: HttpRouteKey, { lambda }: EndpointFunction): void {
    new HttpRoute(this, id, {
      httpApi: this.api,
      routeKey,
      integration: new HttpLambdaIntegration(`${id}Integration`, lambda),
    });
  }
}
