import { callProvider } from '../../clients/resend-proxy.ts';
import { mailSettings } from '../../core/config.ts';
import type { Project } from '../../projects/project.ts';
import { mailUsage } from '../outbox/mail-quota.ts';
import { quotaExceeded } from '../outbox/quota-refusals.ts';
import { type ListPart, pagination } from './audiences.ts';
import { requireBroadcasts } from './own-key.ts';
import { pathId } from './provider-id.ts';
import { withUnsubscribeLink } from './unsubscribe-link.ts';

/** A mail to everyone in an audience who has not unsubscribed. */
export interface NewBroadcast {
  readonly audienceId: string;
  readonly subject: string;
  readonly html: string;
  /** When it is to be sent, as an ISO 8601 instant; a draft without. */
  readonly scheduledAt?: string | undefined;
  /** An address, or `Name <address>`; else the project's, else the service's own. */
  readonly from?: string | undefined;
}

/** Nothing more is sent for a project whose quota of the month is used up: 429 `MAIL_QUOTA_EXCEEDED`. */
const requireQuota = async (project: Project): Promise<void> => {
  const { used, limit } = await mailUsage(project);
  if (used >= limit) throw quotaExceeded(limit);
};

/**
 * Makes a broadcast: a draft, or where it says when it is to be sent, one that the provider sends by itself at that
 * time. Returns the provider's response.
 */
export const createBroadcast = async (project: Project, broadcast: NewBroadcast): Promise<unknown> => {
  const apiKey = await requireBroadcasts(project);
  await requireQuota(project);
  const { audienceId, subject, html, scheduledAt, from } = broadcast;
  const draft = {
    audienceId: pathId('audience', audienceId),
    from: from ?? project.providerFromEmail ?? mailSettings().EMAIL_FROM,
    subject,
    html: withUnsubscribeLink(html),
  };
  return callProvider(apiKey, (resend, signal) =>
    resend.broadcasts.create(scheduledAt === undefined ? draft : { ...draft, send: true, scheduledAt }, { signal }),
  );
};

/** Sends a draft now; returns the provider's response. */
export const sendBroadcast = async (project: Project, broadcastId: string): Promise<unknown> => {
  const apiKey = await requireBroadcasts(project);
  await requireQuota(project);
  const id = pathId('broadcast', broadcastId);
  return callProvider(apiKey, (resend, signal) => resend.broadcasts.send(id, {}, { signal }));
};

/** The broadcasts of the project's own account at the provider, as it lists them. */
export const listBroadcasts = async (project: Project, part: ListPart): Promise<unknown> => {
  const apiKey = await requireBroadcasts(project);
  return callProvider(apiKey, (resend, signal) => resend.broadcasts.list(pagination(part), { signal }));
};

/** One broadcast, as the provider shows it. */
export const getBroadcast = async (project: Project, broadcastId: string): Promise<unknown> => {
  const apiKey = await requireBroadcasts(project);
  const id = pathId('broadcast', broadcastId);
  return callProvider(apiKey, (resend, signal) => resend.broadcasts.get(id, { signal }));
};

/** Deletes a broadcast that has not been sent; returns the provider's response. */
export const deleteBroadcast = async (project: Project, broadcastId: string): Promise<unknown> => {
  const apiKey = await requireBroadcasts(project);
  const id = pathId('broadcast', broadcastId);
  return callProvider(apiKey, (resend, signal) => resend.broadcasts.remove(id, { signal }));
};
