import { ObjectId } from 'mongodb';
import { cutText } from '../../core/bounded-text.ts';
import { clock } from '../../core/clock.ts';
import { isClientError } from '../../core/errors.ts';
import { orLog } from '../../core/log.ts';
import { newId } from '../../core/new-id.ts';
import { type AuditedChange, auditRecords, type ChangedValue } from './list-audit-entries.ts';

/** What is kept as it is of a value before and after together, in characters of JSON. */
const wholeUpTo = 1024;
const maxTextLength = 200;
const maxItems = 10;
/** Of the names of all fields together, in characters. */
const maxNamesLength = 1024;

const jsonOf = (value: unknown): string => JSON.stringify(value) ?? 'null';

const shorten = (text: string): string => (text.length > maxTextLength ? cutText(text, maxTextLength - 1, '…') : text);

const cut = (value: unknown): unknown => {
  if (typeof value === 'string') return shorten(value);
  if (Array.isArray(value)) return value.slice(0, maxItems).map(cut);
  const json = jsonOf(value);
  return json.length > maxTextLength ? shorten(json) : value;
};

const without = (list: readonly unknown[], others: readonly unknown[]): readonly unknown[] => {
  const known = new Set(others.map(jsonOf));
  return list.filter((item) => !known.has(jsonOf(item)));
};

const boundedValue = (value: ChangedValue): ChangedValue => {
  const { field, before, after } = value;
  if (jsonOf([before, after]).length <= wholeUpTo) return value;
  return Array.isArray(before) && Array.isArray(after)
    ? { field, before: cut(without(before, after)), after: cut(without(after, before)) }
    : { field, before: cut(before), after: cut(after) };
};

const boundedNames = (names: readonly string[]): readonly string[] => {
  let length = 0;
  return names.filter((name) => {
    length += name.length;
    return length <= maxNamesLength;
  });
};

/**
 * The change as its entry tells it, so that no entry takes more than a few KiB of what is kept for a year: of a long
 * value only its beginning, of a long list only what was removed (`before`) and what was added (`after`), the first ten
 * of each.
 */
const boundedChange = (change: AuditedChange): AuditedChange => ({
  ...change,
  fields: boundedNames(change.fields),
  values: change.values.map(boundedValue),
});

const begin = async (change: AuditedChange): Promise<ObjectId> => {
  const { projectId, developerId, tokenId, ...what } = boundedChange(change);
  const _id = newId();
  await auditRecords.insertOne({
    _id,
    projectId: new ObjectId(projectId),
    at: new Date(clock.now()),
    developerId: new ObjectId(developerId),
    tokenId: tokenId === null ? null : new ObjectId(tokenId),
    ...what,
    outcome: 'unknown',
  });
  return _id;
};

/** The entry exists already: failing to set its outcome is logged, and does not fail the change. */
const settle = (entry: ObjectId, write: () => Promise<unknown>): Promise<boolean> =>
  orLog('error', { message: 'An audit entry stays unsettled', entry: entry.toHexString() }, write);

/**
 * Runs a change and records it in the project's audit trail (contract 6, "Audit trail"). The entry is written first: if
 * that fails → 503 and nothing is changed. A refusal (4xx) removes the entry; any other failure leaves it as `unknown`.
 */
export const audited = async <T>(change: AuditedChange, act: () => Promise<T>): Promise<T> => {
  const _id = await begin(change);
  let result: T;
  try {
    result = await act();
  } catch (error) {
    if (isClientError(error)) await settle(_id, () => auditRecords.deleteOne({ _id }));
    throw error;
  }
  await settle(_id, () => auditRecords.updateOne({ _id }, { $set: { outcome: 'done' } }));
  return result;
};
