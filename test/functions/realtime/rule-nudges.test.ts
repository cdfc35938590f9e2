import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { RequestOptions } from '../../support/clients/client.ts';
import { EventSocket } from '../../support/clients/event-socket.ts';
import { claimsOf, newUsersProject, users as standardUsers, type UsersProject } from '../../support/fixtures/users.ts';

/*
 * Live updates under access rules: one channel serves all listeners of a collection. So a message may contain a
 * document only if anonymous callers may list it.
 */

const secret = 'treasure';
const me = { $user: '_id' };
const users = {
  name: 'users',
  schema: [
    ...(standardUsers.schema ?? []).filter(({ key }) => key !== 'role'),
    { key: 'role', type: 'String', write: 'server' },
    { key: 'teams', type: 'Array', items: { type: 'String' }, write: 'server' },
  ],
};
const list = (key: string) => ({ key, type: 'Array', items: { type: 'String' } });
const schema = [
  ...['text', 'author', 'team'].map((key) => ({ key, type: 'String' })),
  { key: 'published', type: 'Boolean' },
  ...['members', 'tags'].map(list),
  { key: 'board', type: 'Ref', ref: 'boards' },
];

/** Rules under which Ann may list the written document, and Bob and anonymous callers may not. */
const hidden: Readonly<Record<string, unknown>> = {
  author: { author: me },
  members: { members: me },
  alternative: { $or: [{ published: true }, { author: me }] },
  role: { $user: { role: 'editor' } },
  teams: { team: { $in: { $user: 'teams' } } },
  everyTag: { tags: { $every: { $in: { $user: 'teams' } } } },
  negated: { $not: { author: { $ne: me } } },
  combined: { published: false, author: me },
  reference: { $ref: { board: { members: me } } },
  lookup: { team: { $in: { $from: 'memberships', select: 'team', where: { user: me } } } },
  notLooked: { team: { $nin: { $from: 'memberships', select: 'barred', where: { user: me } } } },
  halves: { get: true, list: { author: me } },
};

let project: UsersProject;
let ann: RequestOptions;
let bob: RequestOptions;
let annId: string;
let bobId: string;
let board: string;
const open = new Set<EventSocket>();

const nameOf = (rule: string): string => `under_${rule}`;
const rules = (read: unknown, more: object = {}) => ({ enabled: true, mode: 'rules', rules: { read, ...more } });

const send = async <Body = { readonly _id: string }>(method: string, path: string, body?: unknown): Promise<Body> => {
  const answer = await project.api<Body>(method, `/api/data/${path}`, body === undefined ? {} : { body });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body;
};

const ticket = (name: string, options: RequestOptions) =>
  project.api<{ data: { url: string; ticket: string; channels: Readonly<Record<string, string>> } }>(
    'POST',
    '/api/realtime/tickets',
    { ...options, body: { collections: [name] } },
  );

const watch = async (name: string, options: RequestOptions): Promise<EventSocket> => {
  const { status, body } = await ticket(name, options);
  expect(status, JSON.stringify(body)).toBe(201);
  const socket = await EventSocket.open(body.data.url, body.data.ticket);
  open.add(socket);
  expect(await socket.subscribe(body.data.channels[name] ?? '')).toMatchObject({ type: 'subscribe_success' });
  return socket;
};

beforeAll(async () => {
  project = await newUsersProject({ collection: users });
  await project.addCollection({ name: 'boards', schema: [list('members')] });
  const memberships = ['user', 'team', 'barred'].map((key) => ({ key, type: 'String' }));
  await project.addCollection({ name: 'memberships', schema: memberships });
  for (const [rule, read] of Object.entries(hidden)) {
    await project.addCollection({ name: nameOf(rule), schema, rls: rules(read), changes: true });
  }
  await project.addCollection({ name: 'everyone', schema, rls: rules(true), changes: true });
  const trash = rules(true, { readTrash: { author: me } });
  await project.addCollection({ name: 'trashed', schema, rls: trash, changes: true });
  await project.addCollection({ name: 'unlisted', schema, rls: rules({ get: true }), changes: true });
  const [one, two] = [await project.newUser(), await project.newUser()];
  [annId, bobId] = [String(claimsOf(one.accessToken).sub), String(claimsOf(two.accessToken).sub)];
  ann = { key: project.publishableKey, token: one.accessToken };
  bob = { key: project.publishableKey, token: two.accessToken };
  const path = `/api/projects/${project.id}/users/${annId}`;
  const isSet = await project.developer.dashboard('PATCH', path, { role: 'editor', teams: ['red'] });
  expect(isSet.status, JSON.stringify(isSet.body)).toBe(200);
  board = (await send('POST', 'boards', { members: [annId] }))._id;
  await send('POST', 'memberships', { user: annId, team: 'red', barred: 'blue' });
  await send('POST', 'memberships', { user: bobId, team: 'green', barred: 'red' });
});

afterEach(() => {
  for (const socket of open) socket.close();
  open.clear();
});

const written = () => ({
  ...{ text: secret, author: annId, team: 'red', published: false, members: [annId], tags: ['red'], board },
});

describe('a nudge under rules', () => {
  test.each(Object.keys(hidden))('has no content for any listener when the rule is of the kind %s', async (rule) => {
    const name = nameOf(rule);
    const sockets = [await watch(name, bob), await watch(name, ann), await watch(name, {})];
    const { _id } = await send('POST', name, written());
    await send('PATCH', `${name}/${_id}`, { text: `${secret} 2` });
    await send('DELETE', `${name}/${_id}`);
    await send('PATCH', `${name}/${_id}/recover`);
    await send('PUT', `${name}/${_id}`, { text: `${secret} 3`, members: [annId] });
    await send('DELETE', `${name}/${_id}?permanent=true`);
    const several = Array.from({ length: 3 }, written);
    const { ids } = (await send<{ data: { ids: readonly string[] } }>('POST', `${name}/bulk`, several)).data;
    const lists = async (options: RequestOptions) =>
      (await project.api<{ data: { items: readonly object[] } }>('GET', `/api/data/${name}`, options)).body.data.items;
    expect(await lists(ann)).toHaveLength(3);
    expect(await lists(bob)).toEqual([]);
    for (const socket of sockets) {
      for (const rev of [1, 2, 4, 5]) {
        expect(await socket.nudgeOf(_id, rev)).toEqual({ collection: name, _id, rev });
      }
      for (const rev of [3, 6])
        expect(await socket.nudgeOf(_id, rev)).toEqual({ collection: name, _id, rev, deleted: true });
      for (const id of ids) expect(await socket.nudgeOf(id, 1)).toEqual({ collection: name, _id: id, rev: 1 });
      expect(JSON.stringify(socket.received)).not.toContain(secret);
    }
  });

  test('contains the document only while the rule allows anyone', async () => {
    const anyone = await watch('everyone', { key: project.publishableKey });
    const free = (await send('POST', 'everyone', written()))._id;
    expect(await anyone.nudgeOf(free, 1)).toMatchObject({ document: { _id: free, text: secret } });
    const name = nameOf('alternative');
    const socket = await watch(name, bob);
    const { _id } = await send('POST', name, written());
    await send('PATCH', `${name}/${_id}`, { published: true, text: 'shown' });
    await send('PATCH', `${name}/${_id}`, { published: false, text: secret });
    expect(await socket.nudgeOf(_id, 2)).toMatchObject({ document: { _id, text: 'shown' } });
    expect(await socket.nudgeOf(_id, 3)).toEqual({ collection: name, _id, rev: 3 });
    expect(JSON.stringify(socket.received)).not.toContain(secret);
  });

  test('contains only the deletion for a trashed document, and no content for an unlisted one', async () => {
    const socket = await watch('trashed', bob);
    const { _id } = await send('POST', 'trashed', { ...written(), text: 'shown' });
    await send('DELETE', `trashed/${_id}`);
    expect(await socket.nudgeOf(_id, 2)).toEqual({ collection: 'trashed', _id, rev: 2, deleted: true });
    const unlisted = await watch('unlisted', bob);
    const one = (await send('POST', 'unlisted', written()))._id;
    expect(await unlisted.nudgeOf(one, 1)).toEqual({ collection: 'unlisted', _id: one, rev: 1 });
  });

  test('401 TOKEN_MISSING for a ticket without a user when only users may list', async () => {
    const stranger = { key: project.publishableKey };
    for (const rule of ['author', 'role', 'lookup', 'reference', 'halves']) {
      expect(await ticket(nameOf(rule), stranger), rule).toMatchObject({
        status: 401,
        body: { code: 'TOKEN_MISSING' },
      });
    }
    expect(await ticket(nameOf('alternative'), stranger)).toMatchObject({ status: 201 });
  });
});
