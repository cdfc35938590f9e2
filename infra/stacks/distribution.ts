import { type Distribution, Function as EdgeFunction, FunctionCode, FunctionRuntime } from 'aws-cdk-lib/aws-cloudfront';
import { Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';

/** A function that CloudFront runs at its edge, of the text of its code. */
export const edgeFunction = (scope: Construct, id: string, comment: string, code: string): EdgeFunction =>
  new EdgeFunction(scope, id, { comment, code: FunctionCode.fromInline(code), runtime: FunctionRuntime.JS_2_0 });

/** Says why rules of cdk-nag for distributions do not hold of one: no country is shut out, no firewall, no log. */
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
