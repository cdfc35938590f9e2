import type { Feed } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { type Rights, visibilityFilter } from '../row-security.ts';

/** The refusal of a collection without a feed, or with one that is only being switched on (409). */
export const notEnabled = (message: string): AppError => new AppError('CHANGES_NOT_ENABLED', message);

/** The feed of a collection that the caller may list (else 401); without one, or with one that is new → 409. */
export const requireFeed = (rights: Rights): Feed => {
  visibilityFilter(rights, false);
  const { name, feed } = rights.collection;
  if (!feed?.on) {
    throw notEnabled(
      `The collection "${name}" has no changes feed. Switch it on ("changes": true of the collection) on the dashboard API.`,
    );
  }
  if (clock.now() < feed.readyAt.getTime()) {
    throw notEnabled(
      `The changes feed of "${name}" was just switched on, which not every part of the service knows yet. Please try again in a few seconds.`,
    );
  }
  return feed;
};
