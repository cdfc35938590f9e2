import { ObjectId } from 'mongodb';
import { findPage } from '../../clients/find-page.ts';
import { clock } from '../../core/clock.ts';
import type { Page, PageRequest } from '../../core/page.ts';
import { emailsOf } from '../emails-of.ts';
import type { Project } from '../project.ts';
import { type AuditedChange, type AuditRecord, keptMs, onAuditEntries } from './audit-record.ts';

/** One change of a project: who made it, when, to what. Ids are 24 hex characters. */
export interface AuditEntry extends Omit<AuditedChange, 'projectId'>, Pick<AuditRecord, 'at' | 'outcome'> {
  readonly _id: string;
  /** The developer's address as it is now; `null` where the account is gone. */
  readonly email: string | null;
}

/** The newest entries first, and how many there are; both by the index alone. */
export const entriesOf = (projectId: ObjectId, now: number) => ({
  filter: { projectId, at: { $gt: new Date(now - keptMs) } },
  sort: { at: -1, _id: -1 } as const,
});

/** A page of a project's audit trail of the last year, newest first. */
export const listAuditEntries = async ({ id }: Project, request: PageRequest): Promise<Page<AuditEntry>> => {
  const { filter, sort } = entriesOf(new ObjectId(id), clock.now());
  const found = await findPage(onAuditEntries, filter, request, { sort });
  const emails = await emailsOf(found.items.map(({ developerId }) => developerId));
  const items = found.items.map(
    ({ _id, at, developerId, tokenId, action, target, fields, values, outcome }): AuditEntry => ({
      _id: _id.toHexString(),
      at,
      developerId: developerId.toHexString(),
      email: emails.get(developerId.toHexString()) ?? null,
      tokenId: tokenId?.toHexString() ?? null,
      action,
      target,
      fields,
      values,
      outcome,
    }),
  );
  return { ...found, items };
};
