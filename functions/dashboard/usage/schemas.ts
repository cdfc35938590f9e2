import * as v from 'valibot';
import { success } from '../../schemas.ts';

const limit = v.nullable(v.number());

export const UsageAnswer = success(
  v.object({
    databaseUsed: v.number(),
    databaseLimit: limit,
    storageUsed: v.number(),
    storageLimit: limit,
    mailUsed: v.number(),
    mailLimit: v.number(),
    users: v.number(),
    usersLimit: limit,
    collections: v.number(),
    collectionsLimit: limit,
    requestsToday: v.number(),
  }),
);

const isDay = (text: string): boolean => {
  const time = Date.parse(text);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && Number.isFinite(time) && new Date(time).toISOString().startsWith(text);
};

export const DayQuery = v.object({
  day: v.optional(v.pipe(v.string(), v.check(isDay, 'must be a day such as 2026-11-21 (UTC)'))),
});

export const RequestsAnswer = success(
  v.object({
    day: v.string(),
    requests: v.number(),
    routes: v.array(
      v.object({
        route: v.string(),
        requests: v.number(),
        statuses: v.record(v.string(), v.number()),
        p50: v.nullable(v.number()),
        p95: v.nullable(v.number()),
      }),
    ),
  }),
);

export const MissingIndexesAnswer = success(
  v.array(
    v.object({
      collection: v.string(),
      filters: v.array(v.string()),
      sort: v.array(v.string()),
      lists: v.number(),
      averageMs: v.number(),
      index: v.object({ keys: v.record(v.string(), v.picklist([1, -1])) }),
    }),
  ),
);
