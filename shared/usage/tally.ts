import type { Collection } from '../collections/collection.ts';
import { orderedIndexes } from '../collections/indexes/indexes.ts';
import { clock } from '../core/clock.ts';
import { usageSettings } from '../core/config.ts';
import { describeError, log } from '../core/log.ts';
import { currentRequest } from '../core/request.ts';
import { addStats, classOf, dayOf, type StatsKind, type StatsPlace } from './requests.ts';
import { type ShapeCount, storeShapes } from './slow-lists.ts';

interface CountedRequest {
  readonly projectId: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

interface Sums extends StatsPlace {
  readonly kind: StatsKind;
  readonly values: Map<string, number>;
}

/** Counts beyond these limits are dropped, to bound memory. */
const maxItems = 500;
const maxAttributes = 300;

/** DynamoDB limits expressions to 4 KiB. */
const attributesPerUpdate = 50;

let pending = new Map<string, Sums>();
let since = 0;
let timer: NodeJS.Timeout | undefined;

const shapesIn = (values: ReadonlyMap<string, number>): ShapeCount[] =>
  [...values].flatMap(([name, lists]) => {
    const shape = name.slice(2);
    return name.startsWith('n|') ? [{ shape, lists, ms: values.get(`ms|${shape}`) ?? 0 }] : [];
  });

const store = async (sums: Sums): Promise<void> => {
  if (sums.kind === 'queries') return storeShapes(sums, shapesIn(sums.values));
  const values = [...sums.values];
  for (let start = 0; start < values.length; start += attributesPerUpdate) {
    await addStats(sums.kind, sums, values.slice(start, start + attributesPerUpdate));
  }
};

/** Failed writes are dropped; statistics must not cost a request. */
export const flushTally = async (): Promise<void> => {
  const items = [...pending.values()];
  pending = new Map();
  clearTimeout(timer);
  timer = undefined;
  const [failed] = (await Promise.allSettled(items.map(store))).filter((outcome) => outcome.status === 'rejected');
  if (failed) log.warn({ message: 'Some requests were not counted', error: describeError(failed.reason) });
};

const add = (kind: StatsKind, projectId: string, name: string, value: number): void => {
  const { USAGE_SECONDS } = usageSettings();
  if (USAGE_SECONDS === 0) return;
  const day = dayOf(clock.now());
  const key = `${kind} ${projectId} ${day}`;
  const known = pending.get(key);
  const sums = known ?? { kind, projectId, day, values: new Map<string, number>() };
  if (!known && pending.size >= maxItems) return;
  const before = sums.values.get(name);
  if (before === undefined && sums.values.size >= maxAttributes) return;
  if (pending.size === 0) {
    since = clock.now();
    // In Lambda the timer fires only with the next request; a long-running server needs it for its last counts.
    timer = setTimeout(flushTally, USAGE_SECONDS * 1000).unref();
  }
  if (!known) pending.set(key, sums);
  sums.values.set(name, (before ?? 0) + value);
};

/** Route, status and latency class form the name of a counter. */
export const countUsage = ({ projectId, route, status, ms }: CountedRequest): void =>
  add('requests', projectId, `${route}|${status}|${classOf(ms)}`, 1);

const countSlowList = (projectId: string, shape: string, ms: number): void => {
  add('queries', projectId, `n|${shape}`, 1);
  add('queries', projectId, `ms|${shape}`, Math.round(ms));
};

/**
 * Starts writing if the oldest count is more than `USAGE_SECONDS` old, in parallel with the current request, because
 * nothing runs in Lambda after a response. A process's last counts may be lost.
 */
export const flushTallyIfDue = (): Promise<void> | undefined => {
  const { USAGE_SECONDS } = usageSettings();
  if (pending.size === 0 || clock.now() - since < USAGE_SECONDS * 1000) return undefined;
  return flushTally();
};

const slowMs = 100;
const maxFields = 4;

export const isSlow = (ms: number): boolean => ms >= slowMs;

/** Fields in the order of a suitable index. */
export interface ListShape {
  readonly collection: string;
  /** Set if the list only contains one user's documents. */
  readonly owner?: string;
  readonly equal: readonly string[];
  readonly sort: readonly (readonly [field: string, direction: 1 | -1])[];
  readonly range: readonly string[];
}

const isServed = (collection: Collection, { owner, equal, range, sort }: ListShape): boolean => {
  const first = new Set([...equal, ...(equal.length > 0 ? [] : [...range, ...sort.map(([field]) => field)])]);
  return orderedIndexes(collection).some(({ key }) => {
    const fields = Object.keys(key).filter((field) => field !== owner);
    return first.has(fields[0] ?? '');
  });
};

/** Counts a list that was slow or timed out and that no index of the service supports. Quick lists cost nothing. */
export const recordSlowList = (collection: Collection, shape: Omit<ListShape, 'collection'>, ms: number): void => {
  const projectId = currentRequest.getStore()?.projectId;
  if (!isSlow(ms) || projectId === undefined) return;
  const named: ListShape = { collection: collection.name, ...shape };
  const fields = named.equal.length + named.sort.length + named.range.length;
  if (fields === 0 || fields > maxFields || isServed(collection, named)) return;
  countSlowList(projectId, JSON.stringify(named), ms);
};
