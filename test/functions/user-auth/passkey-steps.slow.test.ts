import { hash, randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { SessionScope } from '../../../shared/accounts/sessions.ts';
import { developerScope, itemKey, projectScope } from '../../../shared/persistence/item-keys.ts';
import { challenge as challengeKind } from '../../../shared/persistence/table-keys.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { flag, newKey, type Oddity } from '../../support/clients/passkey-device.ts';
import { malformed, odditiesAt } from '../../support/data/passkey-oddities.ts';
import { expire } from '../../support/fixtures/items.ts';
import {
  consoleOrigin,
  developerPasskeys,
  passkeysOf,
  passkeySettings as settings,
} from '../../support/fixtures/passkeys.ts';
import { newDeveloper } from '../../support/fixtures/project.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

const refused = { status: 401, body: { code: 'INVALID_CREDENTIALS' } };
const invalid = { status: 400, body: { code: 'INVALID_PASSKEY' } };

let project: UsersProject;

beforeAll(async () => {
  project = await newUsersProject({ settings });
});

type Passkeys = ReturnType<typeof passkeysOf> | ReturnType<typeof developerPasskeys>;

/** The store under test, and other accounts with their own challenges and passkeys. */
interface Side {
  readonly passkeys: () => Passkeys;
  readonly newAccount: () => Promise<{ readonly token: string }>;
  readonly scope: () => SessionScope;
  readonly elsewhere: () => Promise<Passkeys>;
}

const users: Side = {
  passkeys: () => passkeysOf(project),
  newAccount: () => project.newUser(),
  scope: () => projectScope(project.id),
  elsewhere: async () => passkeysOf(await newUsersProject({ settings })),
};

const developers: Side = {
  passkeys: () => developerPasskeys(),
  newAccount: () => newDeveloper(),
  scope: () => developerScope,
  elsewhere: async () => {
    const at = { ...settings, siteUrl: consoleOrigin() };
    return passkeysOf(await newUsersProject({ settings: at }), consoleOrigin());
  },
};

const withStatement = (format: string, ...parts: readonly (readonly [string, unknown])[]): Oddity => ({
  format,
  statement: new Map(parts),
});

/** Faults of registrations only. */
const ofNewOnes = (): readonly (readonly [what: string, odd: Oddity, alg?: number])[] => [
  ['the type of a sign-in', { type: 'webauthn.get' }],
  ['an algorithm that was not asked for', {}, -35],
  ['no algorithm', { cose: Buffer.from([0xa0]) }],
  ['a key that is no CBOR', { cose: Buffer.from([0xff]) }],
  ['a key cut short', { cose: Buffer.from([0xa5, 1, 2]) }],
  ['bytes after the key', { cose: Buffer.concat([newKey(-7).cose, Buffer.of(0)]) }],
  ['an id that is too long', { id: randomBytes(1024) }],
  ['no id', { id: Buffer.alloc(0) }],
  ['a statement where none is due', withStatement('none', ['sig', Buffer.of(1)])],
  ['an unknown attestation', { format: 'sample' }],
  ...['fido-u2f', 'android-safetynet', 'android-key', 'tpm', 'apple'].map(
    (format) => [`attestation by ${format}`, { format }] as const,
  ),
  ['certificates', withStatement('packed', ['alg', -7], ['sig', Buffer.of(1)], ['x5c', Buffer.of(1)])],
  ['a statement that does not hold', withStatement('packed', ['alg', -7], ['sig', Buffer.of(1)])],
];

describe.each([
  ['users of a project', users],
  ['developers', developers],
] as const)('%s', (_who, side) => {
  let passkeys: Passkeys;

  beforeAll(() => {
    passkeys = side.passkeys();
  });

  /** Lets a challenge expire. */
  const expireChallenge = (challenge: string): Promise<void> =>
    expire(itemKey(challengeKind, side.scope(), { hash: hash('sha256', challenge, 'base64url') }));

  describe('a new passkey', () => {
    test('400 INVALID_PASSKEY, and nothing is added, for each step of WebAuthn that fails', async () => {
      const user = await side.newAccount();
      for (const [what, odd, alg] of [...odditiesAt(passkeys.origin), ...ofNewOnes()]) {
        const { response } = passkeys.make(await passkeys.options(user.token), odd, alg);
        expect(await passkeys.verify(user.token, { response }), what).toMatchObject(invalid);
      }
      expect(await passkeys.list(user.token)).toEqual([]);
    });

    test('400 INVALID_PASSKEY for a malformed credential; 413 for a huge one; 400 without one', async () => {
      const user = await side.newAccount();
      const { response } = passkeys.make(await passkeys.options(user.token));
      const inner = response.response;
      const deep = Buffer.alloc(20_000, 0x81).toString('base64url');
      const long = Buffer.from([0xbb, 255, 255, 255, 255, 255, 255, 255, 255]).toString('base64url');
      for (const [what, sent] of [
        ...malformed(response),
        ['no attestation', { ...response, response: { ...inner, attestationObject: undefined } }],
        ['attestation that is no CBOR', { ...response, response: { ...inner, attestationObject: '____' } }],
        ['attestation that is no map', { ...response, response: { ...inner, attestationObject: 'AQ' } }],
        ['attestation of many levels', { ...response, response: { ...inner, attestationObject: deep } }],
        ['attestation that names a length', { ...response, response: { ...inner, attestationObject: long } }],
      ] as const) {
        expect(await passkeys.verify(user.token, { response: sent }), what).toMatchObject(invalid);
      }
      const huge = { ...response, response: { ...inner, attestationObject: 'A'.repeat(70_000) } };
      expect(await passkeys.verify(user.token, { response: huge })).toMatchObject({ status: 413 });
      for (const body of [{}, { response: null }, { response: [] }, { response: 'text' }])
        expect(await passkeys.verify(user.token, body)).toMatchObject({
          status: 400,
          body: { code: 'VALIDATION_FAILED' },
        });
      expect((await passkeys.verify(user.token, { response })).status).toBe(201);
    });

    test('400 INVALID_PASSKEY for a challenge of another user or of a sign-in, and for a used or expired one', async () => {
      const [user, other] = [await side.newAccount(), await side.newAccount()];
      const own = await passkeys.options(user.token);
      const { challenge } = await passkeys.options(other.token);
      expect(await passkeys.verify(user.token, passkeys.make({ ...own, challenge }))).toMatchObject(invalid);
      const { challenge: ofSignIn } = await passkeys.challenge();
      expect(await passkeys.verify(user.token, passkeys.make({ ...own, challenge: ofSignIn }))).toMatchObject(invalid);
      const late = await passkeys.options(user.token);
      await expireChallenge(late.challenge);
      expect(await passkeys.verify(user.token, passkeys.make(late))).toMatchObject(invalid);
      expect((await passkeys.verify(user.token, passkeys.make(own))).status).toBe(201);
      expect(await passkeys.verify(user.token, passkeys.make(own))).toMatchObject(invalid);
    });

    test('201 for one of 50 concurrent requests with one challenge', async () => {
      const user = await side.newAccount();
      const options = await passkeys.options(user.token);
      const answers = await inParallel(50, () => passkeys.verify(user.token, passkeys.make(options)));
      expect(tally(answers)).toEqual({ 201: 1, 400: 49 });
      expect(await passkeys.list(user.token)).toHaveLength(1);
    });

    test('400 INVALID_PASSKEY for a registered credential, of the same or another user, for concurrent requests', async () => {
      const [user, other] = [await side.newAccount(), await side.newAccount()];
      const { id } = await passkeys.add(user.token);
      const again = { id: Buffer.from(id, 'base64url') };
      for (const token of [user.token, other.token]) {
        expect(await passkeys.verify(token, passkeys.make(await passkeys.options(token), again))).toMatchObject(
          invalid,
        );
      }
      const fresh = { id: randomBytes(32) };
      const people = await Promise.all([user, other, side.newAccount(), side.newAccount()]);
      const all = await Promise.all(people.map(async ({ token }) => [token, await passkeys.options(token)] as const));
      const answers = await Promise.all(
        all.map(([token, options]) => passkeys.verify(token, passkeys.make(options, fresh))),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400]);
    });

    test('201 for a self attestation', async () => {
      const user = await side.newAccount();
      const made = passkeys.make(await passkeys.options(user.token), { format: 'packed' });
      expect((await passkeys.verify(user.token, made)).status).toBe(201);
    });
  });

  describe('a sign-in by passkey', () => {
    test('401 INVALID_CREDENTIALS, the same for each step of WebAuthn that fails; the passkey stays valid', async () => {
      const user = await side.newAccount();
      const credential = await passkeys.add(user.token, { counter: 5 });
      credential.counter = 6;
      const stranger = passkeys.make(await passkeys.options(user.token)).credential;
      const messages = new Set<unknown>();
      for (const [what, odd] of [
        ...odditiesAt(passkeys.origin),
        ['the type of a registration', { type: 'webauthn.create' }],
        ['another key', { signWith: stranger.privateKey }],
        ['another key and a counter that went back', { signWith: stranger.privateKey, counter: 1 }],
        ['another kind of backup', { flags: flag.present | flag.verified | flag.mayBackUp }],
        ['no user', { userHandle: undefined }],
        ['nobody', { userHandle: Buffer.alloc(12).toString('base64url') }],
        ['a user that is none', { userHandle: 'AAAA' }],
      ] as const) {
        const answer = await passkeys.signIn(credential, odd);
        expect(answer, what).toMatchObject(refused);
        messages.add(answer.body.message);
      }
      for (const [what, sent] of malformed(passkeys.use(credential, await passkeys.challenge()))) {
        const answer = await passkeys.enter(sent ?? {});
        expect(answer, what).toMatchObject(refused);
        messages.add(answer.body.message);
      }
      expect(messages.size).toBe(1);
      expect(await passkeys.list(user.token)).toMatchObject([{ locked: false, lastUsedAt: null }]);
      expect((await passkeys.signIn(credential)).status).toBe(200);
    });

    test('401 for a credential of another user or project, or an unknown one', async () => {
      const [user, other] = [await side.newAccount(), await side.newAccount()];
      const [own, others] = [await passkeys.add(user.token), await passkeys.add(other.token)];
      expect(await passkeys.signIn(own, { userHandle: others.userHandle })).toMatchObject(refused);
      expect(await passkeys.signIn({ ...own, privateKey: others.privateKey })).toMatchObject(refused);
      const elsewhere = await side.elsewhere();
      expect(await elsewhere.signIn(own)).toMatchObject(refused);
      const foreign = passkeys.use(own, await elsewhere.challenge());
      expect(await passkeys.enter(foreign)).toMatchObject(refused);
    });

    test('401 for a challenge older than 5 minutes, or one of a registration', async () => {
      const user = await side.newAccount();
      const credential = await passkeys.add(user.token);
      const late = await passkeys.challenge();
      await expireChallenge(late.challenge);
      expect(await passkeys.enter(passkeys.use(credential, late))).toMatchObject(refused);
      const { challenge } = await passkeys.options(user.token);
      expect(await passkeys.signIn(credential, { challenge })).toMatchObject(refused);
    });

    test('401 for a counter that is not higher; a lower one locks the passkey', async () => {
      const user = await side.newAccount();
      const credential = await passkeys.add(user.token, { counter: 5 });
      expect((await passkeys.signIn(credential, { counter: 7 })).status).toBe(200);
      expect(await passkeys.signIn(credential, { counter: 7 })).toMatchObject(refused);
      expect(await passkeys.list(user.token)).toMatchObject([{ locked: false }]);
      expect((await passkeys.signIn(credential, { counter: 9 })).status).toBe(200);
      expect(await passkeys.signIn(credential, { counter: 8 })).toMatchObject(refused);
      expect(await passkeys.list(user.token)).toMatchObject([{ locked: true }]);
      expect(await passkeys.signIn(credential, { counter: 99 })).toMatchObject(refused);
      const silent = await passkeys.add(user.token, { counter: 3 });
      expect(await passkeys.signIn(silent, { counter: 0 })).toMatchObject(refused);
      expect(await passkeys.list(user.token)).toMatchObject([{ locked: true }, { locked: true }]);
    });
  });
});

test('401 for the passkey of a disabled or deleted user', async () => {
  const passkeys = passkeysOf(project);
  const user = await project.newUser();
  const credential = await passkeys.add(user.token);
  const path = `/api/projects/${project.id}/users/${user.userId}`;
  await project.developer.dashboard('PATCH', path, { disabled: true });
  expect(await passkeys.signIn(credential)).toMatchObject(refused);
  await project.developer.dashboard('PATCH', path, { disabled: false });
  expect((await passkeys.signIn(credential)).status).toBe(200);
  expect((await project.developer.dashboard('DELETE', path)).status).toBe(200);
  expect(await passkeys.signIn(credential)).toMatchObject(refused);
});
