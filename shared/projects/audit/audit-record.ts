import type { IndexDescription, ObjectId } from 'mongodb';
import { inControl } from '../../clients/mongo.ts';

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

export const onAuditEntries = inControl<AuditRecord>('auditEntries');

const yearSeconds = 365 * 24 * 3600;

/** Entries are shown for this long; MongoDB removes them some time later. */
export const keptMs: number = yearSeconds * 1000;

/** Indexes of `control.auditEntries`: the order of the list, and the age at which an entry goes. */
export const auditIndexes: readonly IndexDescription[] = [
  { key: { projectId: 1, at: -1, _id: -1 }, name: 'project' },
  { key: { at: 1 }, name: 'age', expireAfterSeconds: yearSeconds },
];
