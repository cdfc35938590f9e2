import * as v from 'valibot';
import { success } from '../schemas.ts';

const message = 'must be a positive whole number';

const positive = (fallback: string) =>
  v.optional(v.pipe(v.string(), v.regex(/^\d{1,9}$/, message), v.transform(Number), v.minValue(1, message)), fallback);

/** A limit above 100 counts as 100. */
export const PageQuery = v.strictObject({
  page: positive('1'),
  limit: v.pipe(
    positive('100'),
    v.transform((limit) => Math.min(limit, 100)),
  ),
});

export const pageOf = <const S extends v.GenericSchema>(item: S) =>
  success(v.object({ items: v.array(item), total: v.number(), page: v.number(), limit: v.number() }));
