import { clock } from '../../core/clock.ts';
import { feedSettings } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import type { Feed, Field } from '../collection.ts';
import { requireIndexRoom } from '../indexes/indexes.ts';
import { usersCollection } from './collection-name.ts';

/** How far the clock of MongoDB, which gives changes their places, may be behind ours. */
const clockLagMs = 60_000;

/** The feed of a new collection, which no function can know in another state. */
export const newFeed = (on: boolean): Feed | null => {
  const now = clock.now();
  return on ? { on, from: new Date(now - clockLagMs), readyAt: new Date(now) } : null;
};

/** The feed after an edit that gives it, or leaves it as it was. Switched on it begins anew. */
export const changedFeed = (before: Feed | null, on: boolean = before?.on ?? false): Feed | null => {
  if (on === (before?.on ?? false)) return before;
  if (!on) return before && { ...before, on };
  const from = clock.now();
  return { on, from: new Date(from), readyAt: new Date(from + feedSettings().FEED_SETTLE_SECONDS * 1000) };
};

/** Refuses a feed of `users`, and one whose indexes there is no room for: 400 `INVALID_SCHEMA`. */
export const requireFeedFits = (name: string, schema: readonly Field[] | null, feed: Feed | null): void => {
  if (!feed?.on) return;
  if (name === usersCollection) {
    throw new AppError('INVALID_SCHEMA', 'The users collection has no changes feed: only the user routes reach it.');
  }
  requireIndexRoom(schema ?? [], true);
};
