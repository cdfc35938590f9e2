import { requeueMail } from '../../shared/mail/requeue-mail.ts';

/** Runs on a schedule: puts mails back on the queue that it has lost. */
export const handler = async (): Promise<{ readonly queued: number }> => ({ queued: await requeueMail() });
