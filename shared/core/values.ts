import { ObjectId } from 'mongodb';

/** `page` starts at 1; `limit` is 1 to 100. */
export interface PageRequest {
  readonly page: number;
  readonly limit: number;
}

/** `total` ignores paging (contract 6). */
export interface Page<T> {
  readonly items: T[];
  readonly total: number;
  readonly page: number;
  readonly limit: number;
}

/** A page of a list that is in memory. */
export const pageFrom = <T>(all: readonly T[], { page, limit }: PageRequest): Page<T> => ({
  items: all.slice((page - 1) * limit, page * limit),
  total: all.length,
  page,
  limit,
});

const isoForm =
  /^(\d{4}|[+-]\d{6})-(\d{2})-(\d{2})(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/;

const latest = 8_640_000_000_000_000;

const fromText = (text: string): Date | undefined => {
  const parts = isoForm.exec(text);
  if (!parts) return undefined;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = parts;
  const calendarDay = `${year}-${month}-${day}`;
  const midnight = new Date(`${calendarDay}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || !midnight.toISOString().startsWith(calendarDay)) return undefined;
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone;
  const date = new Date(`${calendarDay}T${hour}:${minute}:${second}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}`);
  return Number.isNaN(date.getTime()) ? undefined : date;
};

/**
 * Parses an ISO 8601 date or date-time (UTC by default, cut to milliseconds) or whole milliseconds since 1970. Returns
 * `undefined` otherwise, also for dates that do not exist (contract 2, "Field rules").
 */
export const parseDate = (value: unknown): Date | undefined => {
  if (typeof value === 'string') return fromText(value);
  return Number.isSafeInteger(value) && Math.abs(value as number) <= latest ? new Date(value as number) : undefined;
};

type Shown<V> = V extends ObjectId ? string : V extends readonly ObjectId[] ? readonly string[] : V;

/** Fields of a record in responses: ids are 24 hexadecimal characters. */
export type View<R, K extends keyof R> = { readonly [P in K]: Shown<R[P]> };

const shown = (value: unknown): unknown => {
  if (value instanceof ObjectId) return value.toHexString();
  return Array.isArray(value) ? value.map(shown) : value;
};

/** Returns only these fields of a record. */
export const viewOf = <R extends object, K extends keyof R>(record: R, fields: readonly K[]): View<R, K> =>
  Object.fromEntries(fields.map((field) => [field, shown(record[field])])) as View<R, K>;

/** Parses 24 hexadecimal characters; `undefined` for other values. */
export const idOf = (value: unknown): ObjectId | undefined =>
  typeof value === 'string' && /^[0-9a-f]{24}$/i.test(value) ? ObjectId.createFromHexString(value) : undefined;
