import { describe, expect, test } from 'vitest';
import { currentRequest, type RequestRecord } from '../../../shared/core/request.ts';
import { isOverdue, timed, timedCustomer } from '../../../shared/persistence/mongo-commands.ts';

const never = () => new Promise<never>(() => undefined);

/** The time after which a call failed, and its limit, in ms. */
const patienceOf = async (limitMs: number): Promise<{ readonly waited: number; readonly limit: number }> => {
  const begin = performance.now();
  const error = await timed(limitMs, never).catch((reason: unknown) => reason);
  expect(isOverdue(error)).toBe(true);
  return { waited: performance.now() - begin, limit: Number(/within (\d+) ms/.exec(String(error))?.[1]) };
};

const inRequest = <T>(act: (record: RequestRecord) => Promise<T>): Promise<T> => {
  const record: RequestRecord = { requestId: 'r', route: 'test', databaseMs: 0 };
  return currentRequest.run(record, () => act(record));
};

describe('timed', () => {
  test('returns the result of the call and adds its time to the request', () =>
    inRequest(async (record) => {
      expect(await timed(1000, async () => 'answer')).toBe('answer');
      expect(record.databaseMs).toBeGreaterThan(0);
      expect(record.lostMs).toBeUndefined();
    }));

  test('throws the error of the call', () =>
    expect(timed(1000, () => Promise.reject(new Error('no')))).rejects.toThrow('no'));

  test('fails after its limit', async () => {
    expect((await patienceOf(300)).waited).toBeGreaterThanOrEqual(295);
  });

  test('deducts the time of failed calls from the limit, but leaves a minimum', () =>
    inRequest(async (record) => {
      await patienceOf(300);
      expect(record.lostMs).toBeGreaterThanOrEqual(295);
      const leftMs = Math.max(250, Math.round(1000 - (record.lostMs ?? 0)));
      expect((await patienceOf(1000)).limit).toBe(leftMs);
      const third = await patienceOf(1000);
      expect(third.limit).toBe(250);
      expect(third.waited).toBeGreaterThanOrEqual(245);
    }));

  test('keeps the limits of other requests', async () => {
    await inRequest(() => patienceOf(300));
    expect((await inRequest(() => patienceOf(300))).limit).toBe(300);
  });
});

test('calls to a project’s own services get 20 s per request in total, and those of jobs their own limit', async () => {
  const startedAt = performance.now() - 19_500;
  const record: RequestRecord = { requestId: 'r', route: 'test', startedAt, databaseMs: 0 };
  const limitIn = async (call: () => Promise<unknown>): Promise<number> => {
    const error = await call().catch((reason: unknown) => reason);
    return Number(/within (\d+) ms/.exec(String(error))?.[1]);
  };
  const left = await currentRequest.run(record, () => limitIn(() => timedCustomer(15_000, never)));
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(500);
  expect(await currentRequest.run(record, () => limitIn(() => timedCustomer(15_000, never)))).toBe(250);
  expect(await limitIn(() => timedCustomer(300, never))).toBe(300);
});
