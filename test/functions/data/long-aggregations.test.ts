import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { handler as aggregateDocuments } from '../../../functions/data/aggregate-documents.ts';
import { clock } from '../../../shared/core/clock.ts';
import { AppError } from '../../../shared/core/errors.ts';
import { newId } from '../../../shared/core/new-id.ts';
import { turnsOf } from '../../../shared/documents/aggregate/long-runs.ts';
import { itemKey, partitionKey } from '../../../shared/table/item-key.ts';
import * as kinds from '../../../shared/table/keys.ts';
import { inTurn, type Turns } from '../../../shared/work/turns.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { newProject, type TestProject } from '../../support/worlds/project.ts';

const now = clock.now;

afterEach(() => {
  clock.now = now;
});

const newTurns = (): Turns => ({
  key: itemKey(kinds.longAggregations, partitionKey('rate', { source: `test ${newId().toHexString()}` })),
  leaseMs: 60_000,
  patienceMs: 3000,
  refusal: (retryAfter) => new AppError('TOO_MANY_AGGREGATIONS', 'Others are at it.', { retryAfter }),
});

const refused = { code: 'TOO_MANY_AGGREGATIONS' };

/** Takes the turn and keeps it until `end`; resolves once it has it. */
const hold = async (turns: Turns): Promise<{ readonly end: () => Promise<void> }> => {
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const held = inTurn(turns, () => {
    begun.resolve();
    return over.promise;
  });
  await Promise.race([begun.promise, held]);
  return {
    end: async () => {
      over.resolve();
      await held;
    },
  };
};

describe('what goes in turns', () => {
  test('429: of 50 at once never more than one is at it, each that is done was, and the next one can', async () => {
    const turns = newTurns();
    let [running, most, done] = [0, 0, 0];
    const work = async () => {
      running += 1;
      most = Math.max(most, running);
      for (let step = 0; step < 20; step++) await turn();
      running -= 1;
      done += 1;
    };
    const ended = await Promise.allSettled(Array.from({ length: 50 }, () => inTurn(turns, work)));
    expect(most).toBe(1);
    const failures = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(done + failures.length).toBe(50);
    expect(done).toBeGreaterThanOrEqual(1);
    for (const failure of failures) expect(failure).toMatchObject(refused);
    const next = await hold(turns);
    await next.end();
  });

  test('429 with how long a killed run keeps its turn at most; then that is another’s, which the first one cannot end', async () => {
    const turns = newTurns();
    const killed = await hold(turns);
    const failure = await inTurn(turns, async () => undefined).catch((error: unknown) => error);
    expect(failure).toMatchObject(refused);
    const { retryAfter = 0 } = failure as AppError;
    expect(retryAfter).toBeGreaterThan(50);
    expect(retryAfter).toBeLessThanOrEqual(60);
    clock.now = () => now() + 60_001;
    const other = await hold(turns);
    await killed.end();
    await expect(inTurn(turns, async () => undefined)).rejects.toMatchObject(refused);
    await other.end();
    expect(await inTurn(turns, async () => 'mine')).toBe('mine');
  });

  test('gives the turn back where the work fails', async () => {
    const turns = newTurns();
    const failing = inTurn(turns, async () => {
      throw new Error('broken');
    });
    await expect(failing).rejects.toThrow('broken');
    expect(await inTurn(turns, async () => 'mine')).toBe('mine');
  });
});

describe('long aggregations of a project', () => {
  const range = { $range: [0, 10_000] };
  let project: TestProject;

  beforeAll(async () => {
    project = await newProject([{ name: 'posts' }]);
    await project.api('POST', '/api/data/posts', { body: { n: 1 } });
  });

  const aggregate = (pipeline: unknown) =>
    project.api<{ code?: string; message: string; data?: unknown }>('POST', '/api/data/posts/aggregate', {
      body: { pipeline },
    });

  test('429 for each of 17 more at once while one is at it, with when to come again; another project has its turn', async () => {
    const [busy, quiet] = [turnsOf(newId().toHexString()), turnsOf(newId().toHexString())];
    const held = await hold({ ...busy, leaseMs: 600_000 });
    const more = Promise.allSettled(
      Array.from({ length: 17 }, () => inTurn({ ...busy, patienceMs: 0 }, async () => 'never')),
    );
    expect(await inTurn(quiet, async () => 'theirs')).toBe('theirs');
    for (const one of await more) {
      expect(one).toMatchObject({ status: 'rejected', reason: refused });
      const { retryAfter } = (one as PromiseRejectedResult).reason as AppError;
      expect(retryAfter).toBeGreaterThan(0);
    }
    await held.end();
    expect(await inTurn(busy, async () => 'the next')).toBe('the next');
  });

  test('429 TOO_MANY_AGGREGATIONS beyond one at a time, which says what to do; quick ones go on, and the next has a turn', async () => {
    const many = ['a', 'b', 'c'].flatMap((name) => [{ $set: { [name]: range } }, { $unwind: `$${name}` }]);
    const endless = [...many, { $group: { _id: null, n: { $sum: '$c' } } }];
    const other = await hold({ ...turnsOf(project.id), leaseMs: 600_000 });
    // Time passes twenty times as fast for who waits here.
    const begun = now();
    clock.now = () => now() + 20 * (now() - begun);
    const refused = invoke(aggregateDocuments, {
      key: project.secretKey,
      params: { collectionName: 'posts' },
      body: { pipeline: endless },
    });
    expect(await aggregate([{ $count: 'n' }])).toMatchObject({ status: 200, body: { data: [{ n: 1 }] } });
    const over = await refused;
    expect(over).toMatchObject({ status: 429, body: { code: 'TOO_MANY_AGGREGATIONS' } });
    clock.now = now;
    await other.end();
    expect(over.body.message).toContain('filter in a first $match');
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await aggregate(endless)).toMatchObject({ status: 400, body: { code: 'QUERY_TIMEOUT' } });
  });
});
