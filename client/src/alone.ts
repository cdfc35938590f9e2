import { newId } from './connection.ts';
import { pause } from './repeated.ts';
import type { SessionStorage } from './session.ts';

/** Longer than a renewal takes. A tab that was closed during one blocks the others for no longer than this. */
const leaseMs = 10_000;

/** The time until all tabs see what one of them has stored. */
const settleMs = 50;

/** Runs `act` while no other tab does. The mark, a name and a time, is in the storage that the tabs share. */
const marked = async <T>(storage: SessionStorage, mark: string, act: () => Promise<T>): Promise<T> => {
  const mine = newId();
  const holder = async (): Promise<readonly string[]> => ((await storage.getItem(mark)) ?? '').split(' ');
  // A storage that cannot keep the mark excludes nobody.
  for (const end = performance.now() + 2 * leaseMs; performance.now() < end; ) {
    const [, until = 0] = await holder();
    if (Number(until) < Date.now()) {
      await storage.setItem(mark, `${mine} ${Date.now() + leaseMs}`);
      await pause(settleMs);
      // If several tabs saw it free at the same time, the last one to write has it.
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
 * Runs `act` in one tab of a site at a time: with the browser's locks, or with the storage if there are no locks, as
 * on plain http and in Node before 24.
 */
export const alone = <T>(storage: SessionStorage, name: string, act: () => Promise<T>): Promise<T> =>
  globalThis.navigator?.locks ? navigator.locks.request(name, act) : marked(storage, `${name}:renewing`, act);
