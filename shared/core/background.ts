import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as pause } from 'node:timers/promises';

const background = new AsyncLocalStorage<true>();

/** Runs work that no request waits for: between its steps it leaves the database that all share to those that do. */
export const inBackground = <T>(work: () => T): T => background.run(true, work);

/** What took longer has waited for a database that recovers, and goes on with it. */
const longestMs = 1000;

/** In the background, rests for as long as a step has taken. */
export const restAfter = async (ms: number): Promise<void> => {
  if (background.getStore()) await pause(Math.min(ms, longestMs));
};
