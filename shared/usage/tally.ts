import { clock } from '../core/clock.ts';
import { usageSettings } from '../core/config.ts';
import { describeError, log } from '../core/log.ts';
import { addStats, classOf, dayOf, hourCounter, type StatsKind, type StatsPlace } from './requests.ts';

interface CountedRequest {
  readonly projectId: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

/** Writes the sums of one project and day. */
type Store = (place: StatsPlace, values: ReadonlyMap<string, number>) => Promise<void>;

/** A kind of statistics, and how its sums are stored. */
export interface Statistics {
  readonly kind: StatsKind;
  readonly store: Store;
}

interface Sums extends StatsPlace {
  readonly store: Store;
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

const requests: Statistics = {
  kind: 'requests',
  store: async (place, values) => {
    const all = [...values];
    for (let start = 0; start < all.length; start += attributesPerUpdate) {
      await addStats('requests', place, all.slice(start, start + attributesPerUpdate));
    }
  },
};

/** Failed writes are dropped; statistics must not cost a request. */
export const flushTally = async (): Promise<void> => {
  const items = [...pending.values()];
  pending = new Map();
  clearTimeout(timer);
  timer = undefined;
  const [failed] = (await Promise.allSettled(items.map(({ store, values, ...place }) => store(place, values)))).filter(
    (outcome) => outcome.status === 'rejected',
  );
  if (failed) log.warn({ message: 'Some requests were not counted', error: describeError(failed.reason) });
};

/** Adds to a counter in memory, which is stored with the others. */
export const addToTally = ({ kind, store }: Statistics, projectId: string, name: string, value: number): void => {
  const { USAGE_SECONDS } = usageSettings();
  if (USAGE_SECONDS === 0) return;
  const day = dayOf(clock.now());
  const key = `${kind} ${projectId} ${day}`;
  const known = pending.get(key);
  const sums = known ?? { store, projectId, day, values: new Map<string, number>() };
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

/** Route, status and latency class form the name of a counter. Another one counts the hour. */
export const countUsage = ({ projectId, route, status, ms }: CountedRequest): void => {
  addToTally(requests, projectId, `${route}|${status}|${classOf(ms)}`, 1);
  addToTally(requests, projectId, hourCounter(new Date(clock.now()).getUTCHours(), status), 1);
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
