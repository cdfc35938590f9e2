import { vi } from 'vitest';

/** Waits until `look` throws no more and answers what it answers; what it threw last is the failure after two minutes. */
export const eventually = <T>(look: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout: 120_000, interval: 50 });
