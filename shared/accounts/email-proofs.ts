import { AppError, validationFailed } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { tryOrLog } from '../core/log.ts';
import { retryOnConflict } from '../core/retry.ts';
import { restoreItem } from '../persistence/single-use.ts';
import { accountChanges, notifyOfChange, queueAccountMail, sitePage } from './account-mail.ts';
import { type AccountFilter, type AccountRecord, type AccountStore, enabled, findByEmail } from './account-store.ts';
import { endLockout, otherSignInMethods, ownPassword, replaceCredentials, takeOver } from './credentials.ts';
import {
  addressKeyOf,
  type ConsumedToken,
  canonicalEmail,
  changeKeyOf,
  codeSeconds,
  consumeCode,
  consumeToken,
  type EmailTokenKind,
  endCooldown,
  issueTokens,
  type ProofSource,
  type TokenPlace,
} from './email-tokens.ts';
import { checkPassword, hashPassword } from './passwords.ts';
import { type Client, requireSession, type SessionScope } from './sessions.ts';
import type { Bearer } from './tokens.ts';

/** What shows that someone has the mail, as sent: the token of its link, or its code along with the address. */
export interface EmailProof {
  readonly token?: string | undefined;
  readonly email?: string | undefined;
  readonly otp?: string | undefined;
}

/** What bodies call the code of a mail, and the refusal of one. */
const toldAs = {
  verify: ['otp', 'INVALID_EMAIL_TOKEN'],
  reset: ['otp', 'INVALID_EMAIL_TOKEN'],
  change: ['otp', 'INVALID_EMAIL_TOKEN'],
  code: ['code', 'INVALID_CODE'],
} as const;

const invalidProof = (kind: EmailTokenKind): AppError =>
  new AppError(toldAs[kind][1], 'The link or code is wrong, was used already or has expired. Request a new mail.');

const incomplete = ({ email, otp }: EmailProof, kind: EmailTokenKind): AppError => {
  const [code] = toldAs[kind];
  const field = email === undefined && otp === undefined ? 'token' : email === undefined ? 'email' : code;
  const message = field === 'token' ? `token is required, or email and ${code}` : `${field} is required`;
  return validationFailed({ field, message });
};

const consume = (
  scope: SessionScope,
  kind: EmailTokenKind,
  proof: EmailProof,
  from: ProofSource,
): Promise<ConsumedToken | undefined> => {
  const { token, email, otp } = proof;
  if (token !== undefined) return consumeToken(scope, kind, token, from);
  if (email === undefined || otp === undefined) throw incomplete(proof, kind);
  const address = canonicalEmail(email);
  const addressKey = from.userId === undefined ? addressKeyOf(address) : changeKeyOf(from.userId, address);
  return consumeCode({ scope, kind, addressKey }, otp, from);
};

/** Makes a proof valid again after an action that did not complete; else a new mail has to be requested. */
const giveBack = (use: ConsumedToken['use']): Promise<boolean> =>
  tryOrLog('error', { message: 'A token of a mail stays used up, though it did nothing' }, () => restoreItem(use));

/**
 * What `act` returns, which is done once for a valid proof. One that is wrong, used or expired, or for which `act`
 * finds no owner (returns nothing) → 400 `INVALID_EMAIL_TOKEN`, or `INVALID_CODE`; if `act` throws, the proof stays
 * valid.
 */
export const withProof = async <T>(
  scope: SessionScope,
  kind: EmailTokenKind,
  proof: EmailProof,
  from: ProofSource,
  act: (owner: ConsumedToken['owner']) => Promise<T | false | undefined>,
): Promise<T> => {
  const consumed = await consume(scope, kind, proof, from);
  if (!consumed) throw invalidProof(kind);
  const { owner, use } = consumed;
  let done: T | false | undefined;
  try {
    done = await act(owner);
  } catch (error) {
    // The first factor is proved for good: the ticket stands for it.
    if (!(error instanceof AppError && error.code === 'SECOND_FACTOR_REQUIRED')) await giveBack(use);
    throw error;
  }
  if (!done) throw invalidProof(kind);
  return done;
};

/** Marks the address of the account that matches as verified; false if there is none, or it is disabled. */
export const markVerified = ({ write }: AccountStore, filter: AccountFilter): Promise<boolean> =>
  write({ ...filter, ...enabled }, { $set: { emailVerified: true }, $unset: { '_signIn.anonymous': '' } });

/** What a proof of an address came to: `takenOver` if all that signed in to the account before has ended. */
type Verification = 'verified' | 'takenOver';

/**
 * Marks an address as verified. A proof counts for an account as it is only if a session of that account makes it.
 * Otherwise somebody else may have opened the account with the address, so a proof from elsewhere takes over an account
 * that nobody had verified (contract 3, "Proof of an email"). A session that has ended → 401 `TOKEN_INVALID`, and the
 * proof stays valid; a wrong, used or expired one, or one of a disabled account → 400 `INVALID_EMAIL_TOKEN`.
 */
export const verifyEmail = async (
  store: AccountStore,
  proof: EmailProof,
  { ip }: Client,
  bearer?: Bearer,
): Promise<Verification> => {
  if (bearer) await requireSession(store.scope, bearer.userId, bearer.sessionId);
  return withProof(store.scope, 'verify', proof, { ip }, async (owner) => {
    const isOwn = bearer?.userId === owner._id.toHexString();
    if (isOwn) return (await markVerified(store, { ...owner })) ? 'verified' : undefined;
    return retryOnConflict('This account is being changed right now. Please try again.', async () => {
      const account = await store.find({ ...owner, ...enabled });
      if (!account || account.emailVerified) return account && 'verified';
      return (await takeOver(store, account, {})) && 'takenOver';
    });
  });
};

/** What the answer of a verification says. */
export const verifiedMessages: Readonly<Record<Verification, string>> = {
  verified: 'Email verified',
  takenOver:
    'Email verified. You were not signed in, so the password and the sessions from before have ended: set a new password by a reset, or sign in by a code.',
};

/**
 * Sets a password anew, ends every session and token and marks the address as verified, for the mail went there: what
 * somebody else left who had opened the account with it is gone. Tells the owner, and lets them sign in from this place
 * though it was locked. A token or code that is wrong, used or expired → 400 `INVALID_EMAIL_TOKEN`; a password that
 * cannot be → 400, and the token stays good.
 */
export const resetPassword = async (
  store: AccountStore,
  proof: EmailProof,
  newPassword: string,
  client: Client,
): Promise<void> => {
  const hash = await hashPassword(checkPassword(newPassword, 'newPassword'));
  const changed = await withProof(store.scope, 'reset', proof, { ip: client.ip }, async (owner) => {
    const set = { ...ownPassword(store, hash), emailVerified: true };
    const replace = (filter: AccountFilter, ending = {}) =>
      replaceCredentials(store, { ...owner, ...enabled, ...filter }, set, ending);
    return (
      (await replace({ emailVerified: true })) ??
      (await replace({ emailVerified: { $ne: true } }, { unset: otherSignInMethods }))
    );
  });
  await endLockout(store, changed, client);
  await notifyOfChange(store, changed, accountChanges.passwordChanged);
};

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
 * Those of a change are apart for each account, by their `addressKey`.
 * `accountId` is missing if nobody is to have the mail. Then, within the minute, and over the project's day, the same
 * work is done and nothing is sent, so that neither answer nor time tells who has an account.
 */
export const sendEmailToken = async (
  { scope, mailOrigin }: AccountStore,
  kind: EmailTokenKind,
  email: string,
  accountId: string | undefined,
  addressKey = addressKeyOf(email),
): Promise<void> => {
  const place: TokenPlace = { scope, kind, addressKey };
  const { token, code, isGood } = await issueTokens(place, email, accountId);
  const origin = mailOrigin();
  const variables = { link: linkTo(origin.siteUrl, pages[kind], token), code, minutes: String(codeSeconds / 60) };
  const to = isGood && accountId !== undefined ? email : null;
  try {
    await queueAccountMail(origin, { template: templates[kind], to, variables });
  } catch (error) {
    const message = 'A mail that was not queued holds the next one up for a minute';
    await tryOrLog('warn', { message }, () => endCooldown(place, token));
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
  await tryOrLog('error', { message }, () => sendEmailToken(store, 'verify', email, _id.toHexString()));
};
