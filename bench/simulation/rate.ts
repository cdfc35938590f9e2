import { blockOf, OverLimit, RateCounter, type RateWindow } from '../../shared/rate-limit/rate-limit.ts';
import type { CountWrites } from './commands.ts';
import { type Finding, onInstances } from './instances.ts';

const isLetIn = async (counter: RateCounter, address: string, window: RateWindow): Promise<boolean> => {
  try {
    await counter.count(address, [window]);
    return true;
  } catch (error) {
    if (error instanceof OverLimit) return false;
    throw error;
  }
};

/** Requests from one address that reach the instances in turn, one and a half times the limit. */
export const simulateRate = async (
  instances: number,
  limit: number,
  address: string,
  countWrites: CountWrites,
): Promise<Finding> => {
  const block = blockOf(limit, 0);
  const counters = Array.from({ length: instances }, () => new RateCounter());
  const each = Math.ceil((limit * 1.5) / instances);
  let through = 0;
  const writes = await countWrites(() =>
    onInstances(instances, 200, async (instance) => {
      for (let n = 0; n < each; n++) {
        if (await isLetIn(counters[instance] as RateCounter, address, { name: 'all', limit, block })) through++;
      }
    }),
  );
  return {
    what: `rate limit ${limit.toLocaleString('en-US')}, blocks of ${block}`,
    asked: instances * each,
    let: through,
    // An instance holds at most a quarter of what it has used, and at most a block.
    least: block === 1 ? limit : Math.max(0.8 * limit, limit - instances * (block - 1)),
    most: limit,
    writes,
  };
};
