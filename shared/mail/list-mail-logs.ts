import { ObjectId } from 'mongodb';
import { type View, viewOf } from '../core/view.ts';
import type { Project } from '../projects/project.ts';
import { type MailLog, type MailStatus, onMailLogs } from './mail-log.ts';

const asItIs = ['_id', 'to', 'subject', 'usingByok', 'templateUsed', 'sentAt'] as const;

/** A row of the log as it is shown. */
export interface MailLogView extends View<MailLog, (typeof asItIs)[number]> {
  readonly providerEmailId: string | null;
  readonly status: MailStatus;
  readonly reason: string | null;
}

const shown = 50;

/** Leaves out what is still to be sent, which can be long. */
export const withoutJob = { job: 0 } as const;

export const toMailLogView = (log: MailLog): MailLogView => ({
  ...viewOf(log, asItIs),
  providerEmailId: log.providerEmailId ?? null,
  // Mails to nobody belong to no project.
  status: log.status as MailStatus,
  reason: log.reason ?? null,
});

/** The latest 50 mails of a project by `sentAt`, the newest first (contract 5, "Log answers"). */
export const listMailLogs = async ({ id }: Pick<Project, 'id'>): Promise<MailLogView[]> => {
  const logs = await onMailLogs((collection) =>
    collection
      .find(
        { projectId: new ObjectId(id) },
        { sort: { sentAt: -1, _id: -1 }, limit: shown, projection: withoutJob, maxTimeMS: 5000 },
      )
      .toArray(),
  );
  return logs.map(toMailLogView);
};
