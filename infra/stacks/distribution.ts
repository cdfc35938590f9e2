import { type Distribution, Function as EdgeFunction, FunctionCode, FunctionRuntime } from 'aws-cdk-lib/aws-cloudfront';
import { Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/** A CloudFront function. */
export const edgeFunction = (scope: Construct, id: string, comment: string, code: string): EdgeFunction =>
  new EdgeFunction(scope, id, { comment, code: FunctionCode.fromInline(code), runtime: FunctionRuntime.JS_2_0 });

/** Acknowledges cdk-nag's findings for distributions: no geo restriction, no firewall, no log. */
export const acknowledge = (
  distribution: Distribution,
  hasDomain: boolean,
  reasons: Readonly<Record<'CFR1' | 'CFR2' | 'CFR3', string>>,
): void => {
  const tls = { CFR4: "CloudFront's own domain has its own TLS policy; a domain sets 1.2." };
  for (const [rule, reason] of Object.entries({ ...reasons, ...(!hasDomain && tls) })) {
    Validations.of(distribution).acknowledge({ id: `AwsSolutions-${rule}`, reason });
  }
};
