import { ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { clock, hourAt } from '../../core/clock.ts';
import { rateLimits } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { reserveOne } from '../../persistence/counters.ts';
import type { Run } from '../../persistence/idempotency.ts';
import { itemKey, partitionKey } from '../../persistence/item-keys.ts';
import * as kinds from '../../persistence/table-keys.ts';
import type { Project } from '../../projects/project.ts';
import { requireSignInMethod } from '../../projects/user-settings.ts';
import { sourceOf } from '../../rate-limit/rate-limit.ts';
import { enabled, requireAccount } from '../account-store.ts';
import { ownPassword } from '../credentials.ts';
import { firstDevice } from '../devices.ts';
import { requestEmailToken, sendVerification } from '../email-proofs.ts';
import { checkEmail } from '../email-tokens.ts';
import { checkPassword, hashPassword } from '../passwords.ts';
import { insertOnce, newOpening, repeatedSignUp } from '../repeated-sign-up.ts';
import { type Client, orEndSession, requireSession, sessionSeconds } from '../sessions.ts';
import { openSession, type SignIn } from '../sign-in.ts';
import type { Bearer } from '../tokens.ts';
import { laterProfile } from './profile.ts';
import { insertUser, requireOpenSignup, rethrowUserExists } from './sign-up.ts';
import { type UserRecord, userSignIns } from './users.ts';

const perHour = 10;

/** Value of `amr`: no proof at all. */
const anonymousSignIn = ['anonymous'] as const;

/** Over all projects. Throws 429 `RATE_LIMITED` after ten accounts of an address in an hour. */
const countAnonymous = async ({ ip }: Client): Promise<void> => {
  if (rateLimits().RATE_LIMIT === 0) return;
  const hour = hourAt(clock.now());
  const key = itemKey(kinds.anonymousAccounts, partitionKey('rate', { source: sourceOf(ip) }), { hour: hour.name });
  const refusal = `${perHour} anonymous accounts an hour can be created from one address. Retry later.`;
  await reserveOne(hour, key, { name: 'n', limit: perHour }, refusal);
};

/**
 * Creates an account without address and password and signs it in; nobody can sign in to it again. A repeated `run`
 * returns what the earlier one created. Errors: 403 `SIGNUP_DISABLED`, 403 `PLAN_LIMIT`, 429 `RATE_LIMITED`.
 */
export const signUpAnonymously = async (
  project: Project,
  users: Collection,
  client: Client,
  run?: Run,
): Promise<SignIn<UserRecord>> => {
  const store = userSignIns(project);
  const repeated = await repeatedSignUp(store, run, undefined, anonymousSignIn);
  if (repeated) return repeated;
  requireOpenSignup(project);
  await countAnonymous(client);
  const { profile, _signIn } = laterProfile(users);
  const anonymous = { checkAt: new Date(clock.now() + sessionSeconds * 1000) };
  const { _id, same } = await newOpening(run);
  const opened = { _id, _signIn: { ..._signIn, ...firstDevice(client), anonymous } };
  const session = await openSession(store, opened, client, anonymousSignIn, same);
  const account = { ...opened, hasPassword: false, emailVerified: false, identities: [], profile };
  const insert = insertOnce(store, run, (one: typeof account) => insertUser(project, one));
  const isRepeatable = same !== undefined;
  return { account: await orEndSession(store.scope, session, () => insert(account), isRepeatable), session };
};

interface Upgrade {
  readonly email: string;
  /** Omitted if a code proves the address instead. */
  readonly password?: string | undefined;
}

const notAnonymous = (): AppError =>
  new AppError('NOT_ANONYMOUS', 'This account is not anonymous. To change it, use update-profile.');

const upgradeOf = async (project: Project, { email, password }: Upgrade) => {
  requireSignInMethod(project, password === undefined ? 'emailCode' : 'password');
  const address = { email: checkEmail(email), emailVerified: false };
  if (password === undefined) return address;
  return { ...address, ...ownPassword(userSignIns(project), await hashPassword(checkPassword(password))) };
};

/**
 * Gives an anonymous user an address, and a password or an emailed code. Session, `_id` and documents stay. Errors: 409
 * `NOT_ANONYMOUS`, 409 `USER_EXISTS`.
 */
export const upgradeAnonymous = async (project: Project, bearer: Bearer, upgrade: Upgrade) => {
  const store = userSignIns(project);
  const $set = await upgradeOf(project, upgrade);
  await requireSession(store.scope, bearer.userId, bearer.sessionId);
  const filter = { _id: new ObjectId(bearer.userId), '_signIn.anonymous': { $exists: true }, ...enabled };
  const change = async () =>
    // Without a password the user stays anonymous until the address is verified.
    (upgrade.password === undefined && (await store.change({ ...filter, hasPassword: false }, { $set }))) ||
    store.change(filter, { $set, $unset: { '_signIn.anonymous': '' } });
  const account = await change().catch(rethrowUserExists);
  if (!account) {
    await requireAccount(store, bearer.userId);
    throw notAnonymous();
  }
  if (upgrade.password !== undefined) await sendVerification(store, account);
  else await requestEmailToken(store, 'code', account.email ?? '');
  return { account, issued: await store.issueToken(bearer) };
};
