import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test } from 'vitest';
import { registerPasskey, signInWithPasskey } from '../../../../shared/accounts/passkeys/ceremony.ts';
import {
  deletePasskey,
  listPasskeys,
  maxPasskeys,
  type Passkey,
  type RelyingParty,
  relyingParty,
  renamePasskey,
  startPasskeySignIn,
  startRegistration,
} from '../../../../shared/accounts/passkeys/passkey.ts';
import { requireSession } from '../../../../shared/accounts/sessions.ts';
import type { OpenMethods } from '../../../../shared/accounts/step-up.ts';
import type { UserRecord } from '../../../../shared/accounts/users/users.ts';
import {
  type Credential,
  cbor,
  flag,
  makePasskey,
  newKey,
  usePasskey,
} from '../../../support/clients/passkey-device.ts';
import { malformed, odditiesAt } from '../../../support/data/passkey-oddities.ts';
import { laterRefusalOf, refusalOf } from '../../../support/data/refusal.ts';
import { useMemoryAccounts } from '../../../support/fixtures/memory-accounts.ts';

const { state, mongo, client, time, addUser, user, setUser, signedIn, mails } = useMemoryAccounts();
const site = 'https://app.example.com';
const other = 'https://below.app.example.com';
let party: RelyingParty;
let ann: UserRecord;
let bearer: Awaited<ReturnType<typeof signedIn>>;

beforeEach(async () => {
  party = relyingParty({ name: 'Shop', siteUrl: site, allowedDomains: [other, 'other.example.com'] });
  ann = addUser({ email: 'ann@example.com', _signIn: { anonymous: { checkAt: new Date() } } });
  bearer = await signedIn(ann);
});

type Odd = Parameters<typeof makePasskey>[1];
const stored = (): readonly Passkey[] => user(ann)?._signIn?.passkeys ?? [];
const store = (...passkeys: readonly Partial<Passkey>[]) => setUser(ann, { _signIn: { passkeys } });
const made = async (odd?: Odd, alg?: number) =>
  makePasskey(await startRegistration(state.store, party, bearer), odd, alg);
const register = async (odd?: Odd, alg?: number): Promise<Credential> => {
  const { credential, response } = await made(odd, alg);
  await registerPasskey(state.store, party, bearer, { response });
  return credential;
};
const signIn = async (credential: Credential, odd?: Parameters<typeof usePasskey>[2]) =>
  signInWithPasskey(
    state.store,
    party,
    usePasskey(credential, await startPasskeySignIn(state.store.scope, party), odd),
    client,
  );
const invalid = { code: 'INVALID_PASSKEY' };
const rejected = { code: 'INVALID_CREDENTIALS' };
const failure = (odd?: Odd, alg?: number) => laterRefusalOf(register(odd, alg));

describe('a registration of a passkey', () => {
  test('stores it, and the account is no longer anonymous', async () => {
    const { id } = await register();
    const [passkey] = stored();
    expect(passkey).toMatchObject({ id, counter: 0, isMultiDevice: false, name: 'Passkey', lastUsedAt: null });
    expect(user(ann)?._signIn).not.toHaveProperty('anonymous');
    expect((await mails()).at(-1)?.variables.change).toContain('A passkey was added');
    const options = await startRegistration(state.store, party, bearer);
    expect(options).toMatchObject({ rp: { id: 'app.example.com' }, excludeCredentials: [{ id }] });
  });

  test.each([-8, -7, -257])('accepts keys of the algorithm %i, and a statement of its own key', async (alg) => {
    await register({}, alg);
    await register({ format: 'packed' }, alg === -257 ? -7 : alg);
    expect(stored()).toHaveLength(2);
  });

  test.each(odditiesAt(site))('400 INVALID_PASSKEY for %s', async (_, odd) => {
    expect(await failure(odd as Odd)).toMatchObject(invalid);
    expect(stored()).toEqual([]);
  });

  test.each<[string, Odd, number]>([
    ['an attestation with certificates', { format: 'packed', statement: new Map([['x5c', new Map()]]) }, -7],
    ['an attestation of another kind', { format: 'fido-u2f' }, -7],
    [
      'a statement that does not hold',
      {
        format: 'packed',
        statement: new Map<string, unknown>([
          ['alg', -7],
          ['sig', Buffer.alloc(70)],
        ]),
      },
      -7,
    ],
    ['an algorithm that was not asked for', {}, -35],
    ['an id of 1,024 bytes', { id: Buffer.alloc(1024, 1) }, -7],
  ])('400 INVALID_PASSKEY for %s', async (_, odd, alg) => {
    expect(await failure(odd, alg)).toMatchObject(invalid);
  });

  test('400 INVALID_PASSKEY for a malformed body', async () => {
    const { response } = await made();
    for (const [, body] of malformed(response)) {
      expect(await laterRefusalOf(registerPasskey(state.store, party, bearer, { response: body }))).toMatchObject(
        invalid,
      );
    }
  });

  test('accepts an id of 1,023 bytes, and a page below the site that its project names', async () => {
    await register({ id: Buffer.alloc(1023, 1) });
    await register({ origin: other });
    expect(stored()).toHaveLength(2);
  });

  test.each([
    [1024, true],
    [1025, false],
  ])('of a key of %i bytes is accepted: %s', async (size, isAccepted) => {
    const { cose } = newKey(-7);
    // One more entry of the map, which WebAuthn ignores.
    const padded = Buffer.concat([Buffer.from([(cose[0] ?? 0) + 1]), cose.subarray(1), cbor(99)]);
    const registering = register({ cose: Buffer.concat([padded, cbor(Buffer.alloc(size - padded.length - 3))]) });
    if (isAccepted) expect(await registering).toBeDefined();
    else expect(await laterRefusalOf(registering)).toMatchObject(invalid);
  });

  test('is of one challenge, one time, within 5 minutes, and of its user', async () => {
    const { response } = await made();
    const send = (as = bearer) => registerPasskey(state.store, party, as, { response, name: 'Phone' });
    expect(await laterRefusalOf(send(await signedIn(addUser())))).toMatchObject(invalid);
    expect(await send()).toMatchObject({ name: 'Phone' });
    expect(await laterRefusalOf(send())).toMatchObject(invalid);
    const late = await made();
    time.now += 300_000;
    expect(await laterRefusalOf(registerPasskey(state.store, party, bearer, late))).toMatchObject(invalid);
    const challenge = (await startPasskeySignIn(state.store.scope, party)).challenge;
    expect(await failure({ challenge })).toMatchObject(invalid);
  });

  test('400 INVALID_PASSKEY when it is registered already, here or by another account', async () => {
    const { id } = await register();
    const bytes = Buffer.from(id, 'base64url');
    expect(await failure({ id: bytes })).toMatchObject(invalid);
    bearer = await signedIn(addUser());
    expect(await failure({ id: bytes })).toMatchObject(invalid);
    expect(stored()).toHaveLength(1);
  });

  test('403 LIMIT_REACHED with 20 passkeys, also if the last is added at the same time', async () => {
    const some = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ _id: new ObjectId(), id: `p${at}`, key: 'k' }));
    store(...some(maxPasskeys - 1));
    const { response } = await made();
    mongo.state.before = { name: 'findAndModify', act: async () => store(...some(maxPasskeys)) };
    expect(await laterRefusalOf(registerPasskey(state.store, party, bearer, { response }))).toMatchObject(invalid);
    const limit = { code: 'LIMIT_REACHED' };
    expect(await laterRefusalOf(startRegistration(state.store, party, bearer))).toMatchObject(limit);
    expect(await laterRefusalOf(registerPasskey(state.store, party, bearer, { response }))).toMatchObject(limit);
    store(...some(maxPasskeys - 1));
    await register();
  });

  test.each([{ isDisabled: true }, { credentialVersion: 9 }])(
    '400 INVALID_PASSKEY for an account that is changed meanwhile: %j',
    async (change) => {
      const { response } = await made();
      mongo.state.before = { name: 'findAndModify', act: async () => setUser(ann, change) };
      expect(await laterRefusalOf(registerPasskey(state.store, party, bearer, { response }))).toMatchObject(invalid);
    },
  );
});

describe('a sign-in with a passkey', () => {
  test('opens a session with two factors, and counts the use', async () => {
    await register({ id: Buffer.alloc(16, 9) });
    const credential = await register({ counter: 4 });
    time.now += 5000;
    const { account, session } = await signIn(credential, { counter: 5 });
    expect([account._id, session.amr]).toEqual([ann._id, ['passkey', 'mfa']]);
    expect(stored()[1]).toMatchObject({ counter: 5, lastUsedAt: new Date(time.now) });
    expect(stored()[0]).toMatchObject({ counter: 0, lastUsedAt: null });
  });

  test('of a device without a counter works again', async () => {
    const credential = await register();
    await signIn(credential);
    await signIn(credential);
    expect(stored()[0]?.locked).toBeUndefined();
  });

  test.each([
    [3, true],
    [4, undefined],
    [0, true],
  ])('401 INVALID_CREDENTIALS with the counter %i after 4; locked: %s', async (counter, locked) => {
    const credential = await register({ counter: 4 });
    expect(await laterRefusalOf(signIn(credential, { counter }))).toMatchObject(rejected);
    expect(stored()[0]?.locked).toBe(locked);
    const next = signIn(credential, { counter: 9 });
    if (locked) expect(await laterRefusalOf(next)).toMatchObject(rejected);
    else await next;
  });

  test('with the same counter is done by one of 20 at the same time, and none locks it', async () => {
    const credential = await register({ counter: 4 });
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => signIn(credential, { counter: 5 })));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(stored()[0]?.locked).toBeUndefined();
  });

  test.each(odditiesAt(site))('401 INVALID_CREDENTIALS for %s', async (_, odd) => {
    const credential = await register();
    expect(await laterRefusalOf(signIn(credential, odd))).toMatchObject(rejected);
    expect(stored()[0]).toMatchObject({ lastUsedAt: null });
  });

  test.each<[string, (credential: Credential) => Parameters<typeof usePasskey>[2]]>([
    ['a signature of another key', () => ({ signWith: newKey(-7).privateKey })],
    [
      'the handle of another user',
      () => ({ userHandle: Buffer.from(`${new ObjectId()}`, 'hex').toString('base64url') }),
    ],
    ['a passkey that is synced now', () => ({ flags: flag.present | flag.verified | flag.mayBackUp })],
  ])('401 INVALID_CREDENTIALS for %s', async (_, odd) => {
    const credential = await register();
    expect(await laterRefusalOf(signIn(credential, odd(credential)))).toMatchObject(rejected);
  });

  test('401 INVALID_CREDENTIALS for a passkey of another account, a locked one, and a challenge that was used', async () => {
    const credential = await register();
    const options = await startPasskeySignIn(state.store.scope, party);
    const used = usePasskey(credential, options);
    const send = (response: unknown) => signInWithPasskey(state.store, party, response, client);
    await send(used);
    expect(await laterRefusalOf(send(used))).toMatchObject(rejected);
    const registration = (await startRegistration(state.store, party, bearer)).challenge;
    expect(await laterRefusalOf(signIn(credential, { challenge: registration }))).toMatchObject(rejected);
    const [passkey] = stored();
    store({ ...passkey, id: 'another' });
    expect(await laterRefusalOf(signIn(credential))).toMatchObject(rejected);
    store({ ...passkey, locked: true });
    expect(await laterRefusalOf(signIn(credential))).toMatchObject(rejected);
    for (const [, body] of malformed(used)) expect(await laterRefusalOf(send(body))).toMatchObject(rejected);
  });

  test('401 INVALID_CREDENTIALS when the account is disabled or the passkey locked meanwhile', async () => {
    const credential = await register({ counter: 4 });
    for (const change of [{ isDisabled: true }, { _signIn: { passkeys: [{ ...stored()[0], locked: true }] } }]) {
      const before = { ...user(ann) };
      mongo.state.before = { name: 'update', act: async () => setUser(ann, change) };
      expect(await laterRefusalOf(signIn(credential, { counter: 5 }))).toMatchObject(rejected);
      expect(stored()[0]).toMatchObject({ counter: 4 });
      setUser(ann, { isDisabled: undefined, _signIn: before._signIn });
    }
  });

  test('503 when the database does not respond is no rejection', async () => {
    const credential = await register();
    const options = await startPasskeySignIn(state.store.scope, party);
    mongo.state.replies = { find: { ok: 0, code: 13, errmsg: 'down' } };
    const signing = signInWithPasskey(state.store, party, usePasskey(credential, options), client);
    expect(await laterRefusalOf(signing)).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  });
});

describe('a stored passkey', () => {
  const ways: OpenMethods = {
    ...{ password: false, emailCode: false, anonymous: false, passkey: true, secondFactor: 'optional' },
    providers: [],
  };
  const idAt = (at: number): string => String(stored()[at]?._id);

  test('is listed, renamed and deleted, and other sessions end', async () => {
    await register();
    await register();
    expect(await renamePasskey(state.store, bearer, idAt(1), 'Phone')).toMatchObject({ name: 'Phone', locked: false });
    expect((await listPasskeys(state.store, bearer)).map(({ name }) => name)).toEqual(['Passkey', 'Phone']);
    const open = await signedIn(ann);
    await deletePasskey(state.store, bearer, idAt(0), ways);
    expect((await listPasskeys(state.store, bearer)).map(({ name }) => name)).toEqual(['Phone']);
    expect((await mails()).at(-1)?.variables.change).toContain('A passkey was deleted');
    await requireSession(state.store.scope, bearer.userId, bearer.sessionId);
    expect(await laterRefusalOf(requireSession(state.store.scope, open.userId, open.sessionId))).toBeDefined();
    const locked = { ...stored()[0], locked: true as const };
    store(locked);
    expect(await listPasskeys(state.store, bearer)).toMatchObject([{ locked: true }]);
  });

  test('404 PASSKEY_NOT_FOUND for an unknown, malformed or another one', async () => {
    await register();
    for (const id of [String(new ObjectId()), 'malformed']) {
      const notFound = { code: 'PASSKEY_NOT_FOUND' };
      expect(await laterRefusalOf(renamePasskey(state.store, bearer, id, 'x'))).toMatchObject(notFound);
      expect(await laterRefusalOf(deletePasskey(state.store, bearer, id, ways))).toMatchObject(notFound);
    }
    const bob = await signedIn(addUser());
    expect(await laterRefusalOf(renamePasskey(state.store, bob, idAt(0), 'x'))).toBeDefined();
    expect(stored()).toMatchObject([{ name: 'Passkey' }]);
  });

  test('409 LAST_WAY_TO_SIGN_IN for the last sign-in method', async () => {
    await register();
    const last = { code: 'LAST_WAY_TO_SIGN_IN' };
    expect(await laterRefusalOf(deletePasskey(state.store, bearer, idAt(0), ways))).toMatchObject(last);
    await deletePasskey(state.store, bearer, idAt(0), { ...ways, password: true });
    expect(stored()).toEqual([]);
  });
});

describe('the relying party of a site', () => {
  const partyOf = (siteUrl: string | null, allowedDomains: readonly string[] = []) =>
    relyingParty({ name: 'Shop', siteUrl, allowedDomains });

  test.each([[null], ['http://127.0.0.1:3000'], ['https://[::1]'], ['not a url']])(
    '400 SITE_URL_REQUIRED for %s',
    (siteUrl) => {
      expect(refusalOf(() => partyOf(siteUrl))).toMatchObject({ code: 'SITE_URL_REQUIRED' });
    },
  );

  test.each<[string, readonly string[], string, boolean]>([
    [site, [], site, true],
    [site, [], `${site}/`, false],
    [site, [], 'https://evil.example', false],
    [site, ['https://evil.example'], 'https://evil.example', false],
    [site, ['evilapp.example.com'], 'https://evilapp.example.com', false],
    [site, [], other, false],
    [site, [other], other, true],
    ['http://app.example.com', [], 'http://app.example.com', false],
    ['http://localhost:3000', [], 'http://localhost:3000', true],
    ['http://a.localhost:3000', [], 'http://a.localhost:3000', true],
    ['http://a.localhost:3000', [], 'http://alocalhost:3000', false],
    [site, [], 'null', false],
  ])('of %s with %j allows %s: %s', (siteUrl, allowedDomains, origin, isAllowed) => {
    expect(partyOf(siteUrl, allowedDomains).allows(origin)).toBe(isAllowed);
  });
});

test('403 REAUTHENTICATION_REQUIRED to register a passkey long after the sign-in', async () => {
  setUser(ann, { _signIn: {} });
  const { response } = await made();
  time.now += 601_000;
  const registering = registerPasskey(state.store, party, bearer, { response });
  expect(await laterRefusalOf(registering)).toMatchObject({ code: 'REAUTHENTICATION_REQUIRED' });
});
