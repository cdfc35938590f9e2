import { describe, expect, test } from 'vitest';
import { concurrencyOf, instancesFor } from '../../infra/stacks/concurrency.ts';
import { everything, jobsOf, ofType, synthesise } from './synthesis.ts';

const queues = [2, 5];
/** For the webhook, the image sizes and the queues. */
const kept = 47;

test.each([
  [500, 133],
  [1500, 400],
  [3000, 800],
  [6000, 1600],
])('%d connections bear %d instances, at three connections each and a fifth to spare', (connections, instances) => {
  expect(instancesFor(connections)).toBe(instances);
  expect(instances * 3).toBeLessThanOrEqual(connections * 0.8);
});

describe('concurrency of an account', () => {
  test.each([
    [1000, 0, 0, 1000],
    [1000, 1500, 600, 400],
    [1000, 3000, 200, 800],
    [1000, 6000, 0, 1000],
    [5000, 6000, 3400, 1600],
  ])('%d with %d connections, %d are held back and %d can be at work', (account, connections, withheld, most) => {
    expect(concurrencyOf(account, connections, queues)).toMatchObject({ withheld, most });
  });

  test.each([1000, 147])(
    'with %d reserves some for webhook and queues, and leaves the minimum of Lambda',
    (account) => {
      const { ownUrl, forQueue, withheld } = concurrencyOf(account, 0, queues);
      expect([ownUrl, forQueue(2), forQueue(5)]).toEqual([20, 2, 5]);
      expect(account - kept - withheld).toBeGreaterThanOrEqual(100);
    },
  );

  test.each([10, 146])('with %d reserves nothing, because it is too small', (account) => {
    const { ownUrl, forQueue, withheld, most } = concurrencyOf(account, 1500, queues);
    expect([ownUrl, forQueue(2), withheld, most]).toEqual([undefined, undefined, 0, account]);
  });

  test.each([1, 551])('a cluster of %d connections is rejected, because Lambda could exceed them', (connections) => {
    expect(() => concurrencyOf(1000, connections, queues)).toThrow(
      'mongoConnections must be 0 (unbounded) or at least 552',
    );
  });

  test('leaves the minimum of Lambda when the cluster has the fewest accepted connections', () => {
    const { withheld } = concurrencyOf(1000, 552, queues);
    expect(1000 - kept - withheld).toBe(100);
  });
});

const startedByQueues = (context: Record<string, string>): unknown[] =>
  [...ofType(jobsOf(context), 'AWS::Lambda::EventSourceMapping').values()].map(
    ({ Properties }) => (Properties.ScalingConfig as { readonly MaximumConcurrency?: unknown }).MaximumConcurrency,
  );

test('queues start at most 6 of 10 runs in a new account, and their configured number in a larger one', () => {
  expect(startedByQueues({ accountConcurrency: '10' })).toEqual([2, 2, 2]);
  expect(startedByQueues({}).sort()).toEqual([10, 2, 5]);
});

const reservedIn = (context: Record<string, string>): number[] =>
  [...synthesise(context).stacks.values()].flatMap((resources) =>
    [...ofType(resources, 'AWS::Lambda::Function').values()].flatMap(
      ({ Properties }) => (Properties.ReservedConcurrentExecutions as number | undefined) ?? [],
    ),
  );

test('reservations in the templates leave other functions no more than the cluster supports', () => {
  const reserved = reservedIn(everything);
  expect(reserved.sort((a, b) => a - b)).toEqual([2, 5, 10, 20, 20, 600]);
  const unreserved = Number(everything.accountConcurrency) - reserved.reduce((sum, each) => sum + each, 0);
  const atWork = unreserved + kept;
  expect(atWork * 3).toBeLessThanOrEqual(Number(everything.mongoConnections) * 0.8);
});

test('nothing is withheld when the connections of the cluster are unknown', () => {
  expect(reservedIn({}).sort((a, b) => a - b)).toEqual([2, 5, 10, 20, 20]);
});
