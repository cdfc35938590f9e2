import { sharedProviderKey } from '../../clients/resend.ts';
import { type OutgoingMail, postMail, type SendOutcome } from '../../clients/resend-mails.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { describeError, log } from '../../core/log.ts';
import { findProjectById } from '../../projects/find-project-by-id.ts';
import { openContent, renderAccountMail } from '../mail-content.ts';
import { type MailLog, mailTag } from '../mail-log.ts';
import { ownProviderKey } from '../provider-key.ts';
import { fromOf } from '../sender.ts';
import { receiversOf } from '../suppressions.ts';
import { pauseAccount, waitForTurn } from './send-throttle.ts';

/** The provider deduplicates a mail for 24 h; an attempt after that could send it twice. */
const maxAgeMs = 20 * 3600_000;

/** What one try came to; `subject` is the one that was sent. */
interface HandOver {
  readonly outcome: SendOutcome;
  readonly subject?: string;
}

/** Whose account sends a mail, with which key, and who it is from. */
interface Account {
  readonly name: string;
  readonly apiKey: string;
  /** `null` for our own address with the site's name. */
  readonly from: string | null;
}

const refused = (reason: string): HandOver => ({ outcome: { kind: 'refused', reason } });

const notHandedOver = (reason: string, afterSeconds: number): HandOver => ({
  outcome: { kind: 'postponed', reason, afterSeconds, maybeTaken: false },
});

/** The account chosen when the mail was accepted: another one would not recognise a duplicate. */
const accountOf = async ({ projectId, usingByok }: MailLog): Promise<Account | undefined> => {
  if (!usingByok) return { name: 'shared', apiKey: await sharedProviderKey(), from: null };
  const project = projectId && (await findProjectById(projectId.toHexString()));
  const apiKey = project && (await ownProviderKey(project));
  return apiKey ? { name: project.id, apiKey, from: project.providerFromEmail } : undefined;
};

const compose = async (mail: MailLog, sealed: string, account: Account): Promise<OutgoingMail> => {
  const content = await openContent(sealed, mail._id);
  const { siteName } = content;
  // Mails sent with the shared key use the built-in templates only, so that nobody can send their own words to any
  // address that signs up.
  const wordsOf = mail.usingByok ? (mail.projectId?.toHexString() ?? null) : null;
  const written =
    content.kind === 'written'
      ? content
      : {
          ...(await renderAccountMail({ wordsOf, template: content.template, siteName }, content.variables)),
          replyTo: [],
        };
  const [to = []] = mail.projectId === null ? [mail.to] : await receiversOf(mail.projectId.toHexString(), [mail]);
  return {
    from: fromOf(account.from, siteName),
    to,
    replyTo: written.replyTo,
    subject: written.subject,
    html: written.html,
    text: written.text,
    tags: { [mailTag]: mail._id.toHexString() },
  };
};

const handOver = async (mail: MailLog, sealed: string): Promise<HandOver> => {
  const account = await accountOf(mail);
  if (!account) return refused('The project has no key of its own at the mail provider any more');
  const outgoing = await compose(mail, sealed, account);
  if (outgoing.to.length === 0) return refused('suppressed');
  const wait = await waitForTurn(account.name);
  if (wait > 0) return notHandedOver('The provider takes no more mails at the moment', wait);
  const outcome = await postMail(account.apiKey, outgoing, mail._id.toHexString());
  if (outcome.kind === 'postponed' && outcome.afterSeconds > 0) pauseAccount(account.name, outcome.afterSeconds);
  return { outcome, subject: outgoing.subject };
};

/**
 * Makes one attempt to send the mail of a claimed job; never throws. The provider recognises a mail that is sent again.
 */
export const handOverMail = async (mail: MailLog): Promise<HandOver> => {
  const sealed = mail.job?.content;
  if (sealed === undefined) return refused('The provider did not say whether it took the mail');
  if (clock.now() - mail.createdAt.getTime() > maxAgeMs) return refused('Not accepted in time');
  try {
    return await handOver(mail, sealed);
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_SET_UP') return refused(error.message);
    log.error({ job: 'deliver-mail', mail: mail._id.toHexString(), error: describeError(error) });
    return notHandedOver('The mail could not be prepared', 0);
  }
};
