import { setTimeout as sleep } from 'node:timers/promises';
import { isPrivate } from '../../collections/collection.ts';
import { feedKeys } from '../../collections/indexes/indexes.ts';
import { namesUser } from '../../collections/rules/rule.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { mapConcurrent } from '../../core/concurrency.ts';
import { JsonText } from '../../core/json.ts';
import { currentRequest } from '../../core/request.ts';
import { databaseOf } from '../../persistence/mongo.ts';
import type { Project } from '../../projects/project.ts';
import { type AccessContext, obeysRules, visibilityFilter } from '../access/access.ts';
import { unreadableFor } from '../access/field-rights.ts';
import { listDecider } from '../access/reading.ts';
import { rulesOf } from '../access/rules-of.ts';
import { type Document, revisionOf } from '../document.ts';
import { boundOf, measured, PageBudget } from '../page-size.ts';
import { allOf, type Condition } from '../query/condition.ts';
import { findMatchingAmong } from '../query/list-documents.ts';
import { parseSentWhere } from '../query/list-query.ts';
import { textOf, type Wanted, whole } from '../query/projection.ts';
import { parseWhere } from '../query/where.ts';
import { wireDocument } from '../wire.ts';
import {
  afterPosition,
  beginOf,
  type PartitionValue,
  placeOf,
  requireFeed,
  requirePartition,
  walkFeed,
} from './feed.ts';
import { type At, decodePosition, encodePosition, type FeedPosition, movedOn } from './feed-position.ts';
import { requireConditions } from './preconditions.ts';

/** Changes in feed order, and whether more follow. */
interface ChangePage {
  /** Each is `{_id, rev, deleted?, document?}`: a changed document in its latest state. */
  readonly changes: readonly JsonText[];
  readonly places: readonly At[];
  readonly more: boolean;
}

const idTextOf = ({ _id }: Document): string => JSON.stringify(wireDocument({ _id })._id);

/** Trashed and permanently deleted documents are not shown. */
const toChange = (project: Project, raw: Uint8Array, stored: Document, isHidden: boolean, wanted: Wanted): JsonText => {
  const state = isHidden || isTrashed(stored) ? '"deleted":true' : `"document":${textOf(project, raw, wanted).text}`;
  return new JsonText(`{"_id":${idTextOf(stored)},"rev":${revisionOf(stored)},${state}}`);
};

/**
 * The changes that the caller may list, by an index that leads to nothing else. Throws 401 for a private collection
 * without a user.
 */
const listed = (context: AccessContext, value: PartitionValue) => {
  const { partition } = context.collection;
  if (partition !== undefined && value !== undefined && !isPrivate(context.collection.rls)) {
    return { conditions: [{ [partition]: { $eq: value } } as Condition], hint: feedKeys(partition) };
  }
  const among = partition !== undefined && value !== undefined ? [{ [partition]: { $eq: value } } as Condition] : [];
  // Under rules the ids of changed documents are visible to everyone who may list; see `toChange`.
  if (obeysRules(context)) return { conditions: [], hint: feedKeys() };
  const own = visibilityFilter(context, false);
  return {
    conditions: [...(own ? [own] : []), ...among],
    hint: own ? feedKeys(context.collection.rls.ownerField) : feedKeys(),
  };
};

/** A document of the feed, and its bytes. */
interface Found {
  readonly stored: Document;
  readonly raw: Uint8Array;
}

/** JSON is never that much smaller than BSON, so more would not fit into a page. */
const maxReadBytes = 8 * 5 * 1024 * 1024;

/** Parallel look-ups if each document needs its own. */
const atOnce = 8;

/** The condition for showing a change with its document, and the maximum number of changes of a page. */
interface PageQuery {
  /** A condition as JSON. */
  readonly where: unknown;
  readonly limit: number;
  readonly partition: PartitionValue;
}

/**
 * The documents of a page that the caller may not list or that do not match `where`. Includes those that changed
 * again before they were checked: their next change follows in the feed.
 */
const judged = async (context: AccessContext, found: readonly Found[], where: unknown) => {
  const [hidden, later] = [new Set<Document>(), new Set<Document>()];
  const shown = found.map(({ stored }) => stored).filter((stored) => !isTrashed(stored));
  if (where === undefined) return { hidden: await hiddenAmong(context, shown), later };
  const revisions = shown.length > 0 ? await findMatchingAmong(context, where, shown) : new Map();
  for (const stored of shown) {
    const revision = revisions.get(idTextOf(stored));
    if (revision === undefined) hidden.add(stored);
    else if (revision !== revisionOf(stored)) later.add(stored);
  }
  return { hidden, later };
};

/** The documents that the caller may not list. */
const hiddenAmong = async (context: AccessContext, among: readonly Document[]): Promise<ReadonlySet<Document>> => {
  const hidden = new Set<Document>();
  if (!obeysRules(context)) return hidden;
  const mayList = await listDecider(context);
  await mapConcurrent(among, atOnce, async (stored) => {
    if (!(await mayList(stored))) hidden.add(stored);
  });
  return hidden;
};

/**
 * The changes after a position that were not shown yet, with one find, and with `where` another one: at most `limit`,
 * and 5 MiB of JSON.
 */
const findChanges = async (
  context: AccessContext,
  position: FeedPosition,
  { limit, where, partition }: PageQuery,
): Promise<ChangePage> => {
  const { conditions, hint } = listed(context, partition);
  const filter = allOf([...conditions, afterPosition(position)]);
  const [changes, places, budget]: [JsonText[], At[], PageBudget] = [[], [], new PageBudget()];
  const find = { filter, sort: { _pos: 1 }, hint, limit: limit + 1 } as const;
  const found: Found[] = [];
  let bytes = 0;
  const isAll = await walkFeed(context, find, (stored, raw) => {
    if (found.length === limit || bytes > maxReadBytes) return false;
    bytes += raw.byteLength;
    return found.push({ stored, raw }) > 0;
  });
  const { hidden, later } = await judged(context, found, where);
  const wanted = { ...whole, unreadable: await unreadableFor(context) };
  for (const { stored, raw } of found) {
    if (later.has(stored)) {
      places.push(placeOf(stored));
      continue;
    }
    const change = toChange(context.project, raw, stored, hidden.has(stored), wanted);
    const isFull = !budget.add({ atMost: boundOf(raw.byteLength), exact: () => measured(change) });
    if (isFull && changes.length > 0) return { changes, places, more: true };
    changes.push(change);
    places.push(placeOf(stored));
  }
  return { changes, places, more: !isAll };
};

/** The feed positions of the latest changes after one, in order; at most `limit`. */
const findLatest = async (
  context: AccessContext,
  after: At,
  limit: number,
  partition: PartitionValue,
): Promise<readonly At[]> => {
  const { conditions, hint } = listed(context, partition);
  const filter = allOf([...conditions, afterPosition({ after, shown: [] })]);
  const find = { filter, sort: { _pos: -1 }, projection: { _id: 0, _pos: 1 }, hint, limit } as const;
  const places: At[] = [];
  await walkFeed(context, find, (stored) => places.push(placeOf(stored)) > 0);
  return places.reverse();
};

/** A request for changes. */
interface ChangesQuery {
  /** `undefined`: only the current position. '0': the beginning of the feed. */
  readonly since?: string | undefined;
  readonly limit: number;
  /** Seconds to wait for changes. */
  readonly wait: number;
  /** A condition as the text of its JSON. */
  readonly where?: string | undefined;
  readonly partition?: string | undefined;
}

/**
 * A position belongs to one incarnation of a collection, the place of its documents, what the caller sees of them, the
 * condition and the partition.
 */
const viewOf = async (context: AccessContext, where: unknown, value: PartitionValue): Promise<string> => {
  const { project, collection, caller } = context;
  const { id, rls, partition } = collection;
  const { kind, userId = '' } = caller;
  const isOfUser = obeysRules(context) && namesUser((await rulesOf(project, collection)).rules.list);
  const isOpen = !isPrivate(rls) && !isOfUser;
  const seen = isOpen ? ['all'] : kind === 'secret' ? ['secret'] : ['user', rls.ownerField, userId];
  const of = value === undefined ? {} : { partition, value };
  const asked = where === undefined && value === undefined ? [] : [{ where, ...of }];
  return JSON.stringify([project.id, databaseOf(project), id, ...seen, ...asked]);
};

/** The current position marks at most this many recent changes as shown. */
const maxLatest = 2000;

/** The position after which only new changes are shown. */
export const positionOfNow = async (
  context: AccessContext,
  begin: FeedPosition,
  partition?: PartitionValue,
): Promise<FeedPosition> => {
  const latest = await findLatest(context, begin.after, maxLatest, partition);
  const isCut = latest.length === maxLatest;
  const [oldest = begin.after, ...shown] = latest;
  return movedOn(isCut ? { after: oldest, shown: [] } : begin, isCut ? shown : latest, false);
};

const firstPauseMs = 50;

const lastPauseMs = 1000;

const pauseGrowth = 1.5;

/** A request to a customer's database ends after 20 s. */
const maxOwnWaitMs = 15_000;

/** Repeats `look` at growing intervals until there are changes or the time is over. */
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
 * The documents of a collection that changed since a position and that the caller may list, each once and in its
 * latest state, in the order of their last changes. Throws 409 `CHANGES_NOT_ENABLED` without a feed, 400
 * `INVALID_POSITION` for a position of something else, 410 `POSITION_GONE` for one that is too old, 401 for a
 * private collection without a user, 400 for an invalid `where`. Costs one find, and with `where` one more if something
 * changed; with `wait` so many for each look. `sent` is the query string. Contract 2, "Changes".
 */
export const listChanges = async (context: AccessContext, query: ChangesQuery, sent: string) => {
  const feed = await requireFeed(context);
  const { since, limit, wait } = query;
  const where = query.where === undefined ? undefined : parseSentWhere(query.where, sent);
  if (where !== undefined) await requireConditions(context, parseWhere(context.collection, where));
  const partition = await requirePartition(context, query.partition);
  const view = await viewOf(context, where, partition);
  const { readSince } = context.collection.rls;
  const begin = beginOf(feed);
  if (since === undefined) {
    const next = await encodePosition(view, await positionOfNow(context, begin, partition));
    return { changes: [], next, more: false };
  }
  const position =
    since === '0'
      ? begin
      : await decodePosition(view, since, readSince && readSince > feed.readyAt ? readSince : feed.readyAt);
  const waitMs = Math.min(wait * 1000, context.project.placement.kind === 'managed' ? wait * 1000 : maxOwnWaitMs);
  const look = () => findChanges(context, position, { limit, where, partition });
  const { changes, places, more } = await waited(look, waitMs);
  return { changes, next: await encodePosition(view, movedOn(position, places, more)), more };
};
