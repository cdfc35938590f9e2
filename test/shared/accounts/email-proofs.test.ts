import { ObjectId } from 'mongodb';
import { describe, expect, test, vi } from 'vitest';
import {
  type EmailProof,
  linkTo,
  requestEmailToken,
  resetPassword,
  sendEmailToken,
  sendVerification,
  verifyEmail,
  withProof,
} from '../../../shared/accounts/email-proofs.ts';
import { changeKeyOf } from '../../../shared/accounts/email-tokens.ts';
import { verifyPassword } from '../../../shared/accounts/passwords.ts';
import { requireSession } from '../../../shared/accounts/sessions.ts';
import { AppError } from '../../../shared/core/errors.ts';
import { projectScope } from '../../../shared/persistence/item-keys.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { tokenIn, useMemoryAccounts } from '../../support/fixtures/memory-accounts.ts';

const { state, mongo, mail, client, time, addUser, user, setUser, signedIn, mails } = useMemoryAccounts();
const email = 'ann@example.com';
const from = { ip: client.ip };
const act = vi.fn(async (owner: object) => owner);

const proofOf = async (
  kind: 'verify' | 'reset' | 'code',
  address = email,
): Promise<{ token: string; code: string }> => {
  time.now += 61_000;
  await requestEmailToken(state.store, kind, address);
  const [last] = (await mails()).slice(-1);
  if (!last) throw new Error('no email');
  return { token: tokenIn(last), code: last.variables.code ?? '' };
};
const prove = (kind: 'verify' | 'reset' | 'code', proof: EmailProof, place: Parameters<typeof withProof>[3] = from) =>
  withProof(state.store.scope, kind, proof, place, act);

describe('a proof of an email', () => {
  test.each<[EmailProof, string, string]>([
    [{}, 'token', 'token is required, or email and code'],
    [{ otp: 'A' }, 'email', 'email is required'],
    [{ email }, 'code', 'code is required'],
  ])('400 VALIDATION_FAILED for %j', async (proof, field, message) => {
    expect(await laterRefusalOf(prove('code', proof))).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ field, message }],
    });
  });

  test('is a link, or a code with its address, and works one time', async () => {
    const { _id } = addUser({ email });
    for (const pick of ['token', 'code'] as const) {
      const { token, code } = await proofOf('reset');
      const proof = pick === 'token' ? { token } : { email: ` Ann@Example.com `, otp: code };
      act.mockClear();
      expect(await prove('reset', proof)).toEqual({ _id, email: { $eq: email } });
      expect(await laterRefusalOf(prove('reset', proof))).toMatchObject({ code: 'INVALID_EMAIL_TOKEN' });
      expect(act).toHaveBeenCalledTimes(1);
    }
  });

  test('is used by one of 50 requests at the same time', async () => {
    addUser({ email });
    const { token } = await proofOf('reset');
    act.mockClear();
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => prove('reset', { token })));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(act).toHaveBeenCalledTimes(1);
  });

  test('400 INVALID_EMAIL_TOKEN or INVALID_CODE for another purpose, project, user or address', async () => {
    addUser({ email });
    const { token, code } = await proofOf('reset');
    act.mockClear();
    expect(await laterRefusalOf(prove('verify', { token }))).toMatchObject({ code: 'INVALID_EMAIL_TOKEN' });
    expect(await laterRefusalOf(prove('code', { token }))).toMatchObject({ code: 'INVALID_CODE' });
    const other = projectScope('b'.repeat(24));
    const invalid = { code: 'INVALID_EMAIL_TOKEN' };
    expect(await laterRefusalOf(withProof(other, 'reset', { token }, from, act))).toMatchObject(invalid);
    expect(await laterRefusalOf(prove('reset', { email: 'bob@example.com', otp: code }))).toMatchObject(invalid);
    const userId = 'c'.repeat(24);
    expect(await laterRefusalOf(prove('reset', { email, otp: code }, { ...from, userId }))).toMatchObject(invalid);
    expect(act).not.toHaveBeenCalled();
    await prove('reset', { token });
  });

  test('of a change is bound to the user who asked for it', async () => {
    const { _id } = addUser({ email: 'old@example.com' });
    const userId = _id.toHexString();
    await sendEmailToken(state.store, 'change', email, userId, changeKeyOf(userId, email));
    const [sent] = await mails();
    const proof = { email, otp: sent?.variables.code };
    const change = (place: Parameters<typeof withProof>[3]) =>
      withProof(state.store.scope, 'change', proof, place, act);
    expect(await laterRefusalOf(change({ ...from, userId: 'c'.repeat(24) }))).toMatchObject({
      code: 'INVALID_EMAIL_TOKEN',
    });
    expect(await change({ ...from, userId })).toMatchObject({ _id });
  });

  test.each<[string, Error, boolean]>([
    ['an error of the caller', new AppError('VALIDATION_FAILED', 'no'), true],
    ['a fault', new TypeError('broken'), true],
    ['a question for the second factor', new AppError('SECOND_FACTOR_REQUIRED', 'more'), false],
  ])('after %s: %#', async (_, error, isValid) => {
    addUser({ email });
    const { token } = await proofOf('code');
    act.mockRejectedValueOnce(error);
    await expect(prove('code', { token })).rejects.toBe(error);
    const again = prove('code', { token });
    if (isValid) expect(await again).toBeDefined();
    else expect(await laterRefusalOf(again)).toMatchObject({ code: 'INVALID_CODE' });
  });

  test('that did nothing is invalid, and is consumed', async () => {
    addUser({ email });
    const { token } = await proofOf('code');
    act.mockResolvedValueOnce(undefined as never);
    expect(await laterRefusalOf(prove('code', { token }))).toMatchObject({ code: 'INVALID_CODE' });
    expect(await laterRefusalOf(prove('code', { token }))).toMatchObject({ code: 'INVALID_CODE' });
  });
});

describe('a verification', () => {
  const verify = async (...bearer: [] | [Awaited<ReturnType<typeof signedIn>>]) =>
    verifyEmail(state.store, { token: (await proofOf('verify')).token }, client, ...bearer);

  test('with a session of the account keeps its credentials', async () => {
    const ann = addUser({ email, emailVerified: false, _signIn: { anonymous: { checkAt: new Date() } } });
    const bearer = await signedIn(ann);
    expect(await verify(bearer)).toBe('verified');
    expect(user(ann)).toMatchObject({ emailVerified: true, hasPassword: true });
    expect(user(ann)?._signIn).toEqual({});
    await requireSession(state.store.scope, bearer.userId, bearer.sessionId);
  });

  test('from elsewhere takes over the account, and ends its sessions', async () => {
    const ann = addUser({ email, emailVerified: false });
    const bearer = await signedIn(ann);
    expect(await verify()).toBe('takenOver');
    expect(user(ann)).toMatchObject({ emailVerified: true, hasPassword: false });
    expect(await laterRefusalOf(requireSession(state.store.scope, bearer.userId, bearer.sessionId))).toBeDefined();
  });

  test('with a session of another account takes over, too', async () => {
    const ann = addUser({ email, emailVerified: false });
    expect(await verify(await signedIn(addUser()))).toBe('takenOver');
    expect(user(ann)).toMatchObject({ hasPassword: false });
  });

  test('changes no account that was verified meanwhile', async () => {
    const ann = addUser({ email, emailVerified: false });
    const { token } = await proofOf('verify');
    setUser(ann, { emailVerified: true });
    expect(await verifyEmail(state.store, { token }, client)).toBe('verified');
    expect(user(ann)).toMatchObject({ hasPassword: true });
  });

  test('repeats a takeover when the account was verified and changed meanwhile', async () => {
    const ann = addUser({ email, emailVerified: false });
    const { token } = await proofOf('verify');
    mongo.state.before = { name: 'findAndModify', act: async () => setUser(ann, { emailVerified: true }) };
    expect(await verifyEmail(state.store, { token }, client)).toBe('verified');
    expect(user(ann)).toMatchObject({ hasPassword: true });
  });

  test.each([true, false])('400 INVALID_EMAIL_TOKEN for a disabled account; with its session: %s', async (isOwn) => {
    const ann = addUser({ email, emailVerified: false });
    const bearer = isOwn ? [await signedIn(ann)] : [];
    const { token } = await proofOf('verify');
    setUser(ann, { isDisabled: true });
    const verifying = verifyEmail(state.store, { token }, client, ...bearer);
    expect(await laterRefusalOf(verifying)).toMatchObject({ code: 'INVALID_EMAIL_TOKEN' });
    expect(user(ann)).toMatchObject({ emailVerified: false, hasPassword: true });
  });

  test('400 INVALID_EMAIL_TOKEN when the account was deleted or has another address', async () => {
    const other = addUser({ email: 'other@example.com', emailVerified: false });
    const ann = addUser({ email, emailVerified: false });
    const { token } = await proofOf('verify');
    setUser(ann, { email: 'new@example.com' });
    expect(await laterRefusalOf(verifyEmail(state.store, { token }, client))).toMatchObject({
      code: 'INVALID_EMAIL_TOKEN',
    });
    expect([user(ann), user(other)]).toMatchObject([{ emailVerified: false }, { emailVerified: false }]);
  });

  test('401 TOKEN_INVALID with a session that ended, and the proof stays valid', async () => {
    const ann = addUser({ email, emailVerified: false });
    const { userId } = await signedIn(ann);
    const { token } = await proofOf('verify');
    const ended = { userId, sessionId: 'c'.repeat(24), amr: [] };
    expect(await laterRefusalOf(verifyEmail(state.store, { token }, client, ended))).toMatchObject({
      code: 'TOKEN_INVALID',
    });
    expect(await verifyEmail(state.store, { token }, client)).toBe('takenOver');
  });
});

describe('a reset of a password', () => {
  const reset = async (token: string, password = 'a new passphrase') =>
    resetPassword(state.store, { token }, password, client);

  test.each([true, false])('ends sessions; of a verified account (%s) other sign-in methods stay', async (verified) => {
    const identities = [{ provider: 'github' as const, id: '1', key: 'github:1' }];
    const ann = addUser({ email, emailVerified: verified, identities });
    const bearer = await signedIn(ann);
    await reset((await proofOf('reset')).token);
    const { password, emailVerified, identities: left } = user(ann) ?? {};
    expect(await verifyPassword('a new passphrase', password)).toBe(true);
    expect([emailVerified, left]).toEqual([true, verified ? identities : undefined]);
    expect(await laterRefusalOf(requireSession(state.store.scope, bearer.userId, bearer.sessionId))).toBeDefined();
    expect((await mails()).at(-1)).toMatchObject({ to: email, template: 'account-change' });
  });

  test('400 VALIDATION_FAILED for a bad password, and the token stays valid', async () => {
    addUser({ email });
    const { token } = await proofOf('reset');
    expect(await laterRefusalOf(reset(token, 'short'))).toMatchObject({ code: 'VALIDATION_FAILED' });
    await reset(token);
  });

  test('400 INVALID_EMAIL_TOKEN for a disabled account', async () => {
    const ann = addUser({ email });
    const { token } = await proofOf('reset');
    setUser(ann, { isDisabled: true });
    expect(await laterRefusalOf(reset(token))).toMatchObject({ code: 'INVALID_EMAIL_TOKEN' });
    expect(user(ann)).toMatchObject({ password: 'none' });
  });
});

describe('an email with a link and a code', () => {
  const requested = async (kind: 'verify' | 'reset' | 'code', options = {}) => {
    await requestEmailToken(state.store, kind, email, options);
    return (await mails()).at(-1);
  };

  test.each<[string, object, 'verify' | 'reset' | 'code', boolean]>([
    ['a user', {}, 'reset', true],
    ['a user', {}, 'code', true],
    ['a verified user', {}, 'verify', false],
    ['an unverified user', { emailVerified: false }, 'verify', true],
    ['an unverified user', { emailVerified: false }, 'reset', true],
    ['a disabled user', { isDisabled: true }, 'reset', false],
    ['a disabled user', { isDisabled: true, emailVerified: false }, 'verify', false],
  ])('for %s %j of kind %s is sent: %s', async (_, rest, kind, isSent) => {
    addUser({ email, ...rest });
    expect(await requested(kind, { forNewcomers: true })).toMatchObject({ to: isSent ? email : null });
  });

  test('for an address without an account is sent only for newcomers', async () => {
    expect(await requested('code')).toMatchObject({ to: null });
    expect(await requested('code', { forNewcomers: true })).toMatchObject({ to: email, template: 'sign-in-code' });
  });

  test('is sent one time a minute', async () => {
    addUser({ email });
    expect(await requested('reset')).toMatchObject({ to: email });
    time.now += 59_000;
    expect(await requested('reset')).toMatchObject({ to: null });
    time.now += 1000;
    expect(await requested('reset')).toMatchObject({ to: email });
  });

  test('that could not be queued does not delay the next one', async () => {
    addUser({ email });
    mail.down = true;
    expect(await laterRefusalOf(requested('reset'))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    mail.down = false;
    expect(await requested('reset')).toMatchObject({ to: email });
  });

  test('links to a page of the site, and is empty without one', () => {
    expect(linkTo('https://app.example.com/a/', 'page', 't')).toBe('https://app.example.com/a/page?token=t');
    expect(linkTo(null, 'page', 't')).toBe('');
  });

  test('of a new account goes to its address, if it has one', async () => {
    await sendVerification(state.store, { _id: new ObjectId() });
    expect(await mails()).toEqual([]);
    const ann = addUser({ email, emailVerified: false });
    await sendVerification(state.store, ann);
    expect(await mails()).toMatchObject([{ to: email, template: 'verification' }]);
  });
});
