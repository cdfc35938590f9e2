import { ShortCache } from '../../shared/core/cache.ts';
import { clock } from '../../shared/core/clock.ts';

export interface CacheFinding {
  readonly requests: number;
  readonly loads: number;
  /** The longest time in ms for which an outdated record was used. */
  readonly oldestMs: number;
}

const ttlMs = 5000;

/**
 * Simulates a minute of 10 000 requests per second to a project whose settings change every second, spread over the
 * instances. Measures reads of the record and the age of outdated settings.
 */
export const simulateCache = async (instances: number): Promise<CacheFinding> => {
  const { now } = clock;
  let time = 0;
  clock.now = () => time;
  try {
    const caches = Array.from({ length: instances }, () => new ShortCache<number>(ttlMs, 10));
    let [loads, oldestMs, requests] = [0, 0, 0];
    for (time = 0; time < 60_000; time += 0.1) {
      const cache = caches[Math.floor(Math.random() * instances)] as ShortCache<number>;
      const version = await cache.get('project', () => {
        loads++;
        return Promise.resolve(Math.floor(time / 1000));
      });
      requests++;
      // The age of the used version.
      oldestMs = Math.max(oldestMs, time - (version + 1) * 1000);
    }
    return { requests, loads, oldestMs };
  } finally {
    clock.now = now;
  }
};
