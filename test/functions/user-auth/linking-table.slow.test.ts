import { ObjectId } from 'mongodb';
import * as v from 'valibot';
import { expect, inject, test } from 'vitest';
import type { Identity } from '../../../shared/accounts/account-store.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { Browser, target } from '../../support/clients/browser.ts';
import { call } from '../../support/clients/client.ts';
import {
  asProject,
  consent,
  landingOf,
  newSocialProject,
  startUrl,
  storedUsers,
} from '../../support/clients/social.ts';
import type { TestProject } from '../../support/fixtures/project.ts';

/** The person at the fake provider, and the provider's statement about the address. */
const says = {
  verified: ['gitlab', 'grace@example.com', '1002'],
  'not verified': ['gitlab', 'unverified@example.com', '1003'],
  nothing: ['facebook', 'grace@example.com', '1002'],
} as const;

const Cell = v.tuple([
  v.picklist(['verified', 'not verified', 'nothing']),
  v.picklist(['known', 'unknown']),
  v.picklist(['none', 'verified', 'unverified']),
  v.picklist(['anonymous', 'none']),
  /** The account that the sign-in ends in. */
  v.picklist([
    'refused',
    'the account of this identity',
    'the account of the address',
    'the anonymous one',
    'a new one',
  ]),
]);
type Outcome = v.InferOutput<typeof Cell>[4];

/** All cases of docs/guides/social-sign-in.md: address, identity, account, session, outcome. */
const table = `
| verified | known | none | none | the account of this identity |
| verified | known | none | anonymous | the account of this identity |
| verified | known | verified | none | the account of this identity |
| verified | known | verified | anonymous | the account of this identity |
| verified | known | unverified | none | the account of this identity |
| verified | known | unverified | anonymous | the account of this identity |
| verified | unknown | none | none | a new one |
| verified | unknown | none | anonymous | the anonymous one |
| verified | unknown | verified | none | the account of the address |
| verified | unknown | verified | anonymous | the account of the address |
| verified | unknown | unverified | none | the account of the address |
| verified | unknown | unverified | anonymous | the account of the address |
| not verified | known | none | none | refused |
| not verified | known | none | anonymous | refused |
| not verified | known | verified | none | refused |
| not verified | known | verified | anonymous | refused |
| not verified | known | unverified | none | refused |
| not verified | known | unverified | anonymous | refused |
| not verified | unknown | none | none | refused |
| not verified | unknown | none | anonymous | refused |
| not verified | unknown | verified | none | refused |
| not verified | unknown | verified | anonymous | refused |
| not verified | unknown | unverified | none | refused |
| not verified | unknown | unverified | anonymous | refused |
| nothing | known | none | none | the account of this identity |
| nothing | known | none | anonymous | the account of this identity |
| nothing | known | verified | none | the account of this identity |
| nothing | known | verified | anonymous | the account of this identity |
| nothing | known | unverified | none | the account of this identity |
| nothing | known | unverified | anonymous | the account of this identity |
| nothing | unknown | none | none | a new one |
| nothing | unknown | none | anonymous | the anonymous one |
| nothing | unknown | verified | none | a new one |
| nothing | unknown | verified | anonymous | the anonymous one |
| nothing | unknown | unverified | none | a new one |
| nothing | unknown | unverified | anonymous | the anonymous one |
`;

const rows = table
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => line.split('|').slice(1, 6))
  .map((cells) =>
    v.parse(
      Cell,
      cells.map((cell) => cell.trim()),
    ),
  );

test('the table has every case once', () => {
  expect(new Set(rows.map((row) => row.slice(0, 4).join())).size).toBe(36);
  expect(rows).toHaveLength(36);
});

const insert = async (project: TestProject, user: object): Promise<string> => {
  const _id = new ObjectId();
  await onProject(await asProject(project), (db) =>
    db.collection('users').insertOne({ _id, isDeleted: false, ...user }),
  );
  return _id.toHexString();
};

const enter = async (project: TestProject) => {
  const options = { key: project.publishableKey };
  const { baseUrl } = inject('stack');
  const { body } = await call<{ accessToken: string; userId: string }>(
    baseUrl,
    'POST',
    '/api/userAuth/anonymous',
    options,
  );
  return body;
};

test.each(rows)(
  'the provider says %s of the address, the identity is %s, the address has an account: %s, session: %s → %s',
  async (provider, identity, account, session, outcome) => {
    const [name, who, id] = says[provider];
    const project = await newSocialProject({ settings: { signIn: { anonymous: true } } });
    const identities: Identity[] = [{ provider: name, id, key: `${name}:${id}` }];
    const ids: Partial<Record<Outcome, string>> = {};
    if (identity === 'known') {
      ids['the account of this identity'] = await insert(project, { email: 'holder@example.com', identities });
    }
    if (account !== 'none') {
      const user = { email: who, emailVerified: account === 'verified' };
      ids['the account of the address'] = await insert(project, user);
    }
    const anonymous = session === 'anonymous' ? await enter(project) : undefined;
    if (anonymous) ids['the anonymous one'] = anonymous.userId;
    const before = await storedUsers(project);

    const browser = new Browser();
    const headers = anonymous ? { authorization: `Bearer ${anonymous.accessToken}` } : {};
    const callback = await consent(browser, startUrl(project, name), who, headers);
    const landing = landingOf(target(await browser.open(callback.href)));

    const after = await storedUsers(project);
    expect(after.length - before.length).toBe(outcome === 'a new one' ? 1 : 0);
    if (outcome === 'refused') expect(landing).toMatchObject({ error: expect.any(String), token: '', userId: '' });
    else expect(landing.error).toBeNull();
    if (outcome !== 'refused' && outcome !== 'a new one') expect(landing.userId).toBe(ids[outcome]);
    expect(landing.isNewUser).toBe(outcome === 'refused' ? null : String(outcome === 'a new one'));
    const holders = after.filter(({ identities: of }) => of?.some(({ key }) => key === `${name}:${id}`));
    if (outcome !== 'refused') expect(holders.map(({ _id }) => _id.toHexString())).toEqual([landing.userId]);
    // Other accounts stay unchanged.
    const others = after.filter(({ _id }) => _id.toHexString() !== landing.userId);
    const unchanged = before.filter(({ _id }) => _id.toHexString() !== landing.userId);
    expect(others).toEqual(unchanged);
  },
);
