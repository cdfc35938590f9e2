import { beforeEach, describe, expect, test, vi } from 'vitest';
import { raiseCredentialVersion } from '../../../../shared/accounts/credentials.ts';
import { parseRefreshToken, requireSession } from '../../../../shared/accounts/sessions.ts';
import { finishSignIn } from '../../../../shared/accounts/social/finish-sign-in.ts';
import {
  linkAccount,
  linkProvider,
  linkToCurrentUser,
  unlinkProvider,
} from '../../../../shared/accounts/social/link.ts';
import {
  type IdentityProvider,
  requireProvider,
  type SocialProfile,
} from '../../../../shared/accounts/social/providers.ts';
import { consumeState, exchangeCode, startState } from '../../../../shared/accounts/social/start-sign-in.ts';
import type { OpenMethods } from '../../../../shared/accounts/step-up.ts';
import type { UserRecord } from '../../../../shared/accounts/users/users.ts';
import { AppError } from '../../../../shared/core/errors.ts';
import { projectScope } from '../../../../shared/persistence/item-keys.ts';
import { laterRefusalOf } from '../../../support/data/refusal.ts';
import { useMemoryAccounts } from '../../../support/fixtures/memory-accounts.ts';

vi.mock('node:timers/promises', async (original) => ({
  ...(await original<typeof import('node:timers/promises')>()),
  setTimeout: async () => pause(),
}));
/** Runs instead of each pause between attempts. */
let pause: () => unknown = () => undefined;

const { state, mongo, client, time, addUser, user, setUser, signedIn, mails } = useMemoryAccounts();
const email = 'ann@example.com';
const verifier = 'v'.repeat(43);
const github = requireProvider('github');
const app = { clientId: 'client', clientSecret: 'secret', callback: 'https://api.example.com/callback' };
const key = 'github:7';
const identity = { provider: 'github', id: '7', key };
const profileOf = (addresses: SocialProfile['addresses'] = [{ email, verified: true }]): SocialProfile => ({
  ...{ id: '7', name: 'Ann', username: 'ann' },
  addresses,
});

/** What the provider responds to a request for tokens, and how often it was asked. */
const provider = { token: { access_token: 'token' } as object, status: 200, asked: 0, emails: [] as object[] };
const own: IdentityProvider = {
  ...github,
  ask: async (url) => {
    provider.asked += 1;
    if (url === github.urls.token) return { status: provider.status, text: JSON.stringify(provider.token) };
    if (url === github.profileUrls.user)
      return { status: 200, text: JSON.stringify({ id: 7, login: 'ann', name: 'Ann' }) };
    return { status: 200, text: JSON.stringify(provider.emails) };
  },
};

beforeEach(() => {
  pause = () => undefined;
  Object.assign(provider, { token: { access_token: 'token' }, status: 200, asked: 0 });
  provider.emails = [{ email, primary: true, verified: true }];
});

const opened: object[] = [];
const open = async ({ email: address, identity: of }: { email: string | undefined; identity: object }) => {
  opened.push({ address, of });
  return addUser({ email: address, identities: [of], hasPassword: false });
};
const link = (begunBy?: string, profile = profileOf(), of: IdentityProvider = own) =>
  linkAccount(state.store, open, of, profile, begunBy);
const isOpen = ({ userId, sessionId }: { userId: string; sessionId: string }) =>
  requireSession(state.store.scope, userId, sessionId).then(
    () => true,
    () => false,
  );
const failed = { code: 'SOCIAL_SIGN_IN_FAILED' };

describe('an identity of a provider', () => {
  test('signs in to the account that has it', async () => {
    const { _id } = addUser({ identities: [identity] });
    addUser({ email });
    expect(await link()).toMatchObject({ account: { _id }, key, isNew: false, linkedByEmail: false });
  });

  test('is added to the account with a verified address of the provider', async () => {
    const ann = addUser({ email });
    const addresses = [
      { email: 'none@example.com', verified: true },
      { email, verified: true },
    ];
    expect(await link(undefined, profileOf(addresses))).toMatchObject({
      account: { _id: ann._id, identities: [identity], hasPassword: true },
      isNew: false,
      linkedByEmail: true,
    });
  });

  test('takes over an account that never verified its address', async () => {
    const ann = addUser({ email, emailVerified: false, identities: [{ ...identity, key: 'github:8' }] });
    const bearer = await signedIn(ann);
    expect(await link()).toMatchObject({ account: { _id: ann._id, identities: [identity] }, linkedByEmail: true });
    expect([user(ann)?.hasPassword, user(ann)?.emailVerified, await isOpen(bearer)]).toEqual([false, true, false]);
  });

  test.each<[string, object]>([
    ['with it', { identities: [identity] }],
    ['with its address', { email }],
  ])('of a disabled account %s is an error', async (_, rest) => {
    addUser({ ...rest, isDisabled: true });
    expect(await laterRefusalOf(link())).toMatchObject(failed);
  });

  test('of a provider that verifies addresses needs a verified one, and unverified ones link nothing', async () => {
    addUser({ email });
    expect(await laterRefusalOf(link(undefined, profileOf([{ email, verified: false }])))).toMatchObject(failed);
    expect(await laterRefusalOf(link(undefined, profileOf([])))).toMatchObject(failed);
    const unproven = { ...own, verifiesAddresses: false };
    opened.length = 0;
    expect(await link(undefined, profileOf([{ email, verified: true }]), unproven)).toMatchObject({ isNew: true });
    expect(opened).toEqual([{ address: undefined, of: identity }]);
  });

  test('turns the anonymous account that began into one with the identity and address', async () => {
    const ann = addUser({ email: undefined, hasPassword: false, _signIn: { anonymous: { checkAt: new Date() } } });
    expect(await link(String(ann._id))).toMatchObject({
      account: { _id: ann._id, email, emailVerified: true },
      isNew: false,
    });
    expect(user(ann)?._signIn).toEqual({});
    const other = addUser({ email: undefined, _signIn: { anonymous: { checkAt: new Date() } } });
    const unproven = { ...own, verifiesAddresses: false };
    const upgraded = await link(String(other._id), { ...profileOf(), id: '8' }, unproven);
    expect(upgraded.account).toMatchObject({ _id: other._id, identities: [{ key: 'github:8' }] });
    expect(upgraded.account.email).toBeUndefined();
  });

  test.each<[string, object]>([
    ['is no longer anonymous', { _signIn: {} }],
    ['is disabled', { isDisabled: true }],
  ])('opens another account when the one that began %s, also meanwhile', async (_, change) => {
    const anonymous = { email: undefined, _signIn: { anonymous: { checkAt: new Date() } } };
    for (const meanwhile of [false, true]) {
      const ann = addUser(anonymous);
      const act = async () => setUser(ann, change);
      if (meanwhile) mongo.state.before = { name: 'findAndModify', act };
      else await act();
      const id = meanwhile ? '8' : '9';
      const result = await link(String(ann._id), {
        ...profileOf([{ email: `${id}@example.com`, verified: true }]),
        id,
      });
      expect([result.isNew, user(ann)?.identities]).toEqual([true, []]);
    }
  });

  test.each<[string, object]>([
    ['disabled', { isDisabled: true }],
    ['given another address', { email: 'new@example.com' }],
    ['unverified', { emailVerified: false }],
    ['given the identity', { identities: [identity] }],
  ])('is not linked to an account that is %s meanwhile without another look', async (_, change) => {
    const ann = addUser({ email });
    mongo.state.before = { name: 'findAndModify', act: async () => setUser(ann, change) };
    await link().catch(() => undefined);
    expect(user(ann)?.identities?.length ?? 0).toBeLessThanOrEqual(1);
    const isLinked = user(ann)?.identities?.some((one) => one.key === key) ?? false;
    expect(isLinked).toBe('identities' in change || 'emailVerified' in change);
  });

  test('that is opened by another request at the same time is found', async () => {
    const opening = vi.fn(async () => {
      if (opening.mock.calls.length === 1) return undefined;
      if (opening.mock.calls.length === 2) throw new AppError('DUPLICATE_VALUE', 'taken');
      return addUser({ email, identities: [identity] });
    });
    expect(await linkAccount(state.store, opening, own, profileOf())).toMatchObject({ isNew: true });
    expect(opening).toHaveBeenCalledTimes(3);
    const never = vi.fn(async () => undefined);
    const refusal = await laterRefusalOf(
      linkAccount(state.store, never, own, { ...profileOf([{ email: 'x@example.com', verified: true }]), id: '1' }),
    );
    expect([refusal.code, never.mock.calls.length]).toEqual(['TOO_MANY_WRITERS', 5]);
  });
});

describe('linking a provider to the current user', () => {
  const linkTo = (bearer: { userId: string; sessionId: string }) =>
    linkToCurrentUser(state.store, own, profileOf(), bearer);

  test('adds the identity, notifies the owner, and is no error when it is there', async () => {
    const ann = addUser({ _signIn: { anonymous: { checkAt: new Date() } } });
    const bearer = await signedIn(ann);
    await linkTo(bearer);
    await linkTo(bearer);
    expect(user(ann)).toMatchObject({ identities: [identity], _signIn: {} });
    expect((await mails()).map(({ variables }) => variables.change)).toEqual([
      expect.stringContaining('GitHub was added'),
    ]);
  });

  test('401 without the session that began, and for a disabled account', async () => {
    const ann = addUser();
    const bearer = await signedIn(ann);
    const invalid = { code: 'TOKEN_INVALID' };
    expect(await laterRefusalOf(linkTo({ ...bearer, sessionId: 'c'.repeat(24) }))).toMatchObject(invalid);
    setUser(ann, { isDisabled: true });
    expect(await laterRefusalOf(linkTo(bearer))).toMatchObject(invalid);
    expect(user(ann)?.identities).toEqual([]);
  });

  test.each([{ credentialVersion: 9 }, { isDisabled: true }])(
    'fails when the account is changed meanwhile: %j',
    async (change) => {
      const ann = addUser();
      const bearer = await signedIn(ann);
      mongo.state.before = { name: 'findAndModify', act: async () => setUser(ann, change) };
      expect(await laterRefusalOf(linkTo(bearer))).toMatchObject(failed);
      expect([user(ann)?.identities, await mails()]).toEqual([[], []]);
    },
  );

  test('fails when another account has the identity', async () => {
    addUser({ identities: [identity] });
    const refusal = await laterRefusalOf(linkTo(await signedIn(addUser())));
    expect(refusal.message).toContain('already signs in to another account');
  });

  test('403 REAUTHENTICATION_REQUIRED to begin it long after the sign-in', async () => {
    const bearer = await signedIn(addUser());
    const site = { scope: state.store.scope, siteUrl: 'https://app.example.com', app: async () => app };
    const begin = () => linkProvider(state.store, site, async () => own, bearer);
    const { begun } = await begin();
    expect(await consumeState(state.store.scope, begun.state, 'github', begun.verifier)).toMatchObject({
      begunBy: bearer.userId,
      linking: bearer.sessionId,
    });
    time.now += 601_000;
    expect(await laterRefusalOf(begin())).toMatchObject({ code: 'REAUTHENTICATION_REQUIRED' });
  });
});

describe('unlinking a provider', () => {
  const ways: OpenMethods = {
    ...{ password: true, emailCode: false, anonymous: false, passkey: false, secondFactor: 'optional' },
    providers: ['github', 'google'],
  };
  const unlink = async (ann: UserRecord, open: OpenMethods = ways) => {
    const bearer = await signedIn(ann);
    return unlinkProvider(state.store, bearer, 'github', open).then(() => bearer);
  };

  test('removes it, and ends other sessions', async () => {
    const google = { provider: 'google', id: '1', key: 'google:1' };
    const ann = addUser({ identities: [identity, google] });
    const other = await signedIn(ann);
    const bearer = await unlink(ann);
    expect(user(ann)?.identities).toEqual([google]);
    expect([await isOpen(bearer), await isOpen(other)]).toEqual([true, false]);
    expect((await mails()).at(-1)?.variables.change).toContain('GitHub was removed');
  });

  test('404 PROVIDER_NOT_LINKED, also when it was removed meanwhile', async () => {
    const notLinked = { code: 'PROVIDER_NOT_LINKED' };
    expect(await laterRefusalOf(unlink(addUser({ identities: undefined })))).toMatchObject(notLinked);
    const google = { provider: 'google', id: '1', key: 'google:1' };
    expect(await laterRefusalOf(unlink(addUser({ identities: [google] })))).toMatchObject(notLinked);
    const ann = addUser({ identities: [identity] });
    mongo.state.before = { name: 'findAndModify', act: async () => setUser(ann, { identities: [] }) };
    expect(await laterRefusalOf(unlink(ann))).toMatchObject(notLinked);
  });

  test('409 LAST_WAY_TO_SIGN_IN for the only sign-in method', async () => {
    const ann = addUser({ identities: [identity] });
    const last = { code: 'LAST_WAY_TO_SIGN_IN' };
    expect(await laterRefusalOf(unlink(ann, { ...ways, password: false }))).toMatchObject(last);
    expect(user(ann)?.identities).toHaveLength(1);
  });
});

describe('the return from a provider', () => {
  const begin = (begunBy?: string, linking?: string) =>
    startState(state.store.scope, 'github', verifier, begunBy, linking);
  const finish = async (sent: Partial<Parameters<typeof finishSignIn>[2]> = {}, of: IdentityProvider = own) => {
    const { location } = await finishSignIn(
      {
        store: state.store,
        siteUrl: 'https://app.example.com',
        credentials: async () => app,
        opening: async () => open,
        told: ({ isNew }) => ({ isNewUser: String(isNew) }),
      },
      async () => of,
      { state: await begin(), verifier, code: 'code', ...sent },
      client,
    );
    const url = new URL(location);
    expect(url.pathname).toBe('/auth/callback');
    return {
      ...Object.fromEntries(url.searchParams),
      ...Object.fromEntries(new URLSearchParams(url.hash.slice(1))),
    } as Record<string, string>;
  };

  test('signs in, and its code is exchanged with the access token', async () => {
    const { token = '', rtCode = '', ...rest } = await finish();
    expect(rest).toEqual({ provider: 'github', isNewUser: 'true', linkedByEmail: 'false' });
    expect(await laterRefusalOf(exchangeCode(state.store.scope, rtCode, 'other'))).toMatchObject({
      code: 'INVALID_EXCHANGE_CODE',
    });
    expect(parseRefreshToken(await exchangeCode(state.store.scope, rtCode, token))).toBeDefined();
    expect(await laterRefusalOf(exchangeCode(state.store.scope, rtCode, token))).toMatchObject({
      code: 'INVALID_EXCHANGE_CODE',
    });
    expect(await mails()).toEqual([]);
  });

  test('to an account with the address notifies its owner', async () => {
    addUser({ email });
    expect(await finish()).toMatchObject({ linkedByEmail: 'true', isNewUser: 'false' });
    expect((await mails()).at(0)?.variables.change).toContain('GitHub was added');
  });

  test('works one time, in the browser that began, at its project and provider', async () => {
    const first = await begin();
    const expired = expect.stringContaining('has expired, was already used, or began in another browser');
    for (const sent of [{ state: undefined }, { verifier: undefined }, { verifier: 'other' }, { state: 'x' }]) {
      expect(await finish({ state: first, ...sent })).toEqual({ error: expired });
    }
    const other = await startState(state.store.scope, 'google', verifier);
    expect(await finish({ state: other })).toEqual({ error: expired });
    const elsewhere = await startState(projectScope('b'.repeat(24)), 'github', verifier);
    expect(await finish({ state: elsewhere })).toEqual({ error: expired });
    expect(await finish({ state: first })).toHaveProperty('token');
    expect(await finish({ state: first })).toEqual({ error: expired });
    const late = await begin();
    time.now += 600_000;
    expect(await finish({ state: late })).toEqual({ error: expired });
    expect(provider.asked).toBe(3);
  });

  test.each([
    [{ error: 'access_denied' }, 'was cancelled'],
    [{ error: 'server_error' }, 'did not confirm'],
    [{ error: 'server_error', code: undefined }, 'did not confirm'],
    [{ code: undefined }, 'did not confirm'],
    [{ code: '' }, 'did not confirm'],
  ])('%j is an error, and no code is redeemed', async (sent, message) => {
    expect((await finish(sent)).error).toContain(message);
    expect(provider.asked).toBe(0);
  });

  test.each<[boolean, string | undefined, string | undefined, boolean]>([
    [false, undefined, undefined, true],
    [false, 'https://one.example', undefined, true],
    [true, 'https://one.example', undefined, false],
    [true, 'https://one.example', 'https://one.example', true],
    [false, 'https://one.example', 'https://one.example', true],
    [false, 'https://one.example', 'https://two.example', false],
    [true, undefined, undefined, true],
    [false, undefined, 'https://two.example', true],
  ])('of a provider that sends its issuer (%s) %s, from %s: %s', async (sendsIssuer, issuer, sent, isGood) => {
    const urls = { ...github.urls, ...(issuer !== undefined && { issuer }) };
    const result = await finish({ issuer: sent }, { ...own, sendsIssuer, urls });
    expect('error' in result).toBe(!isGood);
  });

  test('links the provider to the session that began', async () => {
    const ann = addUser();
    const bearer = await signedIn(ann);
    expect(await finish({ state: await begin(bearer.userId, bearer.sessionId) })).toEqual({
      provider: 'github',
      linked: 'true',
    });
    expect(user(ann)?.identities).toEqual([identity]);
  });

  test('of an anonymous user without a session to link upgrades the account', async () => {
    const ann = addUser({ email: undefined, _signIn: { anonymous: { checkAt: new Date() } } });
    expect(await finish({ state: await begin(String(ann._id)) })).toMatchObject({ isNewUser: 'false' });
    expect(user(ann)).toMatchObject({ email });
  });

  test('of an account with a second factor has a ticket instead of tokens', async () => {
    addUser({ identities: [identity], _signIn: { totp: { sealed: 's', lastStep: 0, recovery: [] } } });
    const result = await finish();
    expect(result).toEqual({ provider: 'github', ticket: expect.any(String) });
  });

  test('waits while the account is changed, and fails when it lost the identity', async () => {
    const ann = addUser({ identities: [identity] });
    const replace = async (change: object) => {
      await raiseCredentialVersion(state.store.scope, String(ann._id), 5);
      pause = () => setUser(ann, change);
    };
    await replace({ credentialVersion: 5 });
    expect(await finish()).toHaveProperty('token');
    setUser(ann, { credentialVersion: 0 });
    await replace({ identities: [] });
    expect((await finish()).error).toContain('changed at the same time');
    setUser(ann, { credentialVersion: 0, identities: [identity] });
    await replace({ isDisabled: true });
    expect((await finish()).error).toContain('changed at the same time');
    setUser(ann, { credentialVersion: 0, isDisabled: undefined });
    let pauses = 0;
    pause = () => pauses++;
    expect((await finish()).error).toContain('changed at the same time');
    expect(pauses).toBe(4);
  });

  test.each([
    [400, { error: 'invalid_client' }, 'does not accept the client id or secret'],
    [200, { error: 'incorrect_client_credentials' }, 'does not accept the client id or secret'],
    [400, { error: 'bad_verification_code' }, 'did not confirm'],
    [500, { access_token: 'token' }, 'did not confirm'],
    [200, {}, 'did not confirm'],
  ])('with the status %i and %j for its code is an error', async (status, token, message) => {
    Object.assign(provider, { status, token });
    expect((await finish()).error).toContain(message);
    expect(provider.asked).toBe(1);
  });
});
