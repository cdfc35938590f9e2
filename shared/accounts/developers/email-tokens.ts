import { dashboardSettings } from '../../core/config.ts';
import { describeError, log } from '../../core/log.ts';
import { canonicalEmail } from '../email.ts';
import { type EmailProof, withProof } from '../email-tokens/email-proof.ts';
import type { EmailTokenKind } from '../email-tokens/email-token.ts';
import { type MailOrigin, sendTokenFrom } from '../email-tokens/send-email-token.ts';
import { developerScope } from '../session-keys.ts';
import type { Developer } from './developer-record.ts';
import { findDeveloperRecord } from './find-developer.ts';
import { markVerified } from './mark-verified.ts';

/** Who mails to developers say they are from. */
export const serviceName = 'Basalt';

const origin = (): MailOrigin => ({
  scope: developerScope,
  project: null,
  siteName: serviceName,
  siteUrl: dashboardSettings().DASHBOARD_URL ?? null,
});

/** Sends the mail that verifies a new developer's address. The account stands whether or not that succeeds. */
export const sendDeveloperVerification = async ({ _id, email }: Developer): Promise<void> => {
  try {
    await sendTokenFrom(origin(), 'verify', email, _id);
  } catch (error) {
    log.error({ message: 'A verification mail could not be queued', error: describeError(error) });
  }
};

/**
 * Sends a mail to whichever developer has an address, known or not: the same answer in the same time (contract 6,
 * "Developer accounts").
 */
export const requestDeveloperMail = async (kind: EmailTokenKind, email: string): Promise<void> => {
  const address = canonicalEmail(email);
  const record = await findDeveloperRecord({ email: { $eq: address } });
  const receives = record && (kind === 'reset' || !record.emailVerified);
  await sendTokenFrom(origin(), kind, address, receives ? record._id.toHexString() : undefined);
};

/**
 * Marks a developer's address as verified. A token or code that is wrong, used or expired → 400 `INVALID_EMAIL_TOKEN`.
 */
export const verifyDeveloperEmail = (proof: EmailProof): Promise<void> =>
  withProof(developerScope, 'verify', proof, markVerified);
