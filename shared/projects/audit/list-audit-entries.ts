import { ObjectId } from 'mongodb';
import { findPage } from '../../clients/find-page.ts';
import { clock } from '../../core/clock.ts';
import type { Page, PageRequest } from '../../core/page.ts';
import { type View, viewOf } from '../../core/view.ts';
import { emailsOf } from '../emails-of.ts';
import type { Project } from '../project.ts';
import { type AuditRecord, keptMs, onAuditEntries } from './audit-record.ts';

/** One change of a project: who made it, when, to what. */
export interface AuditEntry extends View<AuditRecord, Exclude<keyof AuditRecord, 'projectId'>> {
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
  const found = await findPage(onAuditEntries, filter, request, { sort });
  const emails = await emailsOf(found.items.map(({ developerId }) => developerId));
  const items = found.items.map((record): AuditEntry => {
    const entry = viewOf(record, shown);
    return { ...entry, email: emails.get(entry.developerId) ?? null };
  });
  return { ...found, items };
};
