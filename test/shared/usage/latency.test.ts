import { describe, expect, test } from 'vitest';
import { classOf, percentile } from '../../../shared/usage/requests.ts';

const counted = (latencies: readonly number[]): ReadonlyMap<number, number> => {
  const counts = new Map<number, number>();
  for (const ms of latencies) counts.set(classOf(ms), (counts.get(classOf(ms)) ?? 0) + 1);
  return counts;
};

describe('a percentile of counted latencies', () => {
  test('is null when nothing was counted', () => {
    expect(percentile(new Map(), 0.5)).toBeNull();
  });

  test.each([
    [0.2, 1],
    [1, 1],
    [7, 7],
    [99.5, 99.5],
    [1234, 1234],
    [20_000, 20_000],
  ])('for a single latency of %d ms is at most a quarter too high', (ms, least) => {
    const found = percentile(counted([ms]), 0.95) ?? 0;
    expect(found).toBeGreaterThanOrEqual(least);
    expect(found).toBeLessThanOrEqual(least * 1.25 + 0.1);
  });

  test('distinguishes the median from the slow end', () => {
    const latencies = [...Array(94).fill(5), ...Array(6).fill(800)];
    expect(percentile(counted(latencies), 0.5)).toBeLessThan(7);
    expect(percentile(counted(latencies), 0.95)).toBeGreaterThanOrEqual(800);
  });

  test('counts latencies above all classes in the last class', () => {
    expect(classOf(10 ** 9)).toBe(47);
  });
});
