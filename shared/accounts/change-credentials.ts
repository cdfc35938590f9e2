import { validationFailed } from '../core/errors.ts';
import { accountChanges, notifyOfChange } from './account-mail.ts';
import {
  type AccountRecord,
  type AccountStore,
  accountUnavailable,
  enabled,
  findByEmail,
  requireAccount,
} from './account-store.ts';
import { endLockout, ownPassword, replaceCredentials, unchangedSince, wrongPassword } from './credentials.ts';
import { type EmailProof, sendEmailToken, withProof } from './email-proofs.ts';
import { canonicalEmail, changeKeyOf, countChangeMail } from './email-tokens.ts';
import { checkPassword, hashPassword } from './passwords.ts';
import { type Client, requireSession } from './sessions.ts';
import { requireStepUp } from './step-up.ts';
import type { Bearer } from './tokens.ts';

interface PasswordChange {
  /** Omitted by accounts without a password. */
  readonly currentPassword?: string | undefined;
  readonly newPassword: string;
  /** Also revokes all personal access tokens; false by default. */
  readonly endTokens?: boolean | undefined;
}

/** Changes the password, ends other sessions and the lockout. Errors: those of `requireStepUp`, 401 `TOKEN_INVALID`. */
export const changePassword = async <R extends AccountRecord>(
  store: AccountStore<R>,
  { userId, sessionId }: Bearer,
  { currentPassword, newPassword, endTokens: tokens = false }: PasswordChange,
  client: Client,
): Promise<void> => {
  const password = checkPassword(newPassword, 'newPassword');
  const account = await requireAccount(store, userId);
  await requireStepUp(store, account, { sessionId, password: currentPassword }, client);
  const set = ownPassword(store, await hashPassword(password));
  const filter = { ...unchangedSince(account), ...enabled };
  const changed = await replaceCredentials(store, filter, set, { except: sessionId, tokens });
  if (!changed) throw account.hasPassword === false ? accountUnavailable() : wrongPassword();
  await endLockout(store, changed, client);
  await notifyOfChange(store, changed, accountChanges.passwordChanged);
};

interface EmailChange {
  readonly email: string;
  /** Omitted by accounts without a password. */
  readonly password?: string | undefined;
}

/**
 * Emails a token to the new address and notifies the owner at the current one. A later request replaces it. If another
 * account has the address, nothing is sent, and neither response nor timing shows it. Errors: 400 `VALIDATION_FAILED`,
 * those of `requireStepUp`.
 */
export const requestEmailChange = async (
  store: AccountStore,
  { userId, sessionId }: Bearer,
  { email: given, password }: EmailChange,
  client: Client,
): Promise<void> => {
  const email = canonicalEmail(given);
  const account = await requireAccount(store, userId);
  await requireStepUp(store, account, { sessionId, password }, client);
  if (email === account.email) {
    throw validationFailed({ field: 'email', message: 'email is the address of this account already' });
  }
  const holder = await findByEmail(store, email);
  const filter = { ...unchangedSince(account), ...enabled, '_signIn.newEmail': { $ne: email } };
  const isNews = await store.note(filter, { $set: { '_signIn.newEmail': email } });
  const mayReceive = (await countChangeMail(store.scope, email)) && !holder;
  await sendEmailToken(store, 'change', email, mayReceive ? userId : undefined, changeKeyOf(userId, email));
  if (isNews) await notifyOfChange(store, account, accountChanges.addressChangeAsked);
};

/** Errors: 400 `INVALID_EMAIL_TOKEN`, 401 `TOKEN_INVALID`, 409 `DUPLICATE_VALUE` if the address is taken. */
export const changeEmail = async (
  store: AccountStore,
  { userId, sessionId }: Bearer,
  proof: EmailProof,
  { ip }: Client,
): Promise<void> => {
  await requireSession(store.scope, userId, sessionId);
  await withProof(store.scope, 'change', proof, { ip, userId }, async ({ _id, email: { $eq: email } }) => {
    const filter = { _id, ...enabled, '_signIn.newEmail': { $eq: email } };
    const ending = { except: sessionId, tokens: false, unset: { '_signIn.anonymous': '' } };
    return replaceCredentials(store, filter, { email, emailVerified: true }, ending);
  });
};
