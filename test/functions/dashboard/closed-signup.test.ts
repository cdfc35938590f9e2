import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { addDeveloper } from '../../../shared/accounts/developers/developers.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { logIn } from '../../support/fixtures/developers.ts';

const closed = {
  status: 403,
  body: {
    code: 'SIGNUP_DISABLED',
    message: 'Sign-up is closed. Ask the operator of this service for an account.',
  },
};

const newAddress = () => `closed-${randomUUID()}@example.com`;
const stored = (email: string) => onControl((db) => db.collection('developers').countDocuments({ email }));

describe('when the operator has closed registration', () => {
  beforeAll(() => {
    vi.resetModules();
    vi.stubEnv('DEVELOPER_SIGNUP', 'closed');
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    vi.resetModules();
  });

  test('403 for registering, whether or not the address has an account', async () => {
    const { handler } = await import('../../../functions/dashboard/auth/sign-up-developer.ts');
    const { email } = await addDeveloper(newAddress());
    for (const address of [email, newAddress()]) {
      const answer = await invoke(handler, { method: 'POST', body: { email: address, password: 'correct horse' } });
      expect(answer).toMatchObject(closed);
      expect(await stored(address)).toBe(address === email ? 1 : 0);
    }
  });

  test('403 for a first sign-in with GitHub; existing accounts keep working', async () => {
    const { linkDeveloper } = await import('../../support/fixtures/developers.ts');
    const profile = (email: string) => ({
      id: randomUUID(),
      name: undefined,
      username: 'someone',
      addresses: [{ email, verified: true }],
    });
    const address = newAddress();
    await expect(linkDeveloper(profile(address))).rejects.toMatchObject(closed.body);
    expect(await stored(address)).toBe(0);
    const { email } = await addDeveloper(newAddress());
    expect(await linkDeveloper(profile(email))).toMatchObject({ isNew: false, account: { email } });
  });
});

test('a developer added by the operator can sign in with the generated password', async () => {
  const { email, password } = await addDeveloper(` ${newAddress().toUpperCase()} `);
  expect(await logIn(email, password)).toMatchObject({ status: 200, body: { data: { developer: { plan: 'free' } } } });
  await expect(addDeveloper(email)).rejects.toMatchObject({ code: 'DEVELOPER_EXISTS' });
  await expect(addDeveloper('nobody')).rejects.toMatchObject({ code: 'VALIDATION_FAILED' });
});
