import { describe, expect, test } from 'vitest';
import { changeEmail, changePassword, requestEmailChange } from '../../../shared/accounts/change-credentials.ts';
import { hashPassword, verifyPassword } from '../../../shared/accounts/passwords.ts';
import { requireSession } from '../../../shared/accounts/sessions.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { tokenIn, useMemoryAccounts } from '../../support/fixtures/memory-accounts.ts';

const { state, mongo, client, time, addUser, user, setUser, signedIn, mails } = useMemoryAccounts();
const [email, newEmail] = ['ann@example.com', 'new@example.com'];
const [currentPassword, newPassword] = ['the old passphrase', 'the new passphrase'];

const account = async (rest: object = {}) => {
  const ann = addUser({ email, password: await hashPassword(currentPassword), ...rest });
  return { ann, bearer: await signedIn(ann) };
};
type Bearer = Awaited<ReturnType<typeof signedIn>>;
const isOpen = ({ userId, sessionId }: Bearer) =>
  requireSession(state.store.scope, userId, sessionId).then(
    () => true,
    () => false,
  );

describe('a change of the password', () => {
  const change = (bearer: Bearer, rest: Partial<Parameters<typeof changePassword>[2]> = {}) =>
    changePassword(state.store, bearer, { currentPassword, newPassword, ...rest }, client);

  test('ends other sessions, and notifies the owner', async () => {
    const { ann, bearer } = await account();
    const other = await signedIn(ann);
    await change(bearer);
    expect(await verifyPassword(newPassword, user(ann)?.password)).toBe(true);
    expect([await isOpen(bearer), await isOpen(other)]).toEqual([true, false]);
    expect(await mails()).toMatchObject([{ to: email, variables: { change: 'Your password was changed.' } }]);
  });

  test('400 VALIDATION_FAILED for a bad password, and 401 INVALID_CREDENTIALS for a wrong one', async () => {
    const { ann, bearer } = await account();
    expect(await laterRefusalOf(change(bearer, { newPassword: 'short' }))).toMatchObject({ code: 'VALIDATION_FAILED' });
    for (const given of ['wrong passphrase', undefined]) {
      expect(await laterRefusalOf(change(bearer, { currentPassword: given }))).toMatchObject({
        code: 'INVALID_CREDENTIALS',
      });
    }
    expect(await verifyPassword(currentPassword, user(ann)?.password)).toBe(true);
  });

  test.each([
    [{}, { credentialVersion: 9 }, 'INVALID_CREDENTIALS'],
    [{}, { isDisabled: true }, 'INVALID_CREDENTIALS'],
    [{ hasPassword: false }, { credentialVersion: 9 }, 'TOKEN_INVALID'],
  ])('401 of an account %j that is changed meanwhile: %j', async (rest, meanwhile, code) => {
    const { ann, bearer } = await account(rest);
    mongo.state.before = { name: 'findAndModify', act: async () => setUser(ann, meanwhile) };
    expect(await laterRefusalOf(change(bearer))).toMatchObject({ code });
    expect(await verifyPassword(newPassword, user(ann)?.password)).toBe(false);
  });
});

describe('a change of the address', () => {
  const request = (bearer: Bearer, address = newEmail, password: string | undefined = currentPassword) =>
    requestEmailChange(state.store, bearer, { email: address, password }, client);
  const confirm = (bearer: Bearer, token: string) => changeEmail(state.store, bearer, { token }, client);
  const token = async () => {
    const sent = (await mails()).findLast(({ template }) => template === 'email-change');
    return sent ? tokenIn(sent) : '';
  };

  test('is confirmed at the new address, ends other sessions, and the owner is notified at the old one', async () => {
    const { ann, bearer } = await account();
    const other = await signedIn(ann);
    await request(bearer, ' New@Example.com ');
    expect(await mails()).toMatchObject([
      { to: newEmail, template: 'email-change' },
      { to: email, template: 'account-change' },
    ]);
    setUser(ann, { emailVerified: false });
    await confirm(bearer, await token());
    expect(user(ann)).toMatchObject({ email: newEmail, emailVerified: true });
    expect(user(ann)?._signIn).not.toHaveProperty('newEmail');
    expect([await isOpen(bearer), await isOpen(other)]).toEqual([true, false]);
    expect(await laterRefusalOf(confirm(bearer, await token()))).toMatchObject({ code: 'INVALID_EMAIL_TOKEN' });
  });

  test('that is asked for again is notified one time', async () => {
    const { bearer } = await account();
    await request(bearer);
    time.now += 61_000;
    await request(bearer);
    expect((await mails()).map(({ template }) => template)).toEqual(['email-change', 'account-change', 'email-change']);
  });

  test('is not notified for an account that was disabled or changed meanwhile', async () => {
    for (const change of [{ isDisabled: true }, { credentialVersion: 9 }]) {
      const { ann, bearer } = await account({ email: `${Object.keys(change)[0]}@example.com` });
      mongo.state.before = { name: 'update', act: async () => setUser(ann, change) };
      await request(bearer, `${Object.keys(change)[0]}.new@example.com`);
      expect(user(ann)?._signIn).toBeUndefined();
    }
    expect((await mails()).map(({ template }) => template)).toEqual(['email-change', 'email-change']);
  });

  test('400 VALIDATION_FAILED for the own address, and 401 INVALID_CREDENTIALS for a wrong password', async () => {
    const { bearer } = await account();
    expect(await laterRefusalOf(request(bearer, ' Ann@example.com'))).toMatchObject({ code: 'VALIDATION_FAILED' });
    expect(await laterRefusalOf(request(bearer, newEmail, 'wrong passphrase'))).toMatchObject({
      code: 'INVALID_CREDENTIALS',
    });
    expect(await mails()).toEqual([]);
  });

  test('to the address of another account sends nothing there, as does the eleventh in an hour', async () => {
    const { ann, bearer } = await account();
    addUser({ email: newEmail });
    await request(bearer);
    expect(await mails()).toMatchObject([{ to: null }, { to: email }]);
    for (let count = 0; count < 10; count++) {
      await request(await signedIn(addUser({ hasPassword: false })), 'many@example.com');
    }
    const sent = async () => (await mails()).filter(({ to }) => to === 'many@example.com').length;
    expect(await sent()).toBe(10);
    await request(await signedIn(ann), 'many@example.com');
    expect(await sent()).toBe(10);
  });

  test('401 TOKEN_INVALID after the session ended, and the proof stays valid', async () => {
    const { ann, bearer } = await account();
    await request(bearer);
    const ended = { ...bearer, sessionId: 'c'.repeat(24) };
    expect(await laterRefusalOf(confirm(ended, await token()))).toMatchObject({ code: 'TOKEN_INVALID' });
    await confirm(bearer, await token());
    expect(user(ann)).toMatchObject({ email: newEmail });
  });

  test.each([{ isDisabled: true }, { _signIn: {} }, { _signIn: { newEmail: 'third@example.com' } }])(
    '400 INVALID_EMAIL_TOKEN when the account is changed meanwhile: %j',
    async (change) => {
      const { ann, bearer } = await account();
      await request(bearer);
      setUser(ann, change);
      expect(await laterRefusalOf(confirm(bearer, await token()))).toMatchObject({ code: 'INVALID_EMAIL_TOKEN' });
      expect(user(ann)).toMatchObject({ email });
    },
  );

  test('400 INVALID_EMAIL_TOKEN for the session of another user', async () => {
    const { ann, bearer } = await account();
    await request(bearer);
    const bob = addUser({ email: 'bob@example.com', _signIn: { newEmail } });
    expect(await laterRefusalOf(confirm(await signedIn(bob), await token()))).toMatchObject({
      code: 'INVALID_EMAIL_TOKEN',
    });
    expect([user(ann), user(bob)]).toMatchObject([{ email }, { email: 'bob@example.com' }]);
  });

  test('409 DUPLICATE_VALUE when another account has the address by then, and the proof stays valid', async () => {
    const { bearer } = await account();
    await request(bearer);
    const bob = addUser({ email: newEmail });
    expect(await laterRefusalOf(confirm(bearer, await token()))).toMatchObject({ code: 'DUPLICATE_VALUE' });
    setUser(bob, { email: 'bob@example.com' });
    await confirm(bearer, await token());
  });
});
