import { type IndexDescription, ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { isClientError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { tryOrLog } from '../core/log.ts';
import { cutText } from '../core/text.ts';
import type { Page, PageRequest } from '../core/values.ts';
import { type View, viewOf } from '../core/values.ts';
import { inControl } from '../persistence/mongo.ts';
import { findPage } from '../persistence/records.ts';
import { emailsOf } from '../projects/find-project.ts';
import type { Project } from '../projects/project.ts';

/** Only settings without secrets. */
export interface ChangedValue {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Ids are 24 hex characters. */
export interface AuditedChange {
  readonly projectId: string;
  readonly developerId: string;
  /** Personal access token; `null` for a signed-in developer. */
  readonly tokenId: string | null;
  readonly action: string;
  /** Path parameters except the project. */
  readonly target: Readonly<Record<string, string>>;
  /** Names of the fields sent, dotted. */
  readonly fields: readonly string[];
  readonly values: readonly ChangedValue[];
}

/** Written as `unknown` before the change and set to `done` after it, so that none is missing after a crash. */
export interface AuditRecord extends Omit<AuditedChange, 'projectId' | 'developerId' | 'tokenId'> {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  readonly at: Date;
  readonly developerId: ObjectId;
  readonly tokenId: ObjectId | null;
  readonly outcome: 'done' | 'unknown';
}

const auditRecords = inControl<AuditRecord>('auditEntries');

const yearSeconds = 365 * 24 * 3600;

/** MongoDB removes older entries some time later. */
const keptMs: number = yearSeconds * 1000;

export const auditIndexes: readonly IndexDescription[] = [
  { key: { projectId: 1, at: -1, _id: -1 }, name: 'project' },
  { key: { at: 1 }, name: 'age', expireAfterSeconds: yearSeconds },
];

interface AuditEntry extends View<AuditRecord, Exclude<keyof AuditRecord, 'projectId'>> {
  /** Current address; `null` if the account is deleted. */
  readonly email: string | null;
}

const shown = ['_id', 'at', 'developerId', 'tokenId', 'action', 'target', 'fields', 'values', 'outcome'] as const;

/** Covered by the index `project`. */
export const entriesOf = (projectId: ObjectId, now: number) => ({
  filter: { projectId, at: { $gt: new Date(now - keptMs) } },
  sort: { at: -1, _id: -1 } as const,
});

export const listAuditEntries = async ({ id }: Project, request: PageRequest): Promise<Page<AuditEntry>> => {
  const { filter, sort } = entriesOf(new ObjectId(id), clock.now());
  const found = await findPage(auditRecords, filter, request, { sort }, (record) => viewOf(record, shown));
  const emails = await emailsOf(found.items.map(({ developerId }) => new ObjectId(developerId)));
  return { ...found, items: found.items.map((entry) => ({ ...entry, email: emails.get(entry.developerId) ?? null })) };
};

/** Characters of JSON that `before` and `after` may have together uncut. */
const maxUncutLength = 1024;
const maxTextLength = 200;
const maxItems = 10;
/** Characters of all field names together. */
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
  if (jsonOf([before, after]).length <= maxUncutLength) return value;
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

/** Cuts long values; long lists keep the first ten removed (`before`) and added (`after`) items. */
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

/** Failing to set the outcome is only logged, because the entry already exists. */
const setOutcome = (entry: ObjectId, write: () => Promise<unknown>): Promise<boolean> =>
  tryOrLog('error', { message: 'An audit entry stays unsettled', entry: entry.toHexString() }, write);

/**
 * Runs a change and records it in the audit trail. If the entry cannot be written first, throws 503 and changes
 * nothing. A 4xx error removes the entry; other errors leave it `unknown`.
 */
export const audited = async <T>(change: AuditedChange, act: () => Promise<T>): Promise<T> => {
  const _id = await begin(change);
  let result: T;
  try {
    result = await act();
  } catch (error) {
    if (isClientError(error)) await setOutcome(_id, () => auditRecords.deleteOne({ _id }));
    throw error;
  }
  await setOutcome(_id, () => auditRecords.updateOne({ _id }, { $set: { outcome: 'done' } }));
  return result;
};
