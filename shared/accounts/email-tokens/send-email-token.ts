import { orLog } from '../../core/log.ts';
import { newId } from '../../core/new-id.ts';
import { type AccountRecord, type AccountStore, findByEmail } from '../account-store.ts';
import { canonicalEmail } from '../email.ts';
import { queueAccountMail } from '../queue-account-mail.ts';
import { sitePage } from '../site-page.ts';
import { addressKeyOf, type EmailTokenKind } from './email-token.ts';
import { codeSeconds, endCooldown, issueTokens, type TokenPlace } from './token-items.ts';

const templates = {
  verify: 'verification',
  reset: 'password-reset',
  code: 'sign-in-code',
  change: 'email-change',
} as const;
const pages = { verify: 'verify-email', reset: 'reset-password', code: 'auth/code', change: 'change-email' } as const;

/** `<siteUrl>/<page>?token=…`, the link of a mail; empty where there is no site to lead to. */
export const linkTo = (siteUrl: string | null, page: string, token: string): string =>
  siteUrl === null ? '' : sitePage(siteUrl, page, { token });

/**
 * Sends a mail with a new link and a new code, at most one an address, kind and minute; the earlier ones stop working.
 * `accountId` is missing if nobody is to have the mail. Then, within the minute, and over the project's day, the same
 * work is done and nothing is sent, so that neither answer nor time tells who has an account.
 */
export const sendEmailToken = async (
  { scope, mailOrigin }: AccountStore,
  kind: EmailTokenKind,
  email: string,
  accountId: string | undefined,
): Promise<void> => {
  const place: TokenPlace = { scope, kind, addressKey: addressKeyOf(email) };
  const { token, code, isGood } = await issueTokens(place, email, accountId);
  const origin = mailOrigin();
  const variables = { link: linkTo(origin.siteUrl, pages[kind], token), code, minutes: String(codeSeconds / 60) };
  const to = isGood && accountId !== undefined ? email : null;
  try {
    await queueAccountMail(origin, { template: templates[kind], to, variables });
  } catch (error) {
    const message = 'A mail that was not queued holds the next one up for a minute';
    await orLog('warn', { message }, () => endCooldown(place, token));
    throw error;
  }
};

/** Whether somebody may get a mail of a kind: disabled accounts get none, and verified ones no verification. */
const mayReceive = (kind: EmailTokenKind, { isDisabled, emailVerified }: AccountRecord): boolean =>
  !isDisabled && (kind !== 'verify' || emailVerified !== true);

/**
 * Sends one to whoever has an address, known or not, in the same time (contract 3, "E-mail tokens"); to an address that
 * nobody has only where it may become an account.
 */
export const requestEmailToken = async (
  store: AccountStore,
  kind: EmailTokenKind,
  email: string,
  { forNewcomers = false }: { readonly forNewcomers?: boolean } = {},
): Promise<void> => {
  const address = canonicalEmail(email);
  const account = await findByEmail(store, address);
  const mayHave = account ? mayReceive(kind, account) : forNewcomers;
  const receiver = mayHave ? (account?._id ?? newId()).toHexString() : undefined;
  await sendEmailToken(store, kind, address, receiver);
};

/** Sends the mail that verifies a new account's address, if it has one. The account stands though that may fail. */
export const sendVerification = async (store: AccountStore, { _id, email }: AccountRecord): Promise<void> => {
  if (email === undefined) return;
  const message = 'A verification mail could not be queued';
  await orLog('error', { message }, () => sendEmailToken(store, 'verify', email, _id.toHexString()));
};
