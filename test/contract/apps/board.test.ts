import { beforeAll, describe, expect, test } from 'vitest';
import { type App, newApp, type Person } from '../../support/fixtures/app.ts';

/* The permissions that a team board needs, with the publishable key alone. Each test is one need. */

const member = (role?: string) => ({
  $in: {
    $from: 'memberships',
    select: 'workspace',
    where: { user: { $user: '_id' }, ...(role !== undefined && { role }) },
  },
});
const writers = { $or: [{ workspace: member('admin') }, { workspace: member('member') }] };
const ownsWorkspace = { $ref: { workspace: { owner: { $user: '_id' } } } };

const collections = [
  {
    name: 'workspaces',
    schema: [{ key: 'title', type: 'String', required: true }],
    changes: true,
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'owner',
      rules: {
        read: { $or: [{ owner: { $user: '_id' } }, { _id: member() }] },
        create: { $user: {} },
        update: { owner: { $user: '_id' } },
        delete: { owner: { $user: '_id' } },
      },
    },
  },
  {
    name: 'memberships',
    schema: [
      { key: 'workspace', type: 'Ref', ref: 'workspaces', required: true, exists: true, write: 'create' },
      { key: 'user', type: 'Ref', ref: 'users', required: true, write: 'create' },
      { key: 'role', type: 'String', enum: ['admin', 'member', 'viewer'], required: true },
    ],
    unique: [['workspace', 'user']],
    rls: {
      enabled: true,
      mode: 'rules',
      rules: {
        read: { $or: [{ user: { $user: '_id' } }, { workspace: member() }, ownsWorkspace] },
        create: { $or: [ownsWorkspace, { workspace: member('admin') }] },
        update: { $or: [ownsWorkspace, { workspace: member('admin') }] },
        delete: { $or: [ownsWorkspace, { workspace: member('admin') }, { user: { $user: '_id' } }] },
      },
    },
  },
  {
    name: 'cards',
    changes: true,
    schema: [
      { key: 'workspace', type: 'Ref', ref: 'workspaces', required: true },
      { key: 'title', type: 'String', required: true, maxLength: 200, searchable: true },
      { key: 'assignee', type: 'Ref', ref: 'users' },
      { key: 'points', type: 'Number', min: 0, integer: true },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      rules: {
        read: { workspace: member() },
        create: writers,
        update: writers,
        delete: writers,
        recover: { workspace: member('admin') },
        purge: { workspace: member('admin') },
      },
    },
  },
  {
    name: 'comments',
    schema: [
      { key: 'workspace', type: 'Ref', ref: 'workspaces', required: true, write: 'create' },
      { key: 'card', type: 'Ref', ref: 'cards', required: true, exists: true, write: 'create' },
      { key: 'text', type: 'String', required: true },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'author',
      rules: {
        read: { workspace: member() },
        create: { workspace: member(), $ref: { card: { title: { $exists: true } } } },
        update: { author: { $user: '_id' } },
        delete: { $or: [{ author: { $user: '_id' } }, { workspace: member('admin') }] },
      },
    },
  },
  {
    name: 'activity',
    schema: [
      { key: 'workspace', type: 'Ref', ref: 'workspaces', required: true },
      { key: 'what', type: 'String', required: true },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'actor',
      rules: { read: { workspace: member() }, create: { workspace: member() } },
    },
  },
];

let app: App;
let owner: Person;
let admin: Person;
let plain: Person;
let viewer: Person;
let outsider: Person;
let workspace: string;
let foreign: string;

const join = (by: Person, user: Person, role: string, of = workspace) =>
  by.add('memberships', { workspace: of, user: user.id, role });

beforeAll(async () => {
  app = await newApp(collections, []);
  [owner, admin, plain, viewer, outsider] = [
    await app.person(),
    await app.person(),
    await app.person(),
    await app.person(),
    await app.person(),
  ];
  workspace = await owner.add('workspaces', { title: 'red' });
  foreign = await outsider.add('workspaces', { title: 'blue' });
  await join(owner, owner, 'admin');
  await join(owner, admin, 'admin');
  await join(owner, plain, 'member');
  await join(owner, viewer, 'viewer');
  await join(outsider, outsider, 'admin', foreign);
});

describe('a team board', () => {
  test('shows a workspace to its members only', async () => {
    for (const person of [owner, admin, plain, viewer]) expect(await person.ids('workspaces')).toEqual([workspace]);
    expect(await outsider.ids('workspaces')).toEqual([foreign]);
    expect((await outsider.get('workspaces', workspace)).status).toBe(404);
    expect((await app.stranger.call('GET', 'workspaces')).status).toBe(401);
  });

  test('lets only the owner rename or delete a workspace', async () => {
    expect(await admin.update('workspaces', workspace, { title: 'mine' })).toBe(403);
    expect(await owner.update('workspaces', workspace, { title: 'green' })).toBe(200);
    expect(await admin.remove('workspaces', workspace)).toBe(403);
  });

  test('lets admins add each member once', async () => {
    const newcomer = await app.person();
    expect((await plain.insert('memberships', { workspace, user: newcomer.id, role: 'member' })).status).toBe(403);
    await join(admin, newcomer, 'member');
    const again = await admin.insert('memberships', { workspace, user: newcomer.id, role: 'viewer' });
    expect(again).toMatchObject({ status: 409, body: { code: 'DUPLICATE_VALUE' } });
  });

  test('does not let strangers add themselves, or members raise their own role', async () => {
    expect((await outsider.insert('memberships', { workspace, user: outsider.id, role: 'viewer' })).status).toBe(403);
    const [own] = await plain.list('memberships', `user=${plain.id}`);
    expect(await plain.update('memberships', own?._id ?? '', { role: 'admin' })).toBe(403);
  });

  test('lets admins change a role, but not move a membership to another workspace', async () => {
    const person = await app.person();
    const membership = await join(admin, person, 'viewer');
    expect(await admin.update('memberships', membership, { role: 'member' })).toBe(200);
    const second = await owner.add('workspaces', { title: 'second' });
    await join(owner, admin, 'admin', second);
    expect(await admin.update('memberships', membership, { workspace: second })).toBe(403);
    expect(await admin.update('memberships', membership, { role: 'king' })).toBe(400);
  });

  test('shows the members with their names', async () => {
    const rows = await viewer.list('memberships', `workspace=${workspace}&populate=user`);
    expect(rows.length).toBeGreaterThanOrEqual(4);
    expect(rows.at(-1)).toMatchObject({ role: 'admin', user: { _id: owner.id, name: expect.any(String) } });
    expect(JSON.stringify(rows)).not.toContain('@example.com');
  });

  test('lets members write cards, and viewers only read them', async () => {
    const card = await plain.add('cards', { workspace, title: 'to do' });
    expect((await viewer.get('cards', card)).status).toBe(200);
    expect(await viewer.update('cards', card, { title: 'done' })).toBe(403);
    expect((await viewer.insert('cards', { workspace, title: 'mine' })).status).toBe(403);
    expect(await admin.update('cards', card, { title: 'doing' })).toBe(200);
    expect((await outsider.get('cards', card)).status).toBe(404);
    expect(await outsider.update('cards', card, { title: 'x' })).toBe(404);
  });

  test('moves a card only into a workspace where the caller may write', async () => {
    const card = await plain.add('cards', { workspace, title: 'moving' });
    expect(await plain.update('cards', card, { workspace: foreign })).toBe(403);
    const second = await owner.add('workspaces', { title: 'second' });
    await join(owner, plain, 'member', second);
    expect(await plain.update('cards', card, { workspace: second })).toBe(200);
    expect((await viewer.get('cards', card)).status).toBe(404);
  });

  test('assigns a card to a member and shows the name', async () => {
    const card = await plain.add('cards', { workspace, title: 'assigned', assignee: viewer.id });
    expect(await plain.list('cards', `assignee=${viewer.id}&populate=assignee`)).toMatchObject([
      { _id: card, assignee: { _id: viewer.id } },
    ]);
  });

  test('counts, searches and sums only the cards of the caller’s workspaces', async () => {
    const own = await outsider.add('cards', { workspace: foreign, title: 'secret plan', points: 5 });
    expect(await outsider.ids('cards', 'search=secret')).toEqual([own]);
    expect(await plain.ids('cards', 'search=secret')).toEqual([]);
    const count = await outsider.call<{ data: { count: number } }>('GET', 'cards?count=true');
    expect(count.body.data.count).toBe(1);
    const pipeline = [{ $group: { _id: null, points: { $sum: '$points' } } }];
    const sum = await outsider.call<{ data: { results: unknown[] } }>('POST', 'cards/aggregate', { pipeline });
    expect(JSON.stringify(sum.body)).toContain('"points":5');
  });

  test('reports changes of the caller’s cards, and no contents of other cards', async () => {
    const changes = await plain.changesFromNow('cards');
    const card = await plain.add('cards', { workspace, title: 'seen' });
    await outsider.add('cards', { workspace: foreign, title: 'not seen' });
    expect(await changes()).toContain(card);
    expect(await changes()).not.toContain('not seen');
  });

  test('lets members comment, authors edit, and admins delete comments', async () => {
    const card = await plain.add('cards', { workspace, title: 'talk' });
    const comment = await viewer.add('comments', { workspace, card, text: 'hello' });
    expect((await plain.get('comments', comment)).body).toMatchObject({ text: 'hello', author: viewer.id });
    expect(await plain.update('comments', comment, { text: 'changed' })).toBe(403);
    expect(await viewer.update('comments', comment, { text: 'hello!' })).toBe(200);
    expect(
      await viewer.update('comments', comment, { card: await plain.add('cards', { workspace, title: 'b' }) }),
    ).toBe(403);
    expect((await outsider.insert('comments', { workspace, card, text: 'spam' })).status).toBe(403);
    expect(await plain.remove('comments', comment)).toBe(403);
    expect(await admin.remove('comments', comment)).toBe(200);
  });

  test('keeps an activity log that no user can change or delete', async () => {
    const entry = await plain.add('activity', { workspace, what: 'moved a card' });
    expect(await viewer.ids('activity')).toContain(entry);
    for (const person of [plain, admin, owner]) {
      expect(await person.update('activity', entry, { what: 'nothing' })).toBe(403);
      expect(await person.remove('activity', entry)).toBe(403);
    }
    expect((await plain.insert('activity', { workspace, what: 'x', actor: admin.id })).status).toBe(403);
  });

  test('lets members move cards to the trash, and admins restore or purge them', async () => {
    const card = await plain.add('cards', { workspace, title: 'old' });
    expect(await plain.remove('cards', card)).toBe(200);
    expect(await viewer.ids('cards', 'include_deleted=true')).toContain(card);
    expect((await plain.call('PATCH', `cards/${card}/recover`)).status).toBe(403);
    expect((await admin.call('PATCH', `cards/${card}/recover`)).status).toBe(200);
    expect(await plain.remove('cards', card, 'permanent=true')).toBe(403);
    expect(await admin.remove('cards', card, 'permanent=true')).toBe(200);
  });

  test('ends the access of a member who leaves', async () => {
    const person = await app.person();
    const membership = await join(admin, person, 'member');
    expect(await person.ids('workspaces')).toEqual([workspace]);
    expect(await person.remove('memberships', membership)).toBe(200);
    expect(await person.ids('workspaces')).toEqual([]);
    expect(await person.ids('cards')).toEqual([]);
    expect((await person.insert('cards', { workspace, title: 'back' })).status).toBe(403);
  });

  test('ends the access of a member whom an admin removes', async () => {
    const person = await app.person();
    const membership = await join(admin, person, 'member');
    const card = await person.add('cards', { workspace, title: 'left behind' });
    expect(await admin.remove('memberships', membership)).toBe(200);
    expect((await person.get('cards', card)).status).toBe(404);
    expect((await person.call('PATCH', `memberships/${membership}/recover`)).status).not.toBe(200);
  });
});
