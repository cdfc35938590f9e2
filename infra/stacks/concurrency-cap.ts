import { Code } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { EndpointFunction } from './endpoint-function.ts';
import type { FunctionDefaults } from './function-defaults.ts';

const doesNothing = { code: Code.fromInline('exports.handler = async () => {};'), native: false };

/**
 * A function that is never called. Its reserved concurrency reduces the account's shared pool, which is Lambda's only
 * way to limit many functions together. Not created if nothing is withheld.
 */
export class ConcurrencyCap extends Construct {
  constructor(scope: Construct, id: string, defaults: FunctionDefaults) {
    super(scope, id);
    if (defaults.concurrency.withheld === 0) return;
    new EndpointFunction(this, id, {
      defaults,
      packaged: doesNothing,
      description: 'Keep instances back that would open more connections than MongoDB allows',
      statements: [],
      environment: {},
      reservedConcurrency: defaults.concurrency.withheld,
    });
  }
}
