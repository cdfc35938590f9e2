import { type HttpApi, HttpMethod, HttpRoute, HttpRouteKey } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { FunctionUrlAuthType, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { CfnOutput, Stack, type StackProps, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { type RouteTable, routedMethodsOf } from '../../shared/http/route.ts';
import { functionName } from '../build/function-files.ts';
import { countNotOurs } from '../operate/watch/failures-not-ours.ts';
import { gatewaysFor } from './egress.ts';
import { EndpointFunction } from './endpoint-function.ts';
import type { FunctionDefaults } from './function-defaults.ts';
import { permissionsOfRoute, rateCounting, type Sessions, statementsFor, variablesFor } from './grants.ts';
import type { Stores } from './statements.ts';

interface AreaStackProps extends StackProps {
  /** The folder of its handlers below `functions`. */
  readonly area: string;
  readonly table: RouteTable;
  readonly api: HttpApi;
  readonly stores: Stores;
  readonly sessions: Sessions;
  readonly defaults: FunctionDefaults;
  /** Defaults of all functions of the area. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The name of an area's stack, without the deployment's. */
export const areaStackName = (area: string): string => `Routes-${area.replaceAll('/', '-')}`;

/**
 * The routes of one area: a function with its own role, and a route, for each. One stack per area, because
 * CloudFormation allows 500 resources per stack and a route needs seven.
 */
export class AreaStack extends Stack {
  /** The functions that also have an address of their own. */
  readonly withOwnUrl: LambdaFunction[] = [];

  constructor(scope: Construct, id: string, props: AreaStackProps) {
    const { area, table, api, stores, sessions, defaults, environment, ...stackProps } = props;
    super(scope, id, stackProps);
    for (const [name, route] of Object.entries(table)) {
      const functionId = functionName(area, name);
      const permissions = permissionsOfRoute(defaults.reached(functionId), route);
      const { lambda, log } = new EndpointFunction(this, name, {
        defaults,
        packaged: defaults.packages(functionId),
        description: route.summary,
        statements: [rateCounting(stores), ...statementsFor(permissions, stores, sessions)],
        environment: { ...environment, ...variablesFor(permissions, stores) },
        ways: gatewaysFor(permissions),
        reservedConcurrency: route.ownUrl ? defaults.concurrency.ownUrl : undefined,
      });
      countNotOurs(this, `${name}-not-ours`, api, log);
      if (route.ownUrl) this.#addUrl(name, lambda);
      const integration = new HttpLambdaIntegration(`${name}-integration`, lambda);
      for (const method of routedMethodsOf(route)) {
        new HttpRoute(this, `${name}-${method}`, {
          httpApi: api,
          routeKey: HttpRouteKey.with(route.path, HttpMethod[method]),
          integration,
        });
      }
    }
    Validations.of(this).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason: "Who may call is decided by the function, from the API key, the token and the project's settings.",
    });
  }

  /** Callers have no AWS credentials; the function verifies a signature in the request. */
  #addUrl(name: string, lambda: LambdaFunction): void {
    this.withOwnUrl.push(lambda);
    const { url } = lambda.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
    new CfnOutput(this, `${name}-url`, { value: url });
  }
}
