import { type IndexDescription, ObjectId } from 'mongodb';
import { findPage } from '../../clients/find-page.ts';
import { inControl } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import type { Page, PageRequest } from '../../core/page.ts';
import { type View, viewOf } from '../../core/view.ts';
import type { Project } from '../project.ts';
import { emailsOf } from '../with-owner.ts';

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

export const auditRecords = inControl<AuditRecord>('auditEntries');

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
