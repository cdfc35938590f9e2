import { type IndexDescription, ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { isClientError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { tryOrLog } from '../core/log.ts';
import { cutText } from '../core/text.ts';
import type { Page, PageRequest } from '../core/values.ts';
import { type View, viewOf } from '../core/view.ts';
import { inControl } from '../persistence/mongo.ts';
import { findPage } from '../persistence/records.ts';
import { emailsOf } from '../projects/find-project.ts';
import type { Project } from '../projects/project.ts';

/** A setting before and after a change; only of settings whose values are no secret. */
export interface ChangedValue {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** A change of a project as it is about to be made. Ids are 24 hex characters. */
export interface AuditedChange {
  readonly projectId: string;
  readonly developerId: string;
  /** The personal access token it is made with; `null` for a developer who is signed in. */
  readonly tokenId: string | null;
  /** The id of the route. */
  readonly action: string;
  /** What it is made to: the parameters of the path, without the project. */
  readonly target: Readonly<Record<string, string>>;
  /** Names of the fields that were sent, dotted. */
  readonly fields: readonly string[];
  readonly values: readonly ChangedValue[];
}

/**
 * A document of `control.auditEntries`. It is written as `unknown` before the change and set to `done` after it, so
 * that no change goes unrecorded; if the process dies in between, it stays `unknown`.
 */
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

/** Entries are shown for this long; MongoDB removes them some time later. */
const keptMs: number = yearSeconds * 1000;

/** Indexes of `control.auditEntries`: the order of the list, and the age at which an entry goes. */
export const auditIndexes: readonly IndexDescription[] = [
  { key: { projectId: 1, at: -1, _id: -1 }, name: 'project' },
  { key: { at: 1 }, name: 'age', expireAfterSeconds: yearSeconds },
];

/** One change of a project: who made it, when, to what. */
interface AuditEntry extends View<AuditRecord, Exclude<keyof AuditRecord, 'projectId'>> {
  /** The developer's address as it is now; `null` where the account is gone. */
  readonly email: string | null;
}

const shown = ['_id', 'at', 'developerId', 'tokenId', 'action', 'target', 'fields', 'values', 'outcome'] as const;

/** The newest entries first, and how many there are; both by the index alone. */
export const entriesOf = (projectId: ObjectId, now: number) => ({
  filter: { projectId, at: { $gt: new Date(now - keptMs) } },
  sort: { at: -1, _id: -1 } as const,
});

/** A page of a project's audit trail of the last year, newest first. */
export const listAuditEntries = async ({ id }: Project, request: PageRequest): Promise<Page<AuditEntry>> => {
  const { filter, sort } = entriesOf(new ObjectId(id), clock.now());
  const found = await findPage(auditRecords, filter, request, { sort }, (record) => viewOf(record, shown));
  const emails = await emailsOf(found.items.map(({ developerId }) => new ObjectId(developerId)));
  return { ...found, items: found.items.map((entry) => ({ ...entry, email: emails.get(entry.developerId) ?? null })) };
};

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
  tryOrLog('error', { message: 'An audit entry stays unsettled', entry: entry.toHexString() }, write);

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
