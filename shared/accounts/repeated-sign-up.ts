import type { ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { isClientError } from '../core/errors.ts';
import { earlierIds, newId } from '../core/ids.ts';
import { outcomeUnknown, type Run } from '../persistence/idempotency.ts';
import type { AccountRecord, NewAccount } from './account-store.ts';
import { credentialVersionOf } from './credentials.ts';
import { firstSecret, isCurrent, type SameSession } from './refresh-sessions.ts';
import { newRefreshToken } from './sessions.ts';
import type { Opening, SignIn, SigningStore } from './sign-in.ts';

/** How long after its first run a sign-up returns tokens again. */
const repeatMs = 10 * 60_000;

const sameSession = async ({ seed, request }: Run, sessionId: ObjectId): Promise<SameSession> => ({
  sessionId: sessionId.toHexString(),
  secret: await firstSecret(seed, request.key),
});

/** The ids of a new account and, for a request with an `Idempotency-Key`, of its session: the same in each run. */
export const newOpening = async (run: Run | undefined): Promise<Opening> => {
  const _id = newId();
  return run ? { _id, same: await sameSession(run, newId()) } : { _id };
};

/** Stores the account of a sign-up; one that an earlier run has stored in the meantime is returned instead. */
export const insertOnce =
  <A extends NewAccount, R extends AccountRecord>(
    { find }: SigningStore<R>,
    run: Run | undefined,
    insert: (account: A) => Promise<R>,
  ) =>
  async (account: A): Promise<R> => {
    try {
      return await insert(account);
    } catch (error) {
      const stored = run?.isRepeat && isClientError(error) ? await find({ _id: account._id }) : undefined;
      if (stored) return stored;
      throw error;
    }
  };

/** Whether an account signs in as it did when it was opened; a verified address is no change. */
const signsInAsOpened = (account: AccountRecord, email: string | undefined): boolean =>
  account.email === email &&
  account.hasPassword === (email !== undefined) &&
  credentialVersionOf(account) === 0 &&
  !account.isDisabled &&
  !account.identities?.length &&
  !account._signIn?.totp &&
  !account._signIn?.passkeys?.length;

const sessionChanged = () =>
  outcomeUnknown(
    'This sign-up was carried out, but its session cannot be returned again: it is older than 10 minutes, or the session or account changed. Sign in instead, or use a new key.',
  );

/**
 * New tokens for a repeated sign-up (contract 1, "Idempotency-Key"); `undefined` if no earlier run has opened the account.
 * The refresh token is the one of the first response. After 10 minutes, without the session, or once it was refreshed or
 * the account got other credentials → 409 `IDEMPOTENCY_OUTCOME_UNKNOWN`.
 */
export const repeatedSignUp = async <R extends AccountRecord>(
  store: SigningStore<R>,
  run: Run | undefined,
  email: string | undefined,
  amr: readonly string[],
): Promise<SignIn<R> | undefined> => {
  const [_id, session] = (run && earlierIds(2)) ?? [];
  if (!run || !_id || !session) return undefined;
  const account = await store.find({ _id });
  if (!account && !run.isAnswered) return undefined;
  const { sessionId, secret } = await sameSession(run, session);
  const bearer = { userId: _id.toHexString(), sessionId, amr };
  const { token: refreshToken, hash } = newRefreshToken(bearer.userId, sessionId, amr, secret);
  const isInTime = clock.now() - run.begunAt <= repeatMs;
  if (!isInTime || !account || !signsInAsOpened(account, email)) throw sessionChanged();
  if (!(await isCurrent(store.scope, bearer, hash))) throw sessionChanged();
  return { account, session: { ...bearer, refreshToken, ...(await store.issueToken(bearer)) } };
};
