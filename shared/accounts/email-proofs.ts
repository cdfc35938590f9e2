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

/** Proof of an email: the token of its link, or its code and the address. */
export interface EmailProof {
  readonly token?: string | undefined;
  readonly email?: string | undefined;
  readonly otp?: string | undefined;
}

/** Name of the code in request bodies, and the error code. */
const proofNames = {
  verify: ['otp', 'INVALID_EMAIL_TOKEN'],
  reset: ['otp', 'INVALID_EMAIL_TOKEN'],
  change: ['otp', 'INVALID_EMAIL_TOKEN'],
  code: ['code', 'INVALID_CODE'],
} as const;

const invalidProof = (kind: EmailTokenKind): AppError =>
  new AppError(proofNames[kind][1], 'The link or code is wrong, was used already or has expired. Request a new email.');

const incompleteProof = ({ email, otp }: EmailProof, kind: EmailTokenKind): AppError => {
  const [code] = proofNames[kind];
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
  if (email === undefined || otp === undefined) throw incompleteProof(proof, kind);
  const address = canonicalEmail(email);
  const addressKey = from.userId === undefined ? addressKeyOf(address) : changeKeyOf(from.userId, address);
  return consumeCode({ scope, kind, addressKey }, otp, from);
};

/** Makes a proof valid again after a failed action. */
const restoreProof = (use: ConsumedToken['use']): Promise<boolean> =>
  tryOrLog('error', { message: 'A token of a mail stays used up, though it did nothing' }, () => restoreItem(use));

/**
 * Consumes a proof and returns the result of `act`. Throws 400 `INVALID_EMAIL_TOKEN` or `INVALID_CODE` if the proof is
 * invalid or `act` returns nothing. If `act` throws, the proof stays valid.
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
    // The ticket replaces the first factor, which stays consumed.
    if (!(error instanceof AppError && error.code === 'SECOND_FACTOR_REQUIRED')) await restoreProof(use);
    throw error;
  }
  if (!done) throw invalidProof(kind);
  return done;
};

/** False if no account matches or it is disabled. */
export const markVerified = ({ write }: AccountStore, filter: AccountFilter): Promise<boolean> =>
  write({ ...filter, ...enabled }, { $set: { emailVerified: true }, $unset: { '_signIn.anonymous': '' } });

/** `takenOver`: all earlier credentials of the account have ended. */
type Verification = 'verified' | 'takenOver';

/**
 * Verifies an address. With a session of the same account, the account stays as it is. A proof from elsewhere takes
 * over an unverified account, because someone else may have created it. Errors: 401 `TOKEN_INVALID` (the proof stays
 * valid), 400 `INVALID_EMAIL_TOKEN`.
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
    return retryOnConflict('This account is being changed right now. Retry.', async () => {
      const account = await store.find({ ...owner, ...enabled });
      if (!account || account.emailVerified) return account && 'verified';
      return (await takeOver(store, account, {})) && 'takenOver';
    });
  });
};

export const verifiedMessages: Readonly<Record<Verification, string>> = {
  verified: 'Email verified',
  takenOver:
    'Email verified. You were not signed in, so the old password and sessions no longer work. Reset the password, or sign in with a code.',
};

/**
 * Sets a new password, ends all sessions and tokens, verifies the address, notifies the owner and unlocks sign-ins from
 * this client. Unverified accounts also lose other sign-in methods. Errors: 400 `INVALID_EMAIL_TOKEN`, 400
 * `VALIDATION_FAILED` (the token stays valid).
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

/** `<siteUrl>/<page>?token=…`; empty without a site. */
export const linkTo = (siteUrl: string | null, page: string, token: string): string =>
  siteUrl === null ? '' : sitePage(siteUrl, page, { token });

/**
 * Sends a new link and code, at most once per address, kind and minute; earlier ones stop working. Without `accountId`,
 * within the minute and over the daily limit the same work is done and nothing is sent, so that neither response nor
 * timing reveals accounts.
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

/** Disabled accounts get no email, and verified ones no verification. */
const mayReceive = (kind: EmailTokenKind, { isDisabled, emailVerified }: AccountRecord): boolean =>
  !isDisabled && (kind !== 'verify' || emailVerified !== true);

/** Same timing whether or not the address has an account. `forNewcomers`: also to addresses without one. */
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

/** Verifies a new account's address. Errors are only logged. */
export const sendVerification = async (store: AccountStore, { _id, email }: AccountRecord): Promise<void> => {
  if (email === undefined) return;
  const message = 'A verification mail could not be queued';
  await tryOrLog('error', { message }, () => sendEmailToken(store, 'verify', email, _id.toHexString()));
};
