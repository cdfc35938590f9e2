import { queueMail } from '../../mail/queue-mail.ts';
import type { Project } from '../../projects/project.ts';
import { canonicalEmail } from '../email.ts';
import { projectScope, type SessionScope } from '../session-keys.ts';
import { findUserByEmail } from '../users/find-user.ts';
import type { UserRecord } from '../users/user-record.ts';
import { addressKeyOf, type EmailTokenKind } from './email-token.ts';
import { codeSeconds, issueTokens } from './issue-tokens.ts';

const templates = { verify: 'verification', reset: 'password-reset' } as const;
const pages = { verify: 'verify-email', reset: 'reset-password' } as const;

/** In whose name a mail goes out, and where its link leads: a project's to its users, or the service's to developers. */
export interface MailOrigin {
  readonly scope: SessionScope;
  /** 24 hex characters; `null` for the service itself. */
  readonly projectId: string | null;
  readonly siteName: string;
  readonly siteUrl: string | null;
  /** Whether the project's own provider key sends it; not unless said. */
  readonly usingByok?: boolean;
}

const originOf = ({ id, name, siteUrl, sealedProviderApiKey }: Project): MailOrigin => ({
  scope: projectScope(id),
  projectId: id,
  siteName: name,
  siteUrl,
  usingByok: sealedProviderApiKey !== null,
});

/** `<siteUrl>/<page>?token=…`, the link of a mail; empty where there is no site to lead to. */
export const linkTo = (siteUrl: string | null, page: string, token: string): string => {
  if (siteUrl === null) return '';
  const { origin, pathname } = new URL(siteUrl);
  return `${origin}${pathname.replace(/\/+$/, '')}/${page}?token=${token}`;
};

/**
 * Sends a mail with a new link and a new code, at most one an address, kind and minute; the earlier ones stop working.
 * `userId` is missing where nobody is to have the mail. Then, and within the minute, the same work is done and nothing is sent, so
 * that neither answer nor time tells who has an account.
 */
export const sendTokenFrom = async (
  { scope, projectId, siteName, siteUrl, usingByok = false }: MailOrigin,
  kind: EmailTokenKind,
  email: string,
  userId: string | undefined,
): Promise<void> => {
  const { token, code, isGood } = await issueTokens({ scope, kind, addressKey: addressKeyOf(email) }, email, userId);
  await queueMail({
    projectId,
    template: templates[kind],
    to: isGood && userId !== undefined ? email : null,
    variables: { link: linkTo(siteUrl, pages[kind], token), code, minutes: String(codeSeconds / 60) },
    siteName,
    usingByok,
  });
};

/** Sends such a mail to an end user of a project. */
export const sendEmailToken = (
  project: Project,
  kind: EmailTokenKind,
  email: string,
  userId: string | undefined,
): Promise<void> => sendTokenFrom(originOf(project), kind, email, userId);

/** Who may have a mail of a kind: nobody who is disabled, and no verification for who has it. */
const mayReceive = (kind: EmailTokenKind, { isDisabled, emailVerified }: UserRecord): boolean =>
  !isDisabled && (kind === 'reset' || emailVerified !== true);

/** Sends such a mail to whoever has an address, known or not: the same answer in the same time (contract 3, "E-mail tokens"). */
export const requestEmailToken = async (project: Project, kind: EmailTokenKind, email: string): Promise<void> => {
  const address = canonicalEmail(email);
  const record = await findUserByEmail(project, address);
  const receiver = record && mayReceive(kind, record) ? record._id.toHexString() : undefined;
  await sendEmailToken(project, kind, address, receiver);
};
