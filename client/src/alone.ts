import { newId } from './connection.ts';
import { pause } from './repeated.ts';
import type { SessionStorage } from './session.ts';

/** Longer than a renewal takes where the service answers; a tab that was closed over it holds nobody up for longer. */
const leaseMs = 10_000;

/** Until all tabs see what one of them has stored. */
const settleMs = 50;

/** Acts when no other tab does: its mark, a name and a time, is in the storage that they share. */
const marked = async <T>(storage: SessionStorage, mark: string, act: () => Promise<T>): Promise<T> => {
  const mine = newId();
  const holder = async (): Promise<readonly string[]> => ((await storage.getItem(mark)) ?? '').split(' ');
  // A storage that keeps no mark keeps nobody from it.
  for (const end = performance.now() + 2 * leaseMs; performance.now() < end; ) {
    const [, until = 0] = await holder();
    if (Number(until) < Date.now()) {
      await storage.setItem(mark, `${mine} ${Date.now() + leaseMs}`);
      await pause(settleMs);
      // Of those that saw it free at once, the last one has it.
      if ((await holder())[0] === mine) break;
    }
    await pause(settleMs);
  }
  try {
    return await act();
  } finally {
    if ((await holder())[0] === mine) await storage.removeItem(mark);
  }
};

/**
 * One at a time over all tabs of a site: by the browser's locks, or by the storage where there are none, as on plain
 * http and in Node before 24.
 */
export const alone = <T>(storage: SessionStorage, name: string, act: () => Promise<T>): Promise<T> =>
  globalThis.navigator?.locks ? navigator.locks.request(name, act) : marked(storage, `${name}:renewing`, act);
