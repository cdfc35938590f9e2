import { beforeEach, describe, expect, test } from 'vitest';
import {
  codeAt,
  confirmTotp,
  createRecoveryCodes,
  removeTotp,
  startTotp,
  useFactor,
} from '../../../shared/accounts/second-factor.ts';
import { requireSession } from '../../../shared/accounts/sessions.ts';
import type { UserRecord } from '../../../shared/accounts/users/users.ts';
import { open } from '../../../shared/projects/sealed.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { useMemoryAccounts } from '../../support/fixtures/memory-accounts.ts';

const { state, mongo, time, addUser, user, setUser, signedIn, mails } = useMemoryAccounts();
const email = 'ann@example.com';
let ann: UserRecord;
let bearer: Awaited<ReturnType<typeof signedIn>>;

beforeEach(async () => {
  ann = addUser({ email });
  bearer = await signedIn(ann);
});

const current = (): UserRecord => user(ann) ?? ann;
const step = () => Math.floor(time.now / 30_000);
const place = () => `${state.store.scope}/totp/${bearer.userId}`;
const codeNow = async (later = 0): Promise<string> => {
  const { totp, totpPending } = current()._signIn ?? {};
  const secret = await open(totp?.sealed ?? totpPending ?? '', place());
  return codeAt(Buffer.from(secret, 'base64url'), step() + later);
};
const setUp = async (): Promise<readonly string[]> => {
  await startTotp(state.store, bearer);
  const codes = await confirmTotp(state.store, bearer, await codeNow());
  time.now += 30_000;
  return codes;
};
const use = (proof: Parameters<typeof useFactor>[2], as = current()) => useFactor(state.store, as, proof);
const invalid = { code: 'INVALID_SECOND_FACTOR' };
const isOpen = ({ userId, sessionId }: typeof bearer) =>
  requireSession(state.store.scope, userId, sessionId).then(
    () => true,
    () => false,
  );
const latest = async () => (await mails()).at(-1)?.variables.change;

describe('an authenticator app', () => {
  test('is set up with a code of its secret, and other sessions end', async () => {
    const other = await signedIn(ann);
    const { secret, uri } = await startTotp(state.store, bearer);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(uri).toBe(`otpauth://totp/test:ann%40example.com?secret=${secret}&issuer=test`);
    const codes = await confirmTotp(state.store, bearer, await codeNow());
    expect(new Set(codes).size).toBe(10);
    expect(current()._signIn).toMatchObject({ totp: { lastStep: step(), recovery: expect.any(Array) } });
    expect(current()._signIn).not.toHaveProperty('totpPending');
    expect([await isOpen(bearer), await isOpen(other)]).toEqual([true, false]);
    expect(await latest()).toContain('was set up');
  });

  test('of a project without a plain name shows the service, and of an account without an address its id', async () => {
    mongo.insert('users', { ...current(), _id: ann._id, email: undefined }, 'other');
    setUser(ann, { email: undefined });
    const store = { ...state.store, mailOrigin: () => ({ ...state.store.mailOrigin(), siteName: '' }) };
    const { uri } = await startTotp(store, bearer);
    expect(decodeURIComponent(uri)).toContain(`:${bearer.userId}?`);
    expect(uri).not.toContain('issuer=&');
    expect(uri).not.toMatch(/issuer=$|issuer=test/);
  });

  test('is replaced until it is confirmed', async () => {
    await startTotp(state.store, bearer);
    const first = await codeNow();
    await startTotp(state.store, bearer);
    expect(await laterRefusalOf(confirmTotp(state.store, bearer, first))).toMatchObject(invalid);
    await confirmTotp(state.store, bearer, await codeNow());
  });

  test('401 INVALID_SECOND_FACTOR when none is being set up, and for a wrong code', async () => {
    const refusal = await laterRefusalOf(confirmTotp(state.store, bearer, '000000'));
    expect(refusal.message).toContain('Start again');
    await startTotp(state.store, bearer);
    expect(await laterRefusalOf(confirmTotp(state.store, bearer, await codeNow(3)))).toMatchObject(invalid);
    expect(current()._signIn).not.toHaveProperty('totp');
  });

  test('429 ACCOUNT_LOCKED after 10 wrong codes, and right ones do not count', async () => {
    await startTotp(state.store, bearer);
    for (let left = 10; left > 0; left--) await laterRefusalOf(confirmTotp(state.store, bearer, await codeNow(3)));
    const locked = await laterRefusalOf(confirmTotp(state.store, bearer, await codeNow()));
    expect(locked).toMatchObject({ code: 'ACCOUNT_LOCKED' });
    time.now += 16 * 60_000;
    bearer = await signedIn(ann);
    await setUp();
    for (let left = 12; left > 0; left--) {
      expect(await use({ code: await codeNow() })).toBe('totp');
      time.now += 30_000;
    }
  });

  test('409 SECOND_FACTOR_EXISTS when there is one, also from a request at the same time', async () => {
    const exists = { code: 'SECOND_FACTOR_EXISTS' };
    await startTotp(state.store, bearer);
    const pending = current()._signIn;
    const code = await codeNow();
    mongo.state.before = {
      name: 'findAndModify',
      act: async () => setUser(ann, { _signIn: { totp: { sealed: pending?.totpPending, lastStep: 0, recovery: [] } } }),
    };
    expect(await laterRefusalOf(confirmTotp(state.store, bearer, code))).toMatchObject(exists);
    expect(await laterRefusalOf(startTotp(state.store, bearer))).toMatchObject(exists);
    expect(await laterRefusalOf(confirmTotp(state.store, bearer, code))).toMatchObject(exists);
    expect(current()._signIn).toMatchObject({ totp: { lastStep: 0 } });
  });

  test('is not set up for an account that was disabled or changed meanwhile', async () => {
    const exists = { code: 'SECOND_FACTOR_EXISTS' };
    const meanwhile = (change: object) => {
      mongo.state.before = { name: 'update', act: async () => setUser(ann, change) };
    };
    meanwhile({ isDisabled: true });
    expect(await laterRefusalOf(startTotp(state.store, bearer))).toMatchObject(exists);
    setUser(ann, { isDisabled: undefined });
    await startTotp(state.store, bearer);
    for (const change of [{ isDisabled: true }, { credentialVersion: 5 }, { _signIn: { totpPending: 'another' } }]) {
      const before = { ...current() };
      const code = await codeNow();
      mongo.state.before = { name: 'findAndModify', act: async () => setUser(ann, change) };
      expect(await laterRefusalOf(confirmTotp(state.store, bearer, code))).toMatchObject(exists);
      expect(current()._signIn).not.toHaveProperty('totp');
      setUser(ann, { ...before, credentialVersion: 0 });
      setUser(ann, { isDisabled: undefined });
    }
  });
});

describe('a second factor', () => {
  test('is a code of the app, one time, by one of 50 requests', async () => {
    await setUp();
    const code = await codeNow();
    const account = current();
    const results = await Promise.all(Array.from({ length: 5 }, () => use({ code }, account)));
    expect(results.filter((one) => one === 'totp')).toHaveLength(1);
    expect(await use({ code })).toBeUndefined();
    time.now += 30_000;
    expect(await use({ code: await codeNow() })).toBe('totp');
  });

  test('is a recovery code, one time', async () => {
    const [code = '', next = ''] = await setUp();
    expect(await use({ recoveryCode: code.toLowerCase() })).toBe('recovery');
    expect(await use({ recoveryCode: code })).toBeUndefined();
    expect(await use({ code: await codeNow(), recoveryCode: next })).toBe('totp');
    expect(await use({ code: '000000', recoveryCode: next })).toBe('recovery');
    expect(current()._signIn?.totp?.recovery).toHaveLength(8);
  });

  test.each([
    {},
    { code: '000000' },
    { code: 'malformed' },
    { recoveryCode: 'AAAA-AAAA' },
    { recoveryCode: 'malformed' },
  ])('is not %j', async (proof) => {
    await setUp();
    expect(await use(proof)).toBeUndefined();
    expect(current()._signIn?.totp?.recovery).toHaveLength(10);
  });

  test('is of one account: of another one, of a disabled one, and of an app that was replaced it is wrong', async () => {
    const [recoveryCode = ''] = await setUp();
    const code = await codeNow();
    const bob = addUser({ _signIn: current()._signIn });
    await expect(use({ code }, bob)).rejects.toThrow();
    expect(await use({ recoveryCode }, bob)).toBeUndefined();
    const before = { ...current() };
    setUser(ann, { isDisabled: true });
    expect([await use({ code }, before), await use({ recoveryCode }, before)]).toEqual([undefined, undefined]);
    setUser(ann, { isDisabled: undefined, _signIn: { totp: { sealed: 'another', lastStep: 0, recovery: [] } } });
    expect([await use({ code }, before), await use({ recoveryCode }, before)]).toEqual([undefined, undefined]);
  });
});

describe('recovery codes', () => {
  test('are replaced with a factor, and other sessions end', async () => {
    const [old = '', another = ''] = await setUp();
    const other = await signedIn(ann);
    const codes = await createRecoveryCodes(state.store, bearer, { recoveryCode: old });
    expect(codes).toHaveLength(10);
    expect([await isOpen(bearer), await isOpen(other)]).toEqual([true, false]);
    expect(await latest()).toContain('recovery codes were replaced');
    expect(await use({ recoveryCode: another })).toBeUndefined();
    expect(await use({ recoveryCode: codes[0] })).toBe('recovery');
  });

  test('404 SECOND_FACTOR_NOT_FOUND without an app, and 401 INVALID_SECOND_FACTOR for a wrong code', async () => {
    const notFound = { code: 'SECOND_FACTOR_NOT_FOUND' };
    for (const act of [createRecoveryCodes, removeTotp]) {
      expect(await laterRefusalOf(act(state.store, bearer, { code: '000000' }))).toMatchObject(notFound);
    }
    await setUp();
    for (const act of [createRecoveryCodes, removeTotp]) {
      expect(await laterRefusalOf(act(state.store, bearer, { code: '000000' }))).toMatchObject(invalid);
    }
    expect(current()._signIn?.totp?.recovery).toHaveLength(10);
  });

  test.each([{ isDisabled: true }, { credentialVersion: 9 }, { _signIn: {} }])(
    '401 INVALID_SECOND_FACTOR when the account is changed meanwhile: %j',
    async (change) => {
      const [recoveryCode = ''] = await setUp();
      mongo.state.before = { name: 'findAndModify', act: async () => setUser(ann, change) };
      expect(await laterRefusalOf(createRecoveryCodes(state.store, bearer, { recoveryCode }))).toMatchObject(invalid);
    },
  );
});

test('an app that is removed is not asked for any more, and other sessions end', async () => {
  await setUp();
  const other = await signedIn(ann);
  await removeTotp(state.store, bearer, { code: await codeNow() });
  expect(current()._signIn).not.toHaveProperty('totp');
  expect([await isOpen(bearer), await isOpen(other)]).toEqual([true, false]);
  expect(await latest()).toContain('was removed');
});
