import { mailSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import type { Project } from '../projects/project.ts';
import { type ListPart, onCustomerAccount, pagination, pathId } from './audiences.ts';
import { mailUsage } from './quota.ts';
import { quotaExceeded } from './quota-limits.ts';

/** The provider puts each recipient's own address here, and adds the headers for one click (RFC 8058). */
const placeholder = /\{\{\{\s*RESEND_UNSUBSCRIBE_URL\s*\}\}\}/;

const footer = '<p><a href="{{{RESEND_UNSUBSCRIBE_URL}}}">Unsubscribe</a></p>';

/** The HTML of a broadcast, with a link for unsubscribing at its end where it has none anywhere. */
export const withUnsubscribeLink = (html: string): string => {
  if (placeholder.test(html)) return html;
  const end = [...html.matchAll(/<\/body>/gi)].at(-1)?.index ?? html.length;
  return html.slice(0, end) + footer + html.slice(end);
};

/** A mail to everyone in an audience who has not unsubscribed. */
interface NewBroadcast {
  readonly audienceId: string;
  readonly subject: string;
  readonly html: string;
  /** When it is to be sent, as an ISO 8601 instant; a draft without. */
  readonly scheduledAt?: string | undefined;
  /** An address, or `Name <address>`; else the project's, else the service's own. */
  readonly from?: string | undefined;
}

/** Broadcasts are of the pro plan; another → 403 `PRO_PLAN_REQUIRED`. */
const requirePro = ({ plan }: Project): void => {
  if (plan !== 'pro') throw new AppError('PRO_PLAN_REQUIRED', 'Broadcasts are part of the pro plan.');
};

/** Nothing more is sent for a project whose quota of the month is used up: 429 `MAIL_QUOTA_EXCEEDED`. */
const requireQuota = async (project: Project): Promise<void> => {
  requirePro(project);
  const { used, limit } = await mailUsage(project);
  if (used >= limit) throw quotaExceeded({ name: 'used', limit });
};

/** A draft, or with `scheduledAt` one that the provider sends at that time; returns the provider's response. */
export const createBroadcast = (
  project: Project,
  { audienceId, subject, html, scheduledAt, from }: NewBroadcast,
): Promise<unknown> =>
  onCustomerAccount(
    project,
    (resend, options) => {
      const draft = {
        audienceId: pathId('audience', audienceId),
        from: from ?? project.providerFromEmail ?? mailSettings().EMAIL_FROM,
        subject,
        html: withUnsubscribeLink(html),
      };
      const whole = scheduledAt === undefined ? draft : { ...draft, send: true as const, scheduledAt };
      return resend.broadcasts.create(whole, options);
    },
    requireQuota,
  );

export const sendBroadcast = (project: Project, id: string): Promise<unknown> =>
  onCustomerAccount(
    project,
    (resend, options) => resend.broadcasts.send(pathId('broadcast', id), {}, options),
    requireQuota,
  );

/** The broadcasts of the project's own account at the provider, as it lists them. */
export const listBroadcasts = (project: Project, part: ListPart): Promise<unknown> =>
  onCustomerAccount(project, (resend, options) => resend.broadcasts.list(pagination(part), options), requirePro);

export const getBroadcast = (project: Project, id: string): Promise<unknown> =>
  onCustomerAccount(project, (resend, options) => resend.broadcasts.get(pathId('broadcast', id), options), requirePro);

/** Deletes a broadcast that has not been sent; returns the provider's response. */
export const deleteBroadcast = (project: Project, id: string): Promise<unknown> =>
  onCustomerAccount(
    project,
    (resend, options) => resend.broadcasts.remove(pathId('broadcast', id), options),
    requirePro,
  );
