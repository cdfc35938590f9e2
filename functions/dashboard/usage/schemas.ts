import * as v from 'valibot';
import { success } from '../../schemas.ts';

const limit = v.nullable(v.number());

export const UsageAnswer = success(
  v.object({
    databaseUsed: v.number(),
    databaseLimit: limit,
    storageUsed: v.number(),
    storageLimit: limit,
    imageSizesUsed: v.number(),
    imageSizesLimit: v.number(),
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

const dayCount = 'must be a whole number from 1 to 31';

/** `days`: how many days that end with `day`. */
export const DayQuery = v.strictObject({
  day: v.optional(v.pipe(v.string(), v.check(isDay, 'must be a day such as 2026-11-21 (UTC)'))),
  days: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^\d{1,2}$/, dayCount),
      v.transform(Number),
      v.minValue(1, dayCount),
      v.maxValue(31, dayCount),
    ),
  ),
});

const counts = v.record(v.string(), v.number());

export const RequestsAnswer = success(
  v.object({
    day: v.string(),
    requests: v.number(),
    routes: v.array(
      v.object({
        route: v.string(),
        requests: v.number(),
        statuses: counts,
        p50: v.nullable(v.number()),
        p95: v.nullable(v.number()),
      }),
    ),
    days: v.optional(
      v.array(
        v.object({
          day: v.string(),
          requests: v.number(),
          statuses: counts,
          routes: counts,
          p95: v.nullable(v.number()),
        }),
      ),
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
