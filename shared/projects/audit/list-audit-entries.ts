import { ObjectId } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import type { Page, PageRequest } from '../../core/page.ts';
import type { Project } from '../project.ts';
import { type AuditRecord, type ChangedValue, keptMs } from './audit-record.ts';

/** One change of a project: who made it, when, to what. Ids are 24 hex characters. */
export interface AuditEntry {
  readonly _id: string;
  readonly at: Date;
  readonly developerId: string;
  /** The developer's address as it is now; `null` where the account is gone. */
  readonly email: string | null;
  readonly tokenId: string | null;
  readonly action: string;
  readonly target: Record<string, string>;
  readonly fields: string[];
  readonly values: ChangedValue[];
  readonly outcome: 'done' | 'unknown';
}

/** What is shown of the developer who made a change. */
type Author = Readonly<{ _id: ObjectId; email: string }>;

/** The newest entries first, and how many there are; both by the index alone. */
export const entriesOf = (projectId: ObjectId, now: number) => ({
  filter: { projectId, at: { $gt: new Date(now - keptMs) } },
  sort: { at: -1, _id: -1 } as const,
});

/** A page of a project's audit trail of the last year, newest first. */
export const listAuditEntries = async ({ id }: Project, { page, limit }: PageRequest): Promise<Page<AuditEntry>> => {
  const { filter, sort } = entriesOf(new ObjectId(id), clock.now());
  const [records, total] = await onControl((db) => {
    const entries = db.collection<AuditRecord>('auditEntries');
    return Promise.all([
      entries.find(filter, { sort, skip: (page - 1) * limit, limit, maxTimeMS: 5000 }).toArray(),
      entries.countDocuments(filter, { maxTimeMS: 5000 }),
    ]);
  });
  const people = await onControl((db) =>
    db
      .collection<Author>('developers')
      .find(
        { _id: { $in: records.map(({ developerId }) => developerId) } },
        { projection: { email: 1 }, maxTimeMS: 5000 },
      )
      .toArray(),
  );
  const emails = new Map(people.map(({ _id, email }) => [_id.toHexString(), email]));
  const items = records.map(
    ({ _id, at, developerId, tokenId, action, target, fields, values, outcome }): AuditEntry => ({
      _id: _id.toHexString(),
      at,
      developerId: developerId.toHexString(),
      email: emails.get(developerId.toHexString()) ?? null,
      tokenId: tokenId?.toHexString() ?? null,
      action,
      target: { ...target },
      fields: [...fields],
      values: [...values],
      outcome,
    }),
  );
  return { items, total, page, limit };
};
