import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ObjectId } from 'mongodb';
import { type AccountRecord, accountStore } from '../../shared/accounts/account-store.ts';
import {
  credentialVersionOf,
  replaceCredentials,
  requireCredentialVersion,
} from '../../shared/accounts/credentials.ts';
import { startSession } from '../../shared/accounts/refresh-sessions.ts';
import { type SessionScope, sessionKey } from '../../shared/accounts/sessions.ts';
import { projectScope } from '../../shared/persistence/item-keys.ts';
import { FakeCollection } from '../support/fixtures/fake-collection.ts';
import { recordsIn } from './fake-records.ts';
import { model } from './model.ts';
import { unknownOf, type World } from './world.ts';

const scope: SessionScope = projectScope('a'.repeat(24));
const _id = new ObjectId('b'.repeat(24));
const client = { ip: '192.0.2.1', userAgent: 'test' };

const storeIn = (world: World) => {
  const fake = new FakeCollection();
  fake.insertOne({ _id, email: 'a@example.com', password: 'old', hasPassword: true });
  const mailOrigin = () => ({ project: null, siteName: '', siteUrl: null });
  const kind = { scope, hashField: 'password', mailOrigin, hasCheckedSession: false } as const;
  return accountStore<AccountRecord>(kind, { condition: {}, has: () => true }, recordsIn<AccountRecord>(world, fake));
};

const isThere = (world: World, sessionId: string): boolean => {
  const { pk, sk } = sessionKey(scope, _id.toHexString(), sessionId);
  return world.table.get({ pk: { S: pk }, sk: { S: sk } }) !== undefined;
};

/** Sign-ins while the password changes: no session of the old one survives, those of the new one stay. */
const changes = model(
  'change of a password',
  fc.array(fc.constantFrom('old', 'old', 'new', 'change'), { minLength: 2, maxLength: 5 }),
  async (world, all) => {
    const store = storeIn(world);
    const opened: { readonly password: string; readonly sessionId: string }[] = [];
    const signIn = async (password: string): Promise<void> => {
      const account = await store.find({ _id });
      if (account?.password !== password) return;
      const version = requireCredentialVersion(scope, _id.toHexString(), credentialVersionOf(account));
      const { sessionId } = await startSession(scope, _id.toHexString(), client, [version]);
      opened.push({ password, sessionId });
    };
    const changed = [...all, 'change'].map((kind) =>
      world.actor(async () => {
        if (kind === 'change') return (await replaceCredentials(store, { _id }, { password: 'new' })) !== undefined;
        await signIn(kind);
        return false;
      }),
    );
    await world.finish();
    if (unknownOf(changed) === 0 && !changed.some(({ isLate }) => isLate)) await signIn('new');
    if (!changed.some(({ outcome }) => outcome.kind === 'value' && outcome.value)) return;
    const open = opened.filter(({ sessionId }) => isThere(world, sessionId));
    assert.ok(
      open.every(({ password }) => password === 'new'),
      'A session of the old password is open',
    );
  },
);

export const credentials = [changes];
