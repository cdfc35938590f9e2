import { hash } from 'node:crypto';
import type { ObjectId } from 'mongodb';
import { clock, dayAt, expiryOf } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { log } from '../core/log.ts';
import { onDuplicateKey } from '../core/retry.ts';
import { isAddress } from '../core/schemas.ts';
import type { Update } from '../persistence/dynamo.ts';
import { itemKey, projectScope } from '../persistence/item-keys.ts';
import { transact, write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import type { Project } from '../projects/project.ts';
import { requireVerifiedOwner, sharedUse } from './limits.ts';
import { mailLogs } from './log.ts';
import { enqueue } from './queue.ts';
import { reserveSlots } from './quota.ts';
import { newLog, sendingJob } from './send.ts';
import { canonicalAddress, receiversOf } from './suppressions.ts';
import type { Variables } from './templates/render.ts';

/** An email that an effect sends after a document was written. */
export interface MailOfEffect {
  /** The same in each run. */
  readonly _id: ObjectId;
  /** Id, name or key of a template, which is looked up when the email is sent. */
  readonly template: string;
  /** The receiver, or the reason for which nobody gets it. */
  readonly to: { readonly address: string } | { readonly address: string | undefined; readonly reason: string };
  /** Set if users choose the address; `userId` is the user who did. */
  readonly open?: { readonly userId: string | undefined };
  /** What the email is about. */
  readonly of: { readonly collection: string; readonly id: string; readonly effect: string };
  readonly variables: Variables;
}

const hourMs = 3600_000;
const perUser = 20;
const withoutUser = 100;

/** Unsent emails that the log shows per project and day, so that no one can fill it. */
const maxUnsent = 100;

const addressKey = (address: string): string => hash('sha256', canonicalAddress(address), 'base64url').slice(0, 22);

/** Counts an email in a day by its id, so that each run of it counts one time. */
const countedOnce = (key: Update['update'], mail: string, most: number): Update => ({
  update: key,
  change: 'SET expiresAt = :end ADD counted :counted',
  condition: 'attribute_not_exists(counted) OR size(counted) < :most OR contains(counted, :mail)',
  values: { end: expiryOf(dayAt(clock.now())), counted: new Set([mail]), mail, most },
});

/** Takes a place that one email has until `until` (ms). */
const takenBy = (key: Update['update'], mail: string, until: number, expiresAt: number): Update => ({
  update: key,
  change: 'SET mail = :mail, #until = :until, expiresAt = :end',
  condition: 'attribute_not_exists(mail) OR mail = :mail OR #until <= :now',
  values: { mail, until, end: expiresAt, now: clock.now() },
});

/** Why the limits of effects do not allow an email now; `undefined` if they do, which counts it. One write. */
const limitReached = async (
  { id }: Project,
  { _id, of, open }: MailOfEffect,
  address: string,
): Promise<string | undefined> => {
  const scope = projectScope(id);
  const mail = _id.toHexString();
  const now = clock.now();
  const today = dayAt(now);
  const place = { ...of, key: of.effect, addressKey: addressKey(address) };
  const ofDocument = takenBy(
    itemKey(kinds.effectMail, scope, place),
    mail,
    now + hourMs,
    Math.ceil((now + hourMs) / 1000),
  );
  const again = 'The effect has sent an email about this document to this address within the last hour';
  if (!open) {
    const { done } = await write(ofDocument);
    return done ? undefined : again;
  }
  const { userId } = open;
  const most = userId === undefined ? withoutUser : perUser;
  const day = today.name;
  const refused = await transact([
    ofDocument,
    takenBy(itemKey(kinds.effectMailOfDay, scope, { ...place, day }), mail, now + 2 * 24 * hourMs, expiryOf(today)),
    countedOnce(itemKey(kinds.openMails, scope, { day, userId: userId ?? 'none' }), mail, most),
  ]);
  if (!refused) return undefined;
  const reasons = [
    again,
    'The effect has sent an email to this address today',
    userId === undefined
      ? `Effects send at most ${withoutUser} emails a day to addresses that callers without a user choose`
      : `Effects send at most ${perUser} emails a day to addresses that a user chooses`,
  ];
  return reasons[refused.findIndex((each) => each.refused)] ?? again;
};

/** The code that a failed step has in common with `send`, as the reason in the log. */
const reasonOf = (error: unknown): string => {
  if (error instanceof AppError && (error.code === 'EMAIL_NOT_VERIFIED' || error.code === 'MAIL_QUOTA_EXCEEDED')) {
    return error.message;
  }
  throw error;
};

/**
 * Queues an email of an effect, or logs why it is not sent. May be repeated: the email has one entry in the log, and
 * counts one time. Throws what outages throw.
 */
export const queueEffectMail = async (project: Project, mail: MailOfEffect): Promise<void> => {
  const { _id, to, template, variables } = mail;
  if (await mailLogs.findOne({ _id }, { projection: { _id: 1 } })) return;
  const row = {
    _id,
    projectId: project.id,
    to: to.address === undefined ? [] : [to.address],
    subject: '',
    usingByok: project.sealedProviderApiKey !== null,
    templateUsed: template,
  };
  const store = (entry: Parameters<typeof newLog>[0]): Promise<unknown> =>
    onDuplicateKey(mailLogs.insertOne(newLog(entry)), () => undefined);
  const fail = async (reason: string): Promise<void> => {
    const { name: day } = dayAt(clock.now());
    const key = itemKey(kinds.unsentMails, projectScope(project.id), { day });
    const { done } = await write(countedOnce(key, _id.toHexString(), maxUnsent));
    if (done) await store({ ...row, status: 'failed', reason });
    log.info({ job: 'run-effects', project: project.id, mail: _id.toHexString(), reason, logged: done });
  };
  if ('reason' in to) return fail(to.reason);
  const { address } = to;
  if (!isAddress(address)) return fail('The field has no valid email address');
  try {
    await requireVerifiedOwner(project);
  } catch (error) {
    return fail(reasonOf(error));
  }
  const [[receiver] = []] = await receiversOf(project.id, [{ to: [address] }]);
  if (receiver === undefined) return fail('suppressed');
  const limit = await limitReached(project, mail, address);
  if (limit !== undefined) return fail(limit);
  try {
    const { slots } = await reserveSlots(project, [_id.toHexString()], sharedUse(project, [{ _id, to: [address] }]));
    const content = { kind: 'effect' as const, siteName: project.name, template, variables };
    await store({ ...row, job: await sendingJob(_id, content, slots) });
  } catch (error) {
    return fail(reasonOf(error));
  }
  await enqueue(_id.toHexString());
};
