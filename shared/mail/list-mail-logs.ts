import { ObjectId } from 'mongodb';
import type { Project } from '../projects/project.ts';
import { type MailLog, type MailStatus, onMailLogs } from './mail-log.ts';

/** A row of the log as it is shown. */
export interface MailLogView extends Pick<MailLog, 'to' | 'subject' | 'usingByok' | 'templateUsed' | 'sentAt'> {
  readonly _id: string;
  readonly providerEmailId: string | null;
  readonly status: MailStatus;
  readonly reason: string | null;
}

const shown = 50;

/** Leaves out what is still to be sent, which can be long. */
export const withoutJob = { job: 0 } as const;

/** A record of the mail log as it is shown. */
export const toMailLogView = (log: MailLog): MailLogView => ({
  _id: log._id.toHexString(),
  providerEmailId: log.providerEmailId ?? null,
  to: log.to,
  subject: log.subject,
  // Mails to nobody belong to no project.
  status: log.status as MailStatus,
  usingByok: log.usingByok,
  templateUsed: log.templateUsed,
  reason: log.reason ?? null,
  sentAt: log.sentAt,
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
