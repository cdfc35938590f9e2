import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { throttled, throttledStep } from '../../../shared/core/concurrency.ts';

const stepOf = (ms: number) => throttledStep(() => pause(ms));

/** Which of the two is over first. */
const first = (one: Promise<unknown>, other: Promise<unknown>): Promise<'one' | 'other'> =>
  Promise.race([one.then(() => 'one' as const), other.then(() => 'other' as const)]);

/** Starts steps at the same time. Returns how many ran concurrently. */
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

describe('a throttled step', () => {
  test('waits for the one before it in background work, and runs immediately elsewhere', async () => {
    expect(await throttled(mostAtOnce)).toBe(1);
    expect(await mostAtOnce()).toBe(3);
  });

  test('is followed by a pause of its own length in background work', async () => {
    const work = throttled(async () => {
      await stepOf(300);
      expect(await first(stepOf(0), pause(200))).toBe('other');
      await stepOf(300);
    });
    expect(await first(work, pause(1000))).toBe('other');
    await work;
    expect(await first(stepOf(300), pause(500))).toBe('one');
  });

  test('does not block the next one when it fails', async () => {
    await throttled(async () => {
      await expect(throttledStep(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
      expect(await throttledStep(() => Promise.resolve('next'))).toBe('next');
    });
  });

  test('does not block others when it takes over a second, nor a step inside it', async () => {
    await throttled(async () => {
      const inner = Promise.withResolvers<void>();
      const long = throttledStep(() => inner.promise);
      expect(await throttledStep(() => Promise.resolve('other'))).toBe('other');
      inner.resolve();
      await long;
      expect(await throttledStep(() => throttledStep(() => Promise.resolve('within')))).toBe('within');
    });
  });

  test('does not block the next one when the process stood still for over a second', async () => {
    const standStill = async () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1100);
    await throttled(async () => {
      expect(await throttledStep(standStill)).toBe('timed-out');
      expect(await throttledStep(() => Promise.resolve('next'))).toBe('next');
    });
  });
});
