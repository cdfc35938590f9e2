import { CorsHttpMethod, type CorsPreflightOptions } from 'aws-cdk-lib/aws-apigatewayv2';
import { Duration } from 'aws-cdk-lib/core';
import { type CorsPolicy, dashboardCorsPolicy, publicCorsPolicy } from './cors-policy.ts';

const toOptions = (policy: CorsPolicy): CorsPreflightOptions => ({
  allowCredentials: true,
  allowOrigins: [...policy.origins],
  allowMethods: policy.methods.map((method) => CorsHttpMethod[method]),
  allowHeaders: [...policy.requestHeaders],
  exposeHeaders: [...policy.exposedHeaders],
  maxAge: Duration.seconds(policy.maxAgeSeconds),
});

/** The public API's policy for the CDK. */
export const publicCors: CorsPreflightOptions = toOptions(publicCorsPolicy);

/** The dashboard API's policy; `undefined` without configured origins. */
export const dashboardCors = (origins: readonly string[]): CorsPreflightOptions | undefined => {
  const policy = dashboardCorsPolicy(origins);
  return policy && toOptions(policy);
};
