import { vi } from 'vitest';

/** Repeats `look` until it throws no error and returns its result. After four minutes, throws its last error. */
export const eventually = <T>(look: () => T | Promise<T>): Promise<T> =>
  vi.waitFor(look, { timeout: 240_000, interval: 50 });
