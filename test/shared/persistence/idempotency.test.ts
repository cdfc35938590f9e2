import { describe, expect, test } from 'vitest';
import {
  acquireKey,
  idempotencyKeyShape,
  keyedRequest,
  noteFailure,
  parseIdempotencyKey,
  type Run,
  recordResponse,
} from '../../../shared/persistence/idempotency.ts';
import { refusalOf } from '../../support/data/refusal.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';

const { time, faults } = useMemoryTable();
const projectId = 'a'.repeat(24);
const request = keyedRequest('caller', 'key', ['POST', '/a', '{}']);
const leaseMs = 35_000;
const response = { status: 201, headers: '{}', body: '{}', stored: undefined };

const acquire = (canRepeat = true, wanted = request) => acquireKey(projectId, wanted, canRepeat);
const acquired = async (): Promise<Run> => {
  const state = await acquire();
  if (state.kind !== 'acquired') throw new Error(state.kind);
  return state.run;
};

describe('a request with an Idempotency-Key', () => {
  test('runs one time, and repeats get its response', async () => {
    const run = await acquired();
    expect(run).toMatchObject({ seed: run.runId, isRepeat: false, isAnswered: false });
    expect(await acquire()).toEqual({ kind: 'in_progress' });
    expect(await acquire(false)).toEqual({ kind: 'in_progress' });
    await recordResponse(run, response);
    expect(await acquire()).toMatchObject({
      kind: 'answered',
      answer: { status: 201, headers: '{}', body: '{}' },
      run: { seed: run.seed, begunAt: run.begunAt, isRepeat: true, isAnswered: true },
    });
  });

  test('whose response is in the bucket returns its place', async () => {
    await recordResponse(await acquired(), { ...response, body: undefined, stored: 'answers/x' });
    expect(await acquire()).toMatchObject({ kind: 'answered', answer: { body: undefined, stored: 'answers/x' } });
  });

  test('differs from another request, caller and project with the same key', async () => {
    const run = await acquired();
    expect(await acquire(true, keyedRequest('caller', 'key', ['POST', '/a', '{"b":1}']))).toEqual({ kind: 'mismatch' });
    expect(await acquire(true, keyedRequest('other', 'key', ['POST', '/a', '{}']))).toMatchObject({ kind: 'acquired' });
    expect(await acquireKey('b'.repeat(24), request, true)).toMatchObject({ kind: 'acquired' });
    await recordResponse(run, response);
    expect(await acquire(true, keyedRequest('caller', 'key', ['POST', '/', 'a{}']))).toEqual({ kind: 'mismatch' });
  });

  test('that ended without a response is continued with the same ids when its lease ends', async () => {
    const run = await acquired();
    time.now += leaseMs - 1;
    expect(await acquire()).toEqual({ kind: 'in_progress' });
    time.now += 1;
    expect(await acquire(false)).toEqual({ kind: 'unknown' });
    const next = await acquire();
    expect(next).toMatchObject({ kind: 'acquired', run: { seed: run.seed, begunAt: run.begunAt, isRepeat: true } });
    expect(await acquire()).toEqual({ kind: 'in_progress' });
    time.now += leaseMs;
    expect(await acquire()).toMatchObject({ kind: 'acquired', run: { seed: run.seed, isRepeat: true } });
  });

  test('that another run took over neither stores its response nor ends the other run', async () => {
    const slow = await acquired();
    time.now += leaseMs;
    const next = await acquired();
    await recordResponse(slow, response);
    await noteFailure(slow, { nothingDone: true });
    expect(await acquire()).toEqual({ kind: 'in_progress' });
    await recordResponse(next, { ...response, status: 200 });
    expect(await acquire()).toMatchObject({ kind: 'answered', answer: { status: 200 } });
  });

  test('that failed can be continued immediately, and its key is free if nothing was done', async () => {
    const run = await acquired();
    await noteFailure(run, { nothingDone: false });
    expect(await acquire(false)).toEqual({ kind: 'unknown' });
    const next = await acquired();
    expect(next).toMatchObject({ seed: run.seed, isRepeat: true });
    await noteFailure(next, { nothingDone: true });
    const free = await acquired();
    expect(free).toMatchObject({ seed: free.runId, isRepeat: false });
  });

  test('is continued by one of two runs', async () => {
    await acquired();
    time.now += leaseMs;
    const kinds = (await Promise.all([acquire(), acquire()])).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(['acquired', 'in_progress']);
  });

  test('is acquired, and taken over, when the response of the write was lost', async () => {
    faults.isRepeated = true;
    await acquired();
    time.now += leaseMs;
    await acquired();
  });

  test('is not continued when the first run stores its response meanwhile', async () => {
    const slow = await acquired();
    time.now += leaseMs;
    faults.between = () => recordResponse(slow, response);
    expect(await acquire()).toEqual({ kind: 'in_progress' });
  });

  test('is not continued with the ids of a run whose key became free meanwhile', async () => {
    const slow = await acquired();
    time.now += leaseMs;
    faults.between = async () => {
      await noteFailure(slow, { nothingDone: true });
      await noteFailure(await acquired(), { nothingDone: false });
    };
    expect(await acquire()).toEqual({ kind: 'in_progress' });
  });

  test('is forgotten after a day', async () => {
    await recordResponse(await acquired(), response);
    time.now += 24 * 3600_000 - 1000;
    expect(await acquire()).toMatchObject({ kind: 'answered' });
    time.now += 1000;
    expect(await acquired()).toMatchObject({ isRepeat: false });
    expect(await acquire()).toEqual({ kind: 'in_progress' });
  });
});

test('a digest depends on the secret', () => {
  const secret = new Uint8Array(32);
  expect(keyedRequest('caller', 'key', [], secret)).not.toEqual(keyedRequest('caller', 'key', []));
});

test('400 VALIDATION_FAILED when a key is too short, too long or has other characters', () => {
  expect(parseIdempotencyKey(undefined, 16)).toBeUndefined();
  expect(parseIdempotencyKey('a'.repeat(16), 16)).toBe('a'.repeat(16));
  expect(parseIdempotencyKey('a'.repeat(255))).toBe('a'.repeat(255));
  for (const [key, minLength] of [
    ['a'.repeat(15), 16],
    ['', 1],
    ['a'.repeat(256), 1],
    ['a,b', 1],
    ['a b', 1],
  ] as const) {
    expect(refusalOf(() => parseIdempotencyKey(key, minLength)).code).toBe('VALIDATION_FAILED');
  }
  expect(idempotencyKeyShape.test('!~+-')).toBe(true);
});
