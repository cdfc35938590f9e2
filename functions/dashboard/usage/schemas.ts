import * as v from 'valibot';
import { parseDate } from '../../../shared/core/values.ts';
import { success } from '../../schemas.ts';
import { PageQuery } from '../schemas.ts';

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

/** `days`: how many days that end with `day`. `hours`: adds the hours of `day`. */
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
  hours: v.optional(v.literal('true', 'must be true')),
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
    hours: v.optional(v.array(v.object({ hour: v.number(), requests: v.number(), statuses: counts }))),
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

const sinceMessage = 'must be a time such as 2026-11-21T08:30:00Z';

/** `route` as in the answer. `since`: only refusals from this time on. */
export const RefusalsQuery = v.strictObject({
  ...PageQuery.entries,
  code: v.optional(v.string()),
  route: v.optional(v.string()),
  user: v.optional(v.string()),
  requestId: v.optional(v.string()),
  since: v.optional(
    v.pipe(
      v.string(),
      v.check((text) => parseDate(text) !== undefined, sinceMessage),
      v.transform((text) => parseDate(text)),
    ),
  ),
});

export const RefusalsAnswer = success(
  v.object({
    items: v.array(
      v.object({
        _id: v.string(),
        at: v.date(),
        route: v.string(),
        status: v.number(),
        code: v.string(),
        message: v.string(),
        fields: v.array(v.string()),
        key: v.picklist(['publishable', 'secret']),
        userId: v.nullable(v.string()),
        address: v.string(),
        requestId: v.string(),
        collection: v.optional(v.string()),
        effect: v.optional(
          v.array(
            v.object({
              index: v.optional(v.number()),
              effect: v.optional(v.number()),
              write: v.optional(v.number()),
              field: v.optional(v.string()),
              message: v.optional(v.string()),
            }),
          ),
        ),
      }),
    ),
    total: v.number(),
    page: v.number(),
    limit: v.number(),
    notKept: v.number(),
  }),
);
