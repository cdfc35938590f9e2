import { vi } from 'vitest';

/** Waits until `look` throws no more and answers what it answers; after four minutes its last error is the failure. */
export const eventually = <T>(look: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout: 240_000, interval: 50 });
