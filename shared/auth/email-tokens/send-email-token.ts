import { queueMail } from '../../mail/queue-mail.ts';
import type { Project } from '../../projects/project.ts';
import { canonicalEmail } from '../email.ts';
import { findUserByEmail } from '../users/find-user.ts';
import type { UserRecord } from '../users/user-record.ts';
import { addressKeyOf, type EmailTokenKind } from './email-token.ts';
import { codeSeconds, issueTokens } from './issue-tokens.ts';

const templates = { verify: 'verification', reset: 'password-reset' } as const;
const pages = { verify: 'verify-email', reset: 'reset-password' } as const;

/** `<siteUrl>/verify-email?token=…`; empty for a project without a site. */
const linkTo = ({ siteUrl }: Project, kind: EmailTokenKind, token: string): string => {
  if (siteUrl === null) return '';
  const { origin, pathname } = new URL(siteUrl);
  return `${origin}${pathname.replace(/\/+$/, '')}/${pages[kind]}?token=${token}`;
};

/**
 * Sends a mail with a new link and a new code, at most one an address, kind and minute; the earlier ones stop working.
 * `userId` is missing where nobody is to have the mail. Then, and within the minute, the same work is done and nothing is sent, so
 * that neither answer nor time tells who has an account.
 */
export const sendEmailToken = async (
  project: Project,
  kind: EmailTokenKind,
  email: string,
  userId: string | undefined,
): Promise<void> => {
  const place = { projectId: project.id, kind, addressKey: addressKeyOf(email) };
  const { token, code, isGood } = await issueTokens(place, email, userId);
  await queueMail({
    projectId: project.id,
    template: templates[kind],
    to: isGood && userId !== undefined ? email : null,
    variables: { link: linkTo(project, kind, token), code: code, minutes: String(codeSeconds / 60) },
    siteName: project.name,
  });
};

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
