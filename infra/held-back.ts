import { Code } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { EndpointFunction } from './endpoint-function.ts';
import type { House } from './house.ts';

const doesNothing = { code: Code.fromInline('exports.handler = async () => {};'), native: false };

/**
 * A function that is never invoked. Concurrency reserved for it is missing from the account's shared pool, which is
 * Lambda's only way to limit many functions together; not created if nothing is to be withheld.
 */
export class HeldBack extends Construct {
  constructor(scope: Construct, id: string, house: House) {
    super(scope, id);
    if (house.concurrency.heldBack === 0) return;
    new EndpointFunction(this, id, {
      house,
      packaged: doesNothing,
      description: 'Keep instances back that would open more connections than MongoDB allows',
      statements: [],
      environment: {},
      reservedConcurrency: house.concurrency.heldBack,
    });
  }
}
