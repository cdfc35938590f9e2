import { ObjectId } from 'mongodb';
import { clock } from '../clock.ts';
import { seal } from '../secrets/sealed.ts';
import { type BuiltInTemplate, onMailJobs } from './mail-job.ts';
import { enqueueJob } from './mail-queue.ts';
import { whenLost } from './retries.ts';

export interface QueuedMail {
  /** `null` for mails of the service itself. */
  readonly projectId: string | null;
  readonly template: BuiltInTemplate;
  /** `null` for nobody: the mail costs what any other does and is never sent, so that time tells no one who has an account. */
  readonly to: string | null;
  /** `link` (empty where there is no site to lead to), `code`, and `minutes` for which the code is good. */
  readonly variables: Readonly<Record<string, string>>;
  /** Who the mail says it is from. */
  readonly siteName: string;
}

/**
 * Accepts a mail: writes its job and puts the id on the queue; delivery happens later and is tried again for hours. Where the
 * queue did not take it → 503 `SERVICE_UNAVAILABLE`, though the job may still be delivered.
 */
export const queueMail = async (mail: QueuedMail): Promise<void> => {
  const { projectId, template, to, variables, siteName } = mail;
  const _id = new ObjectId();
  const sealed = await seal(JSON.stringify(variables), _id.toHexString());
  const now = new Date(clock.now());
  await onMailJobs((jobs) =>
    jobs.insertOne({
      _id,
      projectId: projectId === null ? null : new ObjectId(projectId),
      template,
      to: to ?? '',
      siteName,
      variables: sealed,
      state: to === null ? 'nobody' : 'queued',
      leasedUntil: new Date(0),
      lostAt: whenLost(0),
      createdAt: now,
      updatedAt: now,
    }),
  );
  await enqueueJob(_id.toHexString());
};
