import { randomUUID } from 'node:crypto';
import type { Collection } from '../collections/collection.ts';
import { clock } from '../core/clock.ts';
import { usageSettings } from '../core/config.ts';
import { type AppError, type ErrorDetail, statusOf } from '../core/errors.ts';
import { describeError, log, tryOrLog } from '../core/log.ts';
import { cutText } from '../core/text.ts';
import { itemKey, type Key, partitionKey } from '../persistence/item-keys.ts';
import { write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import type { KeyKind } from '../projects/project.ts';

/** Per project. */
const most = 1000;
const mostPerSecond = 10;
export const keptSeconds = 7 * 24 * 3600;

const maxFieldLength = 100;
const maxMessageLength = 1000;
/** A process drops refusals beyond this number, to bound memory. */
const maxPending = 500;

/** A rejected request of an app, as the dashboard shows it (contract, "Rejected requests"). */
export interface RejectedRequest {
  /** A UUID. */
  readonly _id: string;
  readonly at: Date;
  /** Method and path: `GET /api/data/:collection/:id`; or an effect and its field: `effects.0 at dueAt`. */
  readonly route: string;
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly fields: readonly string[];
  readonly key: KeyKind;
  readonly userId: string | null;
  /** Cut to a network: `127.0.0.0/24`. Empty for an effect that ran at a time. */
  readonly address: string;
  readonly requestId: string;
  /** The name of the collection that the path names, if it exists. */
  readonly collection?: string;
  /** The errors of an effect that refused, in full. */
  readonly effect?: readonly ErrorDetail[];
}

interface EndedRequest {
  readonly projectId: string;
  readonly error: AppError;
  readonly method: string;
  /** With `{collectionName}` and other parameters. */
  readonly path: string;
  readonly key: KeyKind;
  readonly userId: string | undefined;
  readonly address: string;
  readonly requestId: string;
  readonly collection: Pick<Collection, 'name' | 'schema'> | undefined;
  /** Values of the request, from its path, query and body; `undefined` if the body is too large to look for them. */
  readonly sent: () => Iterable<unknown> | undefined;
}

const statuses = { from: 400, below: 500 } as const;

/** True for a refusal that the log shows: not those of the rate limit, nor of an unknown key. */
const isLogged = ({ code }: AppError): boolean => {
  const status = statusOf[code];
  return status >= statuses.from && status < statuses.below && status !== 429 && code !== 'API_KEY_INVALID';
};

/** The network of an address: /24 of IPv4, /48 of IPv6. */
export const networkOf = (address: string): string => {
  if (address === '') return '';
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (!mapped.includes(':')) return mapped.replace(/\.\d+$/, '.0/24');
  const [before = '', after] = mapped.split('::');
  const groups = before === '' ? [] : before.split(':');
  const known = groups.length + (after ? after.split(':').length : 0);
  const all =
    after === undefined ? groups : [...groups, ...Array.from({ length: 8 - known }, () => '0'), ...after.split(':')];
  const [first = '0', second = '0', third = '0'] = all;
  const network = [first, second, third].map((group) => Number.parseInt(group || '0', 16).toString(16));
  return `${network.join(':').replace(/(?:^|:)0(?::0)*$/, '')}::/48`;
};

/** Requests with more values show no message, so that a large body costs little. */
const maxValues = 5000;

/** The values in what was sent, the longest first; `undefined` for too many. */
const leavesOf = (sent: Iterable<unknown> | undefined): readonly string[] | undefined => {
  if (!sent) return undefined;
  const left = [...sent];
  const leaves = new Set<string>();
  for (let value = left.pop(); value !== undefined || left.length > 0; value = left.pop()) {
    const inside = typeof value === 'object' && value !== null ? Object.values(value) : [];
    if (leaves.size + left.length + inside.length > maxValues) return undefined;
    left.push(...inside);
    if (['string', 'number', 'boolean'].includes(typeof value) && value !== '') leaves.add(String(value));
  }
  return [...leaves].sort((one, other) => other.length - one.length);
};

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Replaces the values that the request sent, except names of the collection and its fields. */
const withoutValues = (
  message: string,
  sent: Iterable<unknown> | undefined,
  collection: EndedRequest['collection'],
): string => {
  const values = leavesOf(sent);
  if (!values) return '…';
  const names = new Set([collection?.name, ...(collection?.schema ?? []).map(({ key }) => key)]);
  return values
    .filter((value) => !names.has(value) && message.includes(value))
    .reduce(
      (text, value) => text.replace(new RegExp(`(?<![\\p{L}\\p{N}_])${escaped(value)}(?![\\p{L}\\p{N}_])`, 'gu'), '…'),
      message,
    );
};

/** The code of effects, which show all of their errors here. */
const effectCode: string = 'EFFECT_REFUSED';

const refusalOf = ({
  error,
  method,
  path,
  collection,
  sent,
  key,
  userId,
  address,
  requestId,
}: EndedRequest): RejectedRequest => {
  const { code, errors = [] } = error;
  const fields = new Set(errors.flatMap(({ field }) => (!field ? [] : [cutText(field, maxFieldLength, '…')])));
  return {
    _id: randomUUID(),
    at: new Date(clock.now()),
    route: `${method} ${path.replace('{collectionName}', ':collection').replaceAll(/\{(\w+)\}/g, ':$1')}`,
    status: statusOf[code],
    code,
    message: withoutValues(cutText(error.message, maxMessageLength, '…'), sent(), collection),
    fields: [...fields],
    key,
    userId: userId ?? null,
    address: networkOf(address),
    requestId,
    ...(collection && { collection: collection.name }),
    ...(code === effectCode && { effect: error.logged ?? errors }),
  };
};

interface Pending {
  readonly projectId: string;
  readonly refusal: RejectedRequest;
}

let pending: Pending[] = [];
let flushedAt = 0;
let timer: NodeJS.Timeout | undefined;

export const partitionOf = (projectId: string) => partitionKey('stats', { projectId });

export const countKey = (projectId: string): Key => itemKey(kinds.rejectedTotal, partitionOf(projectId));

const expiry = (): number => Math.ceil(clock.now() / 1000) + keptSeconds;

/** How many of `count` refusals of a second the project still keeps. */
const takeRoom = async (projectId: string, second: number, count: number): Promise<number> => {
  const { item } = await write<{ readonly n: number }>(
    {
      update: itemKey(kinds.rejectedPerSecond, partitionOf(projectId), { second: String(second) }),
      change: 'SET expiresAt = :end ADD n :count',
      values: { end: expiry(), count },
    },
    'UPDATED_NEW',
  );
  return Math.max(0, Math.min(count, mostPerSecond - ((item?.n ?? 0) - count)));
};

const store = async (projectId: string, refusals: readonly RejectedRequest[]): Promise<void> => {
  const bySecond = Map.groupBy(refusals, ({ at }) => Math.floor(at.getTime() / 1000));
  const kept: RejectedRequest[] = [];
  for (const [second, all] of bySecond) kept.push(...all.slice(0, await takeRoom(projectId, second, all.length)));
  const { item } = await write<{ readonly kept: number }>(
    {
      update: countKey(projectId),
      change: 'SET expiresAt = :end ADD kept :kept, notKept :dropped',
      values: { end: expiry(), kept: kept.length, dropped: refusals.length - kept.length },
    },
    'UPDATED_NEW',
  );
  const first = (item?.kept ?? 0) - kept.length;
  // The newest replaces the oldest: a project has as many items as it keeps.
  await Promise.all(
    kept.map((one, index) =>
      write({
        update: itemKey(kinds.rejected, partitionOf(projectId), { slot: String((first + index) % most) }),
        change: 'SET entry = :entry, expiresAt = :end',
        values: { entry: JSON.stringify(one), end: expiry() },
      }),
    ),
  );
};

/** Writes the refusals of this process. Failed writes are dropped, because the log must not cost a request. */
export const flushRefusals = async (): Promise<void> => {
  const all = Map.groupBy(pending, ({ projectId }) => projectId);
  pending = [];
  flushedAt = clock.now();
  clearTimeout(timer);
  timer = undefined;
  const stored = await Promise.allSettled(
    [...all].map(([projectId, found]) =>
      store(
        projectId,
        found.map(({ refusal }) => refusal),
      ),
    ),
  );
  const failed = stored.find((outcome) => outcome.status === 'rejected');
  if (failed) log.warn({ message: 'Some rejected requests were not logged', error: describeError(failed.reason) });
};

/**
 * Keeps a rejected request for the next write. The first after a pause is written at once, because a function may not
 * run again soon; those that follow are written together, by the next request or a timer.
 */
export const logRejected = (request: EndedRequest): Promise<void> | undefined => {
  const { USAGE_SECONDS } = usageSettings();
  if (USAGE_SECONDS === 0 || pending.length >= maxPending || !isLogged(request.error)) return undefined;
  pending.push({ projectId: request.projectId, refusal: refusalOf(request) });
  const periodMs = USAGE_SECONDS * 500;
  if (clock.now() - flushedAt >= periodMs) return flushRefusals();
  timer ??= setTimeout(flushRefusals, periodMs).unref();
  return undefined;
};

/** Stores what a job rejected. A failed write is dropped, because the log must not stop the job. */
export const storeRejected = async (request: EndedRequest): Promise<void> => {
  if (usageSettings().USAGE_SECONDS === 0 || !isLogged(request.error)) return;
  await tryOrLog('warn', { message: 'A rejected effect was not logged', project: request.projectId }, () =>
    store(request.projectId, [refusalOf(request)]),
  );
};

/** Starts a write if refusals have waited for half of `USAGE_SECONDS`. */
export const flushRefusalsIfDue = (): Promise<void> | undefined =>
  pending.length > 0 && clock.now() - flushedAt >= usageSettings().USAGE_SECONDS * 500 ? flushRefusals() : undefined;
