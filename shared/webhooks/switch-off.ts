import { ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { orLog } from '../core/log.ts';
import { serviceName } from '../core/service-name.ts';
import { type WebhookRecord, webhookRecords } from '../events/webhook-record.ts';
import { queueServiceMail } from '../mail/outbox/queue-mail.ts';
import { plainName } from '../mail/sender.ts';
import { webhookOffTemplate } from '../mail/templates/built-in.ts';
import type { Project } from '../projects/project.ts';
import { emailsOf } from '../projects/with-owner.ts';
import { isSuccess, type Receipt } from './post-event.ts';
import { failureLimitMs, slowMs } from './retry-times.ts';

const reasons = {
  gone: 'its receiver answered 410: it wants no more',
  failing: 'every delivery has failed for five days',
} as const;

/** Tells the owner of the project. The mail is a courtesy: what it says is on the dashboard. */
const tell = (project: Project, { url }: WebhookRecord, why: keyof typeof reasons): Promise<boolean> =>
  orLog('warn', { job: 'deliver-webhooks', project: project.id }, async () => {
    const to = (await emailsOf([new ObjectId(project.ownerId)])).get(project.ownerId);
    if (to === undefined) return;
    await queueServiceMail({
      to,
      template: { ...webhookOffTemplate, siteName: serviceName },
      variables: { project: plainName(project.name) || project.id, host: new URL(url).host, reason: reasons[why] },
    });
  });

/**
 * Switches a webhook off that is on, still leads there, and has failed since; of any number of runs one tells of it.
 */
const switchOff = async (project: Project, webhook: WebhookRecord, why: keyof typeof reasons): Promise<void> => {
  const { _id, url, failingSince } = webhook;
  const off = { enabled: false, updatedAt: new Date(clock.now()) };
  const { modifiedCount } = await webhookRecords.updateOne(
    { _id, url, enabled: true, ...(why === 'failing' && { failingSince }) },
    { $set: off, $unset: { failingSince: '' } },
  );
  if (modifiedCount > 0) await tell(project, webhook, why);
};

/** Remembers of a receiver how it does: since when it fails, and whether it is slow; a 410 or five days end it. */
export const noteReceipt = async (project: Project, webhook: WebhookRecord, receipt: Receipt): Promise<void> => {
  const { _id, failingSince, isSlow = false } = webhook;
  const takesLong = receipt.ms > slowMs;
  if (receipt.status === 410) return switchOff(project, webhook, 'gone');
  if (isSuccess(receipt)) {
    const isAsKnown = failingSince === undefined && isSlow === takesLong;
    if (isAsKnown) return undefined;
    const change = { $unset: { failingSince: '' as const, ...(!takesLong && { isSlow: '' as const }) } };
    await webhookRecords.updateOne({ _id }, { ...change, ...(takesLong && { $set: { isSlow: true } }) });
    return undefined;
  }
  if (failingSince && clock.now() - failingSince.getTime() >= failureLimitMs) {
    return switchOff(project, webhook, 'failing');
  }
  if (failingSince && isSlow === takesLong) return undefined;
  const since = { $min: { failingSince: new Date(clock.now()) } };
  await webhookRecords.updateOne({ _id }, { ...since, ...(takesLong && { $set: { isSlow: true } }) });
  return undefined;
};
