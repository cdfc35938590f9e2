import { setTimeout as sleep } from 'node:timers/promises';
import { type Feed, isPrivate } from '../../collections/collection.ts';
import { currentRequest } from '../../core/log.ts';
import { databaseOf } from '../../projects/database-of.ts';
import type { Visit } from '../row-security.ts';
import { type ChangePage, findChanges, findLatest } from './find-changes.ts';
import { before, decodePosition, encodePosition, type FeedPosition, movedOn } from './position.ts';
import { requireFeed } from './require-feed.ts';

/** What a request for changes asks for. */
interface ChangesQuery {
  /** `undefined`: nothing but the position of now. '0': from where the feed begins. */
  readonly since?: string | undefined;
  readonly limit: number;
  /** Seconds to wait for something. */
  readonly wait: number;
}

/** A position belongs to one making of a collection, where its documents are, and to what the caller sees of them. */
const viewOf = ({ project, collection: { id, rls }, caller: { kind, userId = '' } }: Visit): string => {
  const seen = !isPrivate(rls) ? ['all'] : kind === 'secret' ? ['secret'] : ['user', rls.ownerField, userId];
  return JSON.stringify([project.id, databaseOf(project), id, ...seen]);
};

/** Where a feed begins. */
export const beginOf = ({ from }: Feed): FeedPosition => ({
  after: before(Math.floor(from.getTime() / 1000)),
  shown: [],
});

/** Of so many of the last seconds a position of now says that they are not new. */
const maxLatest = 2000;

/** The position from which nothing is shown but what comes from now on. */
export const positionOfNow = async (visit: Visit, begin: FeedPosition): Promise<FeedPosition> => {
  const latest = await findLatest(visit, begin.after, maxLatest);
  const isCut = latest.length === maxLatest;
  const [oldest = begin.after, ...shown] = latest;
  return movedOn(isCut ? { after: oldest, shown: [] } : begin, isCut ? shown : latest, false);
};

const firstPauseMs = 50;
const lastPauseMs = 1000;
const pauseGrowth = 1.5;

/** A request to what is a project's own is given up after 20 s. */
const maxOwnWaitMs = 15_000;

/** Looks again and again, less and less often, until there is something or the time is over. */
const waited = async (look: () => Promise<ChangePage>, waitMs: number): Promise<ChangePage> => {
  const end = (currentRequest.getStore()?.startedAt ?? performance.now()) + waitMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * pauseGrowth, lastPauseMs)) {
    const page = await look();
    const leftMs = end - performance.now();
    if (page.changes.length > 0 || leftMs <= 0) return page;
    await sleep(Math.min(pauseMs, leftMs));
  }
};

/**
 * The documents of a collection that changed since a position, each once and in its latest state, in the order of their
 * last changes: those that the caller may list. No feed → 409 `CHANGES_NOT_ENABLED`; no position of these changes → 400
 * `INVALID_POSITION`, too old → 410 `POSITION_GONE`; a private collection without a user → 401. Costs one find, and
 * with `wait` one each time that it looks. Contract 2, "Changes".
 */
export const listChanges = async (visit: Visit, { since, limit, wait }: ChangesQuery) => {
  const feed = requireFeed(visit);
  const view = viewOf(visit);
  const begin = beginOf(feed);
  if (since === undefined) {
    const next = await encodePosition(view, await positionOfNow(visit, begin));
    return { changes: [], next, more: false };
  }
  const position = since === '0' ? begin : await decodePosition(view, since, feed.readyAt);
  const waitMs = Math.min(wait * 1000, visit.project.placement.kind === 'managed' ? wait * 1000 : maxOwnWaitMs);
  const look = () => findChanges(visit, position, limit);
  const { changes, places, more } = await waited(look, waitMs);
  return { changes, next: await encodePosition(view, movedOn(position, places, more)), more };
};
