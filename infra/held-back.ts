import { Code } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { EndpointFunction } from './endpoint-function.ts';
import type { House } from './house.ts';

const doesNothing = { code: Code.fromInline('exports.handler = async () => {};'), native: false };

/**
 * A function that nothing ever calls. What is reserved for it is missing in the pool that all others share, and that is the one
 * way Lambda has to bound many functions together; none where nothing is to be held back.
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
