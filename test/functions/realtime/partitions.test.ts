import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { handler as listChanges } from '../../../functions/data/list-changes.ts';
import type { Project } from '../../../shared/projects/project.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { EventSocket } from '../../support/clients/event-socket.ts';
import { plansOf } from '../../support/clients/explain.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { listenToCommands } from '../../support/command-notes.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();
Object.assign(process.env, { RATE_LIMIT: '0' });

const text = (key: string) => ({ key, type: 'String' });
const me = { $user: '_id' };

interface Change {
  readonly _id: string;
  readonly deleted?: true;
}
interface Data {
  readonly changes: readonly Change[];
  readonly next: string;
  readonly url: string;
  readonly ticket: string;
  readonly channels: Readonly<Record<string, string>>;
  readonly partitions?: readonly { collection: string; partition: string; channel: string }[];
}
interface Body {
  readonly _id: string;
  readonly data: Data;
  readonly code: string;
  readonly errors?: readonly { readonly field: string }[];
}

let project: UsersProject;
let domain: Project;
let app: RequestOptions;
let ann: RequestOptions;
let spaces: readonly [string, string];
const open = new Set<EventSocket>();

const send = (method: string, path: string, body?: unknown, options: RequestOptions = {}) =>
  project.api<Body>(method, `/api/${path}`, { ...options, ...(body === undefined ? {} : { body }) });
const insert = async (name: string, body: object): Promise<string> => {
  const answer = await send('POST', `data/${name}`, body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body._id;
};
const changesOf = (name: string, query: string, options?: RequestOptions) =>
  send('GET', `data/${name}/changes?${query}`, undefined, options);
const idsOf = async (name: string, query: string, options?: RequestOptions): Promise<readonly string[]> => {
  const answer = await changesOf(name, query, options);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.data.changes.map(({ _id, deleted }) => (deleted ? `${_id} deleted` : _id));
};
const ticket = (collections: readonly unknown[], options?: RequestOptions) =>
  send('POST', 'realtime/tickets', { collections }, options);
const edit = (name: string, body: object) =>
  project.developer.dashboard<Body & { readonly data: { readonly partition?: string } }>(
    'PUT',
    `/api/projects/${project.id}/collections/${name}`,
    body,
  );

beforeAll(async () => {
  project = await newUsersProject();
  domain = await domainProject(project);
  app = { key: project.publishableKey };
  const user = await project.newUser();
  ann = { ...app, token: user.accessToken };
  await project.addCollection({ name: 'spaces', schema: [text('name')] });
  await project.addCollection({
    name: 'members',
    schema: [{ key: 'space', type: 'Ref', ref: 'spaces' }, text('user')],
  });
  await project.addCollection({
    name: 'lines',
    changes: true,
    schema: [text('room'), text('body')],
    partition: 'room',
  });
  await project.addCollection({
    name: 'cards',
    changes: true,
    partition: 'space',
    schema: [{ key: 'space', type: 'Ref', ref: 'spaces' }, text('title'), text('hiddenFrom')],
    rls: {
      enabled: true,
      mode: 'rules',
      rules: {
        read: {
          space: { $in: { $from: 'members', select: 'space', where: { user: me } } },
          $or: [{ hiddenFrom: { $exists: false } }, { hiddenFrom: { $ne: me } }],
        },
        create: true,
      },
    },
  });
  spaces = [await insert('spaces', { name: 'a' }), await insert('spaces', { name: 'b' })];
  await insert('members', { space: spaces[0], user: user.userId });
});

afterEach(() => {
  for (const socket of open) socket.close();
  open.clear();
});

describe('the setting partition', () => {
  test.each([
    ['a field that the schema lacks', { schema: [text('a')], partition: 'b' }],
    ['a Number', { schema: [{ key: 'n', type: 'Number' }], partition: 'n' }],
    ['a field inside an Object', { schema: [{ key: 'o', type: 'Object', fields: [text('a')] }], partition: 'o.a' }],
    ['a collection without a schema', { schema: null, partition: 'a' }],
    ['an empty name', { schema: [text('a')], partition: '' }],
    [
      'a Ref that a deletion removes',
      { schema: [{ key: 'r', type: 'Ref', ref: 'spaces', onDelete: 'unset' }], partition: 'r' },
    ],
  ])('400 INVALID_SCHEMA when it names %s', async (_title, body) => {
    const path = `/api/projects/${project.id}/collections`;
    const answer = await project.developer.dashboard<Body>('POST', path, { name: 'odd', ...body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_SCHEMA' } });
  });

  test('is returned, stays through other edits, and ends with null', async () => {
    await project.addCollection({ name: 'edited', schema: [text('a')], changes: true });
    expect((await edit('edited', { partition: 'a' })).body.data).toMatchObject({ partition: 'a' });
    expect((await edit('edited', { schema: [text('a'), text('b')] })).body.data).toMatchObject({ partition: 'a' });
    expect(await edit('edited', { schema: [text('b')] })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_SCHEMA' },
    });
    expect((await edit('edited', { partition: null })).body.data).not.toHaveProperty('partition');
  });

  test('409 SCHEMA_CONFLICT when stored documents have no value', async () => {
    await project.addCollection({ name: 'older', schema: [text('a')] });
    await insert('older', {});
    expect(await edit('older', { partition: 'a' })).toMatchObject({ status: 409, body: { code: 'SCHEMA_CONFLICT' } });
  });
});

describe('the field of the partition', () => {
  test('400 VALIDATION_FAILED for a document without it, and for every update that changes it', async () => {
    const invalid = { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ field: 'room' }] } };
    expect(await send('POST', 'data/lines', { body: 'a' })).toMatchObject(invalid);
    const id = await insert('lines', { room: 'a', body: 'a' });
    for (const body of [{ room: 'b' }, { room: null }, { $unset: ['room'] }, { body: 'b', room: 'b' }]) {
      expect(await send('PATCH', `data/lines/${id}`, body)).toMatchObject(invalid);
    }
    const many = await send('PATCH', 'data/lines', { where: { room: 'a' }, changes: { room: 'b' } });
    expect(many).toMatchObject({ status: 200, body: { data: { changed: 0 } } });
    const writes = [{ op: 'update', collection: 'lines', id, changes: { room: 'b' } }];
    expect(await send('POST', 'batch', { writes })).toMatchObject({ status: 400 });
    expect(await send('PATCH', `data/lines/${id}`, { room: 'a', body: 'c' })).toMatchObject({ status: 200 });
    expect((await send('GET', `data/lines/${id}`)).body).toMatchObject({ room: 'a', body: 'c' });
  });
});

describe('the feed', () => {
  test('200 with the changes of one value, permanent deletions included; the secret key may read all', async () => {
    const [one, other] = [await insert('lines', { room: 'x' }), await insert('lines', { room: 'y' })];
    const { next } = (await changesOf('lines', 'partition=x', app)).body.data;
    expect(await idsOf('lines', 'since=0&partition=x', app)).toEqual([one]);
    await send('DELETE', `data/lines/${one}?permanent=true`);
    await send('DELETE', `data/lines/${other}?permanent=true`);
    expect(await idsOf('lines', `since=${next}&partition=x`, app)).toEqual([`${one} deleted`]);
    expect(await idsOf('lines', 'since=0')).toEqual(expect.arrayContaining([`${one} deleted`, `${other} deleted`]));
    const waiting = idsOf('lines', 'since=0&partition=z&wait=20', app);
    const third = await insert('lines', { room: 'z' });
    expect(await waiting).toEqual([third]);
  });

  test('400 INVALID_QUERY with a publishable key and no value, or a value that the collection does not know', async () => {
    for (const since of ['', 'since=0']) {
      const answer = await changesOf('lines', since, app);
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY', errors: [{ field: 'room' }] } });
    }
    await project.addCollection({ name: 'whole', changes: true });
    expect(await changesOf('whole', 'partition=a', app)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_QUERY' },
    });
    expect(await changesOf('whole', '', app)).toMatchObject({ status: 200 });
  });

  test('400 INVALID_POSITION for the position of another value or of all', async () => {
    const [one, all] = [await changesOf('lines', 'partition=x'), await changesOf('lines', '')];
    const invalid = { status: 400, body: { code: 'INVALID_POSITION' } };
    expect(await changesOf('lines', `since=${one.body.data.next}&partition=y`)).toMatchObject(invalid);
    expect(await changesOf('lines', `since=${one.body.data.next}`)).toMatchObject(invalid);
    expect(await changesOf('lines', `since=${all.body.data.next}&partition=x`)).toMatchObject(invalid);
  });

  test('403 RULE_DENIED when read excludes every document with the value', async () => {
    const [mine, theirs] = [await insert('cards', { space: spaces[0] }), await insert('cards', { space: spaces[1] })];
    expect(await idsOf('cards', `since=0&partition=${spaces[0]}`, ann)).toEqual([mine]);
    const denied = { status: 403, body: { code: 'RULE_DENIED' } };
    for (const value of [spaces[1], 'f'.repeat(24), 'x']) {
      expect(await changesOf('cards', `since=0&partition=${value}`, ann)).toMatchObject(denied);
      expect(await ticket([{ collection: 'cards', partition: value }], ann)).toMatchObject(denied);
    }
    expect(await changesOf('cards', `since=0&partition=${spaces[0]}`, app)).toMatchObject({ status: 401 });
    expect(await idsOf('cards', `since=0&partition=${spaces[1]}`)).toEqual([theirs]);
  });

  test('a page examines only the changes of its value', async () => {
    for (let n = 0; n < 3; n += 1)
      await send(
        'POST',
        'data/lines/bulk',
        Array.from({ length: 50 }, () => ({ room: 'far' })),
      );
    const id = await insert('lines', { room: 'near' });
    const options = { key: project.secretKey, params: { collectionName: 'lines' }, query: 'since=0&partition=near' };
    const plans = await plansOf(domain, () => invoke(listChanges, options));
    expect(plans).toMatchObject([{ command: 'find', docsExamined: 1 }]);
    expect(plans[0]?.stages.join()).toContain('IXSCAN basalt_changes_in_room');
    expect(await idsOf('lines', 'since=0&partition=near')).toEqual([id]);
  });
});

describe('a ticket', () => {
  const listen = async ({ url, ticket: token }: Data, channel: string): Promise<EventSocket> => {
    const socket = await EventSocket.open(url, token);
    open.add(socket);
    expect(await socket.subscribe(channel)).toMatchObject({ type: 'subscribe_success' });
    return socket;
  };

  test('201 with a channel per value, which hears the writes of that value and no other', async () => {
    const values = ['p', 'q'].map((partition) => ({ collection: 'lines', partition }));
    const both = await ticket(values, app);
    expect(both).toMatchObject({ status: 201, body: { data: { channels: {}, partitions: values } } });
    const { data } = both.body;
    const [p = '', q = ''] = data.partitions?.map(({ channel }) => channel) ?? [];
    expect(new Set([p, q]).size).toBe(2);
    for (const channel of [p, q]) expect(channel).toMatch(/^\/live\/[0-9a-f]{24}\/[a-z0-9-]{1,50}$/);
    const all = (await ticket(['lines'])).body.data;
    const [ofP, ofQ, ofAll] = [
      await listen(data, p),
      await listen(data, q),
      await listen(all, all.channels.lines ?? ''),
    ];
    const one = await insert('lines', { room: 'p' });
    const two = await insert('lines', { room: 'q' });
    await send('DELETE', `data/lines/${one}?permanent=true`);
    const end = await insert('lines', { room: 'p' });
    const last = await insert('lines', { room: 'q' });
    const heard = async (socket: EventSocket, until: string) => {
      await socket.next(({ event = '' }) => event.includes(until));
      return socket.received.flatMap(({ event }) => (event ? [(JSON.parse(event) as Change)._id] : []));
    };
    expect(await heard(ofAll, last)).toEqual([one, two, one, end, last]);
    expect(await heard(ofP, end)).toEqual([one, one, end]);
    expect(await heard(ofQ, last)).toEqual([two, last]);
  });

  test('400 INVALID_QUERY with a publishable key and no value; a user cannot subscribe to the channel of all', async () => {
    const answer = await ticket(['lines'], app);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY', errors: [{ field: 'room' }] } });
    const { channels } = (await ticket(['lines'])).body.data;
    const { url, ticket: token } = (await ticket([{ collection: 'lines', partition: 'p' }], app)).body.data;
    const socket = await EventSocket.open(url, token);
    open.add(socket);
    expect(await socket.subscribe(channels.lines ?? '')).toMatchObject({ type: 'subscribe_error' });
    for (const entry of [{ collection: 'lines' }, { collection: 'lines', partition: 1 }, { partition: 'p' }, 5]) {
      expect(await ticket([entry], app)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
    }
  });
});
