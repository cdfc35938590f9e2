import { beforeEach, describe, expect, test } from 'vitest';
import type { NewAccount } from '../../../shared/accounts/account-store.ts';
import { insertOnce, newOpening, repeatedSignUp } from '../../../shared/accounts/repeated-sign-up.ts';
import { endSession } from '../../../shared/accounts/sessions.ts';
import { openSession } from '../../../shared/accounts/sign-in.ts';
import { AppError } from '../../../shared/core/errors.ts';
import { requestIds } from '../../../shared/core/ids.ts';
import { currentRequest } from '../../../shared/core/request.ts';
import { keyedRequest, type Run } from '../../../shared/persistence/idempotency.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { useMemoryAccounts } from '../../support/fixtures/memory-accounts.ts';

const { state, client, time, addUser, user, setUser } = useMemoryAccounts();
const email = 'ann@example.com';
const amr = ['pwd'];
const unknown = { code: 'IDEMPOTENCY_OUTCOME_UNKNOWN' };
let run: Run;

beforeEach(() => {
  const request = keyedRequest('caller', 'key', ['POST']);
  run = {
    projectId: state.project.id,
    request,
    runId: 'r',
    seed: 's',
    begunAt: time.now,
    isRepeat: false,
    isAnswered: false,
  };
});

/** Runs `act` as a run of the request, with the ids that it gets. */
const inRun = <T>(of: Run | undefined, act: () => Promise<T>): Promise<T> =>
  currentRequest.run(
    {
      ...{ requestId: 'r', route: 'any', databaseMs: 0 },
      ...(of && { ids: requestIds(of.seed, of.begunAt, of.isRepeat) }),
    },
    act,
  );
const signUp = (of: Run | undefined = run, rest: object = {}) =>
  inRun(of, async () => {
    const { _id, same } = await newOpening(of);
    const session = await openSession(state.store, { _id }, client, amr, same);
    return { account: addUser({ _id, email, emailVerified: false, ...rest }), session };
  });
const repeat = (rest: Partial<Run> = {}, address: string | undefined = email) => {
  const again = { ...run, isRepeat: true, ...rest };
  return inRun(again, () => repeatedSignUp(state.store, again, address, amr));
};

describe('a repeated sign-up', () => {
  test('returns the account and the refresh token of the first response', async () => {
    const { account, session } = await signUp();
    const again = await repeat();
    expect(again?.account._id).toEqual(account._id);
    expect(again?.session).toMatchObject({
      userId: String(account._id),
      sessionId: session.sessionId,
      refreshToken: session.refreshToken,
      accessToken: expect.any(String),
    });
  });

  test('is a first one without a run, without a repeat, and before the account was stored', async () => {
    expect(await inRun(undefined, () => repeatedSignUp(state.store, undefined, email, amr))).toBeUndefined();
    expect(
      await inRun({ ...run, isRepeat: true }, () => repeatedSignUp(state.store, undefined, email, amr)),
    ).toBeUndefined();
    expect(await repeat({ isRepeat: false })).toBeUndefined();
    addUser({ email });
    expect(await repeat()).toBeUndefined();
    expect(await laterRefusalOf(repeat({ isAnswered: true }))).toMatchObject(unknown);
  });

  test('409 IDEMPOTENCY_OUTCOME_UNKNOWN after 10 minutes', async () => {
    await signUp();
    time.now += 600_000;
    expect(await repeat()).toBeDefined();
    time.now += 1;
    expect(await laterRefusalOf(repeat())).toMatchObject(unknown);
  });

  test.each([
    { email: 'new@example.com' },
    { hasPassword: false },
    { credentialVersion: 1 },
    { isDisabled: true },
    { identities: [{ key: 'github:1' }] },
    { _signIn: { totp: {} } },
    { _signIn: { passkeys: [{}] } },
  ])('409 IDEMPOTENCY_OUTCOME_UNKNOWN when the account has changed: %j', async (change) => {
    const { account } = await signUp();
    setUser(account, change);
    expect(await laterRefusalOf(repeat())).toMatchObject(unknown);
  });

  test.each([{ emailVerified: true }, { identities: undefined }, { _signIn: { passkeys: [] } }])(
    'returns it again when the account has %j',
    async (change) => {
      const { account } = await signUp();
      setUser(account, change);
      expect(await repeat()).toMatchObject({ account: { _id: account._id } });
    },
  );

  test('of an anonymous user has no address and no password', async () => {
    const { account } = await signUp(run, { email: undefined, hasPassword: false });
    const again = { ...run, isRepeat: true };
    const result = await inRun(again, () => repeatedSignUp(state.store, again, undefined, amr));
    expect(result).toMatchObject({ account: { _id: account._id } });
    setUser(account, { hasPassword: true });
    expect(await laterRefusalOf(inRun(again, () => repeatedSignUp(state.store, again, undefined, amr)))).toMatchObject(
      unknown,
    );
  });

  test('409 IDEMPOTENCY_OUTCOME_UNKNOWN when the session ended, or was opened with another key', async () => {
    const { account, session } = await signUp();
    const other = { request: keyedRequest('caller', 'other', ['POST']) };
    expect(await laterRefusalOf(repeat(other))).toMatchObject(unknown);
    await endSession(state.store.scope, String(account._id), session.sessionId);
    expect(await laterRefusalOf(repeat())).toMatchObject(unknown);
  });
});

describe('the ids of a sign-up', () => {
  test('are the same in each run with a key, and there is no session without one', async () => {
    const opening = (of?: Run) => inRun(of, () => newOpening(of));
    const first = await opening(run);
    expect(first).toMatchObject({ same: { sessionId: expect.any(String), secret: expect.anything() } });
    expect(await opening({ ...run, isRepeat: true })).toEqual(first);
    expect(Object.keys(await opening())).toEqual(['_id']);
  });
});

describe('the insert of a sign-up', () => {
  const account = (_id: NewAccount['_id']): NewAccount => ({
    ...(_id && { _id }),
    ...{ email, hasPassword: true, emailVerified: false, identities: [] },
  });
  const insert = (of: Run | undefined, error: Error, _id: NewAccount['_id']) =>
    insertOnce<NewAccount, NonNullable<ReturnType<typeof user>>>(state.store, of, () => Promise.reject(error))(
      account(_id),
    );
  const taken = new AppError('DUPLICATE_VALUE', 'taken');

  test('returns the account that an earlier run of the same request has stored', async () => {
    const stored = addUser({ email });
    const again = { ...run, isRepeat: true };
    expect(await insert(again, taken, stored._id)).toMatchObject({ _id: stored._id });
    await expect(insert(run, taken, stored._id)).rejects.toBe(taken);
    await expect(insert(undefined, taken, stored._id)).rejects.toBe(taken);
    const down = new AppError('DATABASE_UNAVAILABLE', 'down');
    await expect(insert(again, down, stored._id)).rejects.toBe(down);
    await expect(insert(again, taken, (await inRun(again, () => newOpening(again)))._id)).rejects.toBe(taken);
  });
});
