import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { throttled, throttledStep } from '../../../shared/core/concurrency.ts';

const stepOf = (ms: number) => throttledStep(() => pause(ms));

/** Which of the two is over first. */
const first = (one: Promise<unknown>, other: Promise<unknown>): Promise<'one' | 'other'> =>
  Promise.race([one.then(() => 'one' as const), other.then(() => 'other' as const)]);

/** Takes two steps at the same time; returns how many were under way at once. */
const mostAtOnce = async (): Promise<number> => {
  let [now, most] = [0, 0];
  const step = async () => {
    now += 1;
    most = Math.max(most, now);
    await pause(5);
    now -= 1;
  };
  await Promise.all([throttledStep(step), throttledStep(step), throttledStep(step)]);
  return most;
};

describe('a step', () => {
  test('is taken in the background when the one before it has ended, and elsewhere at once', async () => {
    expect(await throttled(mostAtOnce)).toBe(1);
    expect(await mostAtOnce()).toBe(3);
  });

  test('is followed in the background by a rest of its length, before the next one and the end of the work', async () => {
    const work = throttled(async () => {
      await stepOf(300);
      expect(await first(stepOf(0), pause(200))).toBe('other');
      await stepOf(300);
    });
    expect(await first(work, pause(1000))).toBe('other');
    await work;
    expect(await first(stepOf(300), pause(500))).toBe('one');
  });

  test('that fails makes way for the next', async () => {
    await throttled(async () => {
      await expect(throttledStep(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
      expect(await throttledStep(() => Promise.resolve('next'))).toBe('next');
    });
  });

  test('that takes longer than a second keeps no other waiting, and one within it does not wait for its end', async () => {
    await throttled(async () => {
      const inner = Promise.withResolvers<void>();
      const long = throttledStep(() => inner.promise);
      expect(await throttledStep(() => Promise.resolve('other'))).toBe('other');
      inner.resolve();
      await long;
      expect(await throttledStep(() => throttledStep(() => Promise.resolve('within')))).toBe('within');
    });
  });

  test('that ends later than after a second makes way for the next, also where the process stood still for all of it', async () => {
    const standStill = async () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1100);
    await throttled(async () => {
      expect(await throttledStep(standStill)).toBe('timed-out');
      expect(await throttledStep(() => Promise.resolve('next'))).toBe('next');
    });
  });
});
