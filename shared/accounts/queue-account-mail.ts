import { countAccountMail, overAccountLimit } from '../mail/outbox/account-mail-limit.ts';
import { type QueuedMail, queueMail } from '../mail/outbox/queue-mail.ts';
import type { MailOrigin } from './account-store.ts';

/** Accepts a mail to an account, counted against the project's day where the shared key sends it. */
export const queueAccountMail = async (
  { project, siteName, usingByok = false }: MailOrigin,
  mail: Pick<QueuedMail, 'template' | 'to' | 'variables'>,
): Promise<void> => {
  const isCounted = project !== null && !usingByok;
  const isWithin = !isCounted || (await countAccountMail(project, { toNobody: mail.to === null }));
  await queueMail({
    ...mail,
    projectId: project?.id ?? null,
    siteName,
    usingByok,
    ...(!isWithin && { refusal: overAccountLimit }),
  });
};
