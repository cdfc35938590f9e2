import { expect, test } from 'vitest';
import { audiencesOf, publicness, withoutUser, writersOf } from '../../console/pages/access/audiences.ts';
import { type Collection, noRowSecurity, type RowSecurity } from '../../shared/collections/collection.ts';

const collection = (name: string, rls: Partial<RowSecurity> = {}): Collection => ({
  name,
  schema: null,
  rls: { ...noRowSecurity, ...rls },
});

const owner = { userId: { $user: '_id' } };
const rules = (given: RowSecurity['rules']): Partial<RowSecurity> => ({
  enabled: true,
  mode: 'rules',
  ...(given && { rules: given }),
});

const shown = (rls: Partial<RowSecurity>) => {
  const access = audiencesOf(collection('posts', rls), []);
  return { read: access.read, writers: writersOf(access), publishable: withoutUser(access) };
};

test('each mode has its readers and writers', () => {
  expect(shown({})).toEqual({
    read: 'everyone',
    writers: [['server', ['create', 'update', 'delete']]],
    publishable: 'reads',
  });
  const owned = [
    ['signedIn', ['create']],
    ['owner', ['update', 'delete']],
  ];
  expect(shown({ enabled: true })).toEqual({ read: 'everyone', writers: owned, publishable: 'reads' });
  expect(shown({ enabled: true, mode: 'signed-in' })).toEqual({
    read: 'signedIn',
    writers: owned,
    publishable: 'none',
  });
  expect(shown({ enabled: true, mode: 'private' })).toEqual({ read: 'owner', writers: owned, publishable: 'none' });
});

test('a collection that requires a second factor is not public', () => {
  expect(shown({ enabled: true, requires: 'mfa' })).toMatchObject({ read: 'signedIn', publishable: 'none' });
});

test('rules are read by their parts', () => {
  const read = { $or: [{ published: true }, owner] };
  expect(shown(rules({ read, create: true, update: owner }))).toEqual({
    read: 'some',
    writers: [
      ['everyone', ['create']],
      ['owner', ['update']],
      ['server', ['delete']],
    ],
    publishable: 'both',
  });
  expect(shown(rules({ read: { team: { $user: 'team' } } })).read).toBe('rule');
  expect(shown(rules({ read: { get: true, list: false } })).read).toBe('everyone');
  expect(shown(rules({ create: true })).publishable).toBe('writes');
  const halves = shown(rules({ update: { after: owner } }));
  expect(halves.writers).toContainEqual(['owner', ['update']]);
});

test('the most public collections come first', () => {
  const all = {
    server: rules({}),
    owner: { enabled: true, mode: 'private' as const },
    open: rules({ read: true, create: true }),
    signedIn: { enabled: true, mode: 'signed-in' as const },
    some: rules({ read: { published: true } }),
    public: {},
    box: rules({ create: true }),
  };
  const rank = (rls: Partial<RowSecurity>) => publicness(audiencesOf(collection('posts', rls), []));
  const sorted = Object.entries(all).toSorted(([, one], [, other]) => rank(one) - rank(other));
  expect(sorted.map(([name]) => name)).toEqual(['open', 'box', 'public', 'some', 'signedIn', 'owner', 'server']);
});
