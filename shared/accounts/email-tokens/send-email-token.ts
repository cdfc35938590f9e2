import { describeError, log } from '../../core/log.ts';
import { type AccountMailSender, countAccountMail, overAccountLimit } from '../../mail/outbox/account-mail-limit.ts';
import { queueMail } from '../../mail/outbox/queue-mail.ts';
import { plainName } from '../../mail/plain-name.ts';
import type { Project } from '../../projects/project.ts';
import { canonicalEmail } from '../email.ts';
import { projectScope, type SessionScope } from '../session-keys.ts';
import { findUserByEmail } from '../users/find-user.ts';
import type { UserRecord } from '../users/user-record.ts';
import { addressKeyOf, type EmailTokenKind } from './email-token.ts';
import { codeSeconds, endCooldown, type IssuedTokens, issueTokens } from './issue-tokens.ts';
import type { TokenPlace } from './token-item.ts';

const templates = { verify: 'verification', reset: 'password-reset' } as const;
const pages = { verify: 'verify-email', reset: 'reset-password' } as const;

/**
 * In whose name a mail goes out, and where its link leads: a project's to its users, or the service's to developers.
 */
export interface MailOrigin {
  readonly scope: SessionScope;
  /** `null` for the service itself. */
  readonly project: AccountMailSender | null;
  /** May be empty. */
  readonly siteName: string;
  readonly siteUrl: string | null;
  /** Whether the project's own provider key sends it; not unless said. */
  readonly usingByok?: boolean;
}

/**
 * With the key that all share anybody could have our address say a name and lead to a site of theirs, so the name is a
 * plain one, and the site that of a developer who can be reached.
 */
const originOf = (project: Project): MailOrigin => {
  const usingByok = project.sealedProviderApiKey !== null;
  return {
    scope: projectScope(project.id),
    project,
    siteName: usingByok ? project.name : plainName(project.name),
    siteUrl: usingByok || project.ownerVerified ? project.siteUrl : null,
    usingByok,
  };
};

/** `<siteUrl>/<page>?token=…`, the link of a mail; empty where there is no site to lead to. */
export const linkTo = (siteUrl: string | null, page: string, token: string): string => {
  if (siteUrl === null) return '';
  const { origin, pathname } = new URL(siteUrl);
  return `${origin}${pathname.replace(/\/+$/, '')}/${page}?token=${token}`;
};

/** A mail to be: of what kind, and to whom; `null` for nobody. */
interface TokenMail {
  readonly kind: EmailTokenKind;
  readonly to: string | null;
  readonly tokens: IssuedTokens;
}

const queue = async (
  { project, siteName, siteUrl, usingByok = false }: MailOrigin,
  { kind, to, tokens: { token, code } }: TokenMail,
): Promise<void> => {
  const isCounted = project !== null && !usingByok;
  const isWithin = !isCounted || (await countAccountMail(project, { toNobody: to === null }));
  await queueMail({
    projectId: project?.id ?? null,
    template: templates[kind],
    to,
    variables: { link: linkTo(siteUrl, pages[kind], token), code, minutes: String(codeSeconds / 60) },
    siteName,
    usingByok,
    ...(!isWithin && { refusal: overAccountLimit }),
  });
};

/** Ends the cooldown of a mail that could not be queued. */
const letTryAgain = async (place: TokenPlace, { token }: IssuedTokens): Promise<void> => {
  try {
    await endCooldown(place, token);
  } catch (error) {
    log.warn({ message: 'A mail that was not queued holds the next one up for a minute', error: describeError(error) });
  }
};

/**
 * Sends a mail with a new link and a new code, at most one an address, kind and minute; the earlier ones stop working.
 * `userId` is missing where nobody is to have the mail. Then, within the minute, and over the project's day, the same
 * work is done and nothing is sent, so that neither answer nor time tells who has an account.
 */
export const sendTokenFrom = async (
  origin: MailOrigin,
  kind: EmailTokenKind,
  email: string,
  userId: string | undefined,
): Promise<void> => {
  const place: TokenPlace = { scope: origin.scope, kind, addressKey: addressKeyOf(email) };
  const tokens = await issueTokens(place, email, userId);
  const to = tokens.isGood && userId !== undefined ? email : null;
  try {
    await queue(origin, { kind, to, tokens });
  } catch (error) {
    await letTryAgain(place, tokens);
    throw error;
  }
};

/** Sends such a mail to an end user of a project. */
export const sendEmailToken = (
  project: Project,
  kind: EmailTokenKind,
  email: string,
  userId: string | undefined,
): Promise<void> => sendTokenFrom(originOf(project), kind, email, userId);

/** Whether a user may get a mail of a kind: disabled users get none, and verified ones no verification. */
const mayReceive = (kind: EmailTokenKind, { isDisabled, emailVerified }: UserRecord): boolean =>
  !isDisabled && (kind === 'reset' || emailVerified !== true);

/**
 * Sends such a mail to whoever has an address, known or not: the same answer in the same time (contract 3, "E-mail
 * tokens").
 */
export const requestEmailToken = async (project: Project, kind: EmailTokenKind, email: string): Promise<void> => {
  const address = canonicalEmail(email);
  const record = await findUserByEmail(project, address);
  const receiver = record && mayReceive(kind, record) ? record._id.toHexString() : undefined;
  await sendEmailToken(project, kind, address, receiver);
};
