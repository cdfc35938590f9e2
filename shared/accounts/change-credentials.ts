import { validationFailed } from '../core/errors.ts';
import { accountChanges, notifyOfChange } from './account-mail.ts';
import {
  type AccountRecord,
  type AccountStore,
  accountGone,
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
  /** Omitted by accounts that never had a password of their own. */
  readonly currentPassword?: string | undefined;
  readonly newPassword: string;
  /** Whether all personal access tokens end too; not unless said. */
  readonly endTokens?: boolean | undefined;
}

/**
 * Gives who asks another password, ends their other sessions and the lockout, and tells them by mail (contract 3, "change-password").
 * Wrong current one → 401 `INVALID_CREDENTIALS`, too many → 429; session revoked → 401 `TOKEN_INVALID`; of parallel
 * calls one wins. Who has no password, or a second factor, must have signed in within 10 minutes, else 403
 * `REAUTHENTICATION_REQUIRED`.
 */
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
  if (!changed) throw account.hasPassword === false ? accountGone() : wrongPassword();
  await endLockout(store, changed, client);
  await notifyOfChange(store, changed, accountChanges.passwordChanged);
};

interface EmailChange {
  /** The address that the account is to have. */
  readonly email: string;
  /** The current password, omitted by accounts that have none. */
  readonly password?: string | undefined;
}

/**
 * Mails a token to the address that an account is to have, and tells its owner at the one that it has (contract 3,
 * "Changing the address"); a later request of the account takes its place. Whether somebody has the address already shows neither in
 * the answer nor in its time: then nothing is sent there. The account's own → 400; other refusals as `requireStepUp`
 * has them.
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

/**
 * Gives the account of who asks the address that a mail of theirs went to, by one conditional write; it counts as
 * verified, and other sessions end. A token or code that is wrong, used, expired, of somebody else, or older than the
 * latest request or password → 400 `INVALID_EMAIL_TOKEN`; session ended → 401 `TOKEN_INVALID`. Whoever has taken the
 * address meanwhile keeps it: `DUPLICATE_VALUE`.
 */
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
