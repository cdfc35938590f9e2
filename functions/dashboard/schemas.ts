import * as v from 'valibot';
import { success } from '../schemas.ts';

const message = 'must be a positive whole number';

const positive = (fallback: string) =>
  v.optional(v.pipe(v.string(), v.regex(/^\d{1,9}$/, message), v.transform(Number), v.minValue(1, message)), fallback);

/** `page` and `limit` of every dashboard list; a limit above 100 is 100, another parameter 400 (contract 6). */
export const PageQuery = v.strictObject({
  page: positive('1'),
  limit: v.pipe(
    positive('100'),
    v.transform((limit) => Math.min(limit, 100)),
  ),
});

/** One page of a dashboard list. */
export const pageOf = <const S extends v.GenericSchema>(item: S) =>
  success(v.object({ items: v.array(item), total: v.number(), page: v.number(), limit: v.number() }));
