import { setTimeout as sleep } from 'node:timers/promises';
import { ObjectId, Timestamp } from 'mongodb';
import { type Collection, type Feed, isPrivate } from '../../collections/collection.ts';
import { feedKeys } from '../../collections/indexes/indexes.ts';
import { namesUser } from '../../collections/rules/rule.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { mapConcurrent } from '../../core/concurrency.ts';
import { AppError } from '../../core/errors.ts';
import { JsonText } from '../../core/json.ts';
import { currentRequest } from '../../core/log.ts';
import { databaseOf, onProject } from '../../persistence/mongo.ts';
import { deserialize, findRaw, maxTimeMS } from '../../persistence/raw-documents.ts';
import type { Project } from '../../projects/project.ts';
import { type AccessContext, visibilityFilter } from '../access/access.ts';
import { unreadableFor } from '../access/field-rights.ts';
import { listDecider, obeysRules, requireList } from '../access/rule-access.ts';
import { rulesOf } from '../access/rules-of.ts';
import { type Document, revisionOf } from '../document.ts';
import { boundOf, measured, PageBudget } from '../page-size.ts';
import { allOf, type Condition } from '../query/condition.ts';
import { type IndexHint, lacksIndex } from '../query/index-hint.ts';
import { textOf, type Wanted, whole } from '../query/projection.ts';
import { wireDocument } from '../wire.ts';
import {
  type At,
  before,
  decodePosition,
  encodePosition,
  type FeedPosition,
  movedOn,
  secondsAt,
} from './feed-position.ts';

/** The refusal of a collection without a feed, or with one that is only being switched on (409). */
const notEnabled = (message: string): AppError => new AppError('CHANGES_NOT_ENABLED', message);

/** The feed of a collection that the caller may list (else 401); without one, or with one that is new → 409. */
export const requireFeed = async (rights: AccessContext): Promise<Feed> => {
  await requireList(rights);
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

/** Changes in the order of their places, and whether others follow. */
interface ChangePage {
  /** Each `{_id, rev, deleted?, document?}`: one document that changed, in its latest state. */
  readonly changes: readonly JsonText[];
  readonly places: readonly At[];
  readonly more: boolean;
}

export const atOf = (stored: Timestamp): At => BigInt.asUintN(64, stored.toBigInt());
const placeOf = ({ _pos }: Document): At => (_pos instanceof Timestamp ? atOf(_pos) : 0n);
export const timestamp = (at: At): Timestamp => new Timestamp(at);

/** A document that is in the trash, or gone for good, is not shown. */
const toChange = (project: Project, raw: Uint8Array, stored: Document, isHidden: boolean, wanted: Wanted): JsonText => {
  const id = JSON.stringify(wireDocument({ _id: stored._id })._id);
  const state = isHidden || isTrashed(stored) ? '"deleted":true' : `"document":${textOf(project, raw, wanted).text}`;
  return new JsonText(`{"_id":${id},"rev":${revisionOf(stored)},${state}}`);
};

/**
 * What the caller may list of the changes, by an index that leads to nothing else. A private one without a user → 401.
 */
const listed = (visit: AccessContext) => {
  // Under rules the ids of changed documents are told to everyone who may list; see `toChange`.
  if (obeysRules(visit)) return { conditions: [], hint: feedKeys() };
  const own = visibilityFilter(visit, false);
  return {
    conditions: own ? [own] : [],
    hint: own ? feedKeys(visit.collection.rls.ownerField) : feedKeys(),
  };
};

/**
 * Only the primary has all that was acknowledged, as others may be behind; and what no majority has yet may be rolled
 * back, after which its revision and its position stand for another change.
 */
const settled = { readPreference: 'primary', readConcern: { level: 'majority' } } as const;

/** What is asked of a feed: which documents, by which of its indexes, and from which end of it. */
interface FeedRead {
  readonly filter: Condition;
  readonly sort: { readonly _pos: 1 | -1 };
  readonly hint: IndexHint;
  readonly limit: number;
  readonly projection?: Readonly<Record<string, 0 | 1>>;
}

/**
 * Hands on what a feed has, as it is stored, until `take` wants no more; by an index of the feed, which may not be
 * built yet. Returns whether it took all.
 */
const walkFeed = (
  { project, collection }: Pick<AccessContext, 'project' | 'collection'>,
  { filter, ...find }: FeedRead,
  take: (stored: Document, raw: Uint8Array) => boolean,
): Promise<boolean> =>
  onProject(project, async (db) => {
    try {
      for await (const batch of findRaw(db, collection.name, filter, { ...find, ...settled, maxTimeMS })) {
        if (!batch.every((raw) => take(deserialize(raw) as Document, raw))) return false;
      }
      return true;
    } catch (error) {
      if (!lacksIndex(error)) throw error;
      throw notEnabled('The changes of this collection are just being prepared. Please try again in a minute.');
    }
  });

/** The condition of changes after a position that it has not shown. */
const afterPosition = ({ after, shown }: FeedPosition): Condition =>
  ({ _pos: { $gt: timestamp(after), ...(shown.length > 0 && { $nin: shown.map(timestamp) }) } }) as Condition;

/** A document of the feed, and its bytes. */
interface Found {
  readonly stored: Document;
  readonly raw: Uint8Array;
}

/** JSON of a page is never so much smaller than its BSON that more of it would fit. */
const maxReadBytes = 8 * 5 * 1024 * 1024;

/** Look-ups at the same time, if each document needs its own. */
const atOnce = 8;

/** The documents of a page that the caller may not list. */
const hiddenAmong = async (visit: AccessContext, found: readonly Found[]): Promise<ReadonlySet<Document>> => {
  const hidden = new Set<Document>();
  if (!obeysRules(visit)) return hidden;
  const mayList = await listDecider(visit);
  await mapConcurrent(found, atOnce, async ({ stored }) => {
    if (!isTrashed(stored) && !(await mayList(stored))) hidden.add(stored);
  });
  return hidden;
};

/** The changes after a position that it has not shown, in one find: at most `limit`, and 5 MiB of JSON. */
const findChanges = async (visit: AccessContext, position: FeedPosition, limit: number): Promise<ChangePage> => {
  const { conditions, hint } = listed(visit);
  const filter = allOf([...conditions, afterPosition(position)]);
  const [changes, places, budget]: [JsonText[], At[], PageBudget] = [[], [], new PageBudget()];
  const find = { filter, sort: { _pos: 1 }, hint, limit: limit + 1 } as const;
  const found: Found[] = [];
  let bytes = 0;
  const isAll = await walkFeed(visit, find, (stored, raw) => {
    if (found.length === limit || bytes > maxReadBytes) return false;
    bytes += raw.byteLength;
    return found.push({ stored, raw }) > 0;
  });
  const hidden = await hiddenAmong(visit, found);
  const wanted = { ...whole, unreadable: await unreadableFor(visit) };
  for (const { stored, raw } of found) {
    const change = toChange(visit.project, raw, stored, hidden.has(stored), wanted);
    const isFull = !budget.add({ atMost: boundOf(raw.byteLength), exact: () => measured(change) });
    if (isFull && changes.length > 0) return { changes, places, more: true };
    changes.push(change);
    places.push(placeOf(stored));
  }
  return { changes, places, more: !isAll };
};

/** The places of the latest changes after one, in order; at most `limit`. */
const findLatest = async (visit: AccessContext, after: At, limit: number): Promise<readonly At[]> => {
  const { conditions, hint } = listed(visit);
  const filter = allOf([...conditions, afterPosition({ after, shown: [] })]);
  const find = { filter, sort: { _pos: -1 }, projection: { _id: 0, _pos: 1 }, hint, limit } as const;
  const places: At[] = [];
  await walkFeed(visit, find, (stored) => places.push(placeOf(stored)) > 0);
  return places.reverse();
};

/** That a document has changed, and not how. */
export interface Moved {
  readonly _id: ObjectId;
  readonly rev: number;
  readonly isDeleted: boolean;
  readonly createdAt: Date | undefined;
  /** When, to the second. */
  readonly at: Date;
}

const projection = { _rev: 1, _pos: 1, isDeleted: 1, createdAt: 1 } as const;

/**
 * Which documents changed after a position, whoever may see them, in the order of their places, in one find; those with
 * ids of another kind not. Returns whether others follow, too.
 */
export const findMoved = async (project: Project, collection: Collection, position: FeedPosition, limit: number) => {
  const find = { filter: afterPosition(position), sort: { _pos: 1 }, projection, hint: feedKeys(), limit } as const;
  const [moved, places]: [Moved[], At[]] = [[], []];
  await walkFeed({ project, collection }, find, (stored) => {
    const { _id, createdAt } = stored;
    const place = placeOf(stored);
    places.push(place);
    if (!(_id instanceof ObjectId)) return true;
    const madeAt = createdAt instanceof Date ? createdAt : undefined;
    moved.push({
      _id,
      rev: revisionOf(stored),
      isDeleted: isTrashed(stored),
      createdAt: madeAt,
      at: new Date(secondsAt(place) * 1000),
    });
    return true;
  });
  return { moved, places, more: places.length === limit };
};

/** What a request for changes asks for. */
interface ChangesQuery {
  /** `undefined`: nothing but the position of now. '0': from where the feed begins. */
  readonly since?: string | undefined;
  readonly limit: number;
  /** Seconds to wait for something. */
  readonly wait: number;
}

/** A position belongs to one making of a collection, where its documents are, and to what the caller sees of them. */
const viewOf = async (visit: AccessContext): Promise<string> => {
  const { project, collection, caller } = visit;
  const { id, rls } = collection;
  const { kind, userId = '' } = caller;
  const isOfUser = obeysRules(visit) && namesUser((await rulesOf(project, collection)).rules.list);
  const isOpen = !isPrivate(rls) && !isOfUser;
  const seen = isOpen ? ['all'] : kind === 'secret' ? ['secret'] : ['user', rls.ownerField, userId];
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
export const positionOfNow = async (visit: AccessContext, begin: FeedPosition): Promise<FeedPosition> => {
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
export const listChanges = async (visit: AccessContext, { since, limit, wait }: ChangesQuery) => {
  const feed = await requireFeed(visit);
  const view = await viewOf(visit);
  const { readSince } = visit.collection.rls;
  const begin = beginOf(feed);
  if (since === undefined) {
    const next = await encodePosition(view, await positionOfNow(visit, begin));
    return { changes: [], next, more: false };
  }
  const position =
    since === '0'
      ? begin
      : await decodePosition(view, since, readSince && readSince > feed.readyAt ? readSince : feed.readyAt);
  const waitMs = Math.min(wait * 1000, visit.project.placement.kind === 'managed' ? wait * 1000 : maxOwnWaitMs);
  const look = () => findChanges(visit, position, limit);
  const { changes, places, more } = await waited(look, waitMs);
  return { changes, next: await encodePosition(view, movedOn(position, places, more)), more };
};
