import type { Filter } from 'mongodb';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { DeveloperRecord } from '../../../shared/accounts/developers/developers.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { beforeChange } from '../../support/faults/before-change.ts';
import { linkDeveloper, logIn } from '../../support/fixtures/developers.ts';
import { newDeveloper, newUnverified } from '../../support/fixtures/project.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

const link = (email: string) =>
  linkDeveloper({ id: email, name: undefined, username: undefined, addresses: [{ email, verified: true }] });

const edit = (filter: Filter<DeveloperRecord>, set: Partial<DeveloperRecord>) =>
  onControl((db) => db.collection<DeveloperRecord>('developers').updateOne(filter, [{ $set: set }]));

const stored = (filter: Filter<DeveloperRecord>) =>
  onControl((db) => db.collection<DeveloperRecord>('developers').findOne(filter));

describe('a developer’s account that changes between lookup and link', () => {
  test('200 with a new account when the old one was deleted meanwhile, which gets no identity', async () => {
    for (const { email } of [await newDeveloper(), await newUnverified()]) {
      const gone = `deleted ${email}`;
      beforeChange('findOneAndUpdate', 1, () => edit({ email }, { email: gone, deletingSince: new Date() }));
      expect(await link(email)).toMatchObject({ isNew: true, account: { email } });
      vi.restoreAllMocks();
      expect(await stored({ email: gone })).toMatchObject({ identities: [] });
    }
  });

  test('200 by its password when its address was verified before the account would have been discarded', async () => {
    const { email, password } = await newUnverified();
    beforeChange('findOneAndUpdate', 1, () => edit({ email }, { emailVerified: true }));
    expect(await link(email)).toMatchObject({ isNew: false, linkedByEmail: true });
    vi.restoreAllMocks();
    expect((await logIn(email, password)).status).toBe(200);
  });

  test('200 for both of two concurrent links, and one identity', async () => {
    const { email } = await newDeveloper();
    const identities = [{ provider: 'github' as const, id: email, key: `github:${email}` }];
    beforeChange('findOneAndUpdate', 1, () => edit({ email }, { identities }));
    expect(await link(email)).toMatchObject({ isNew: false, linkedByEmail: false });
    expect(await stored({ email })).toMatchObject({ identities });
  });

  test('401 for the password when the address was no longer verified at the link', async () => {
    const { email, password } = await newDeveloper();
    beforeChange('findOneAndUpdate', 1, () => edit({ email }, { emailVerified: false }));
    expect(await link(email)).toMatchObject({ linkedByEmail: true, account: { hasPassword: false } });
    vi.restoreAllMocks();
    expect((await logIn(email, password)).status).toBe(401);
  });
});
