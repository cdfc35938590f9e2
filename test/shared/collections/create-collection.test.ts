import { ObjectId } from 'mongodb';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { permitAddresses } from '../../../infra/local/permit-addresses.ts';
import {
  type CollectionInput,
  createCollection,
  noteReferences,
  parseCollection,
} from '../../../shared/collections/create-collection.ts';
import { controlIndexes } from '../../../shared/control-indexes.ts';
import { clock } from '../../../shared/core/clock.ts';
import { plans } from '../../../shared/projects/plans.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { laterRefusalOf, refusalOf } from '../../support/data/refusal.ts';
import { useMemoryMongo } from '../../support/fixtures/memory-mongo.ts';
import { projectWithKey } from '../accounts/project.ts';

vi.mock('node:timers/promises', async (original) => ({
  ...(await original<typeof import('node:timers/promises')>()),
  setTimeout: async () => pause(),
}));

/** Runs instead of each pause of a waiting caller. */
let pause: () => unknown = () => undefined;

const { state, all, insert } = useMemoryMongo(controlIndexes);
const projectId = 'a'.repeat(24);
const maxCollections = plans.free.collections ?? 0;
const created = Date.UTC(2026, 2, 10);
let project: Project;
let now = created;

beforeEach(async () => {
  project = await projectWithKey(projectId);
  pause = () => undefined;
  now = created;
  vi.spyOn(clock, 'now').mockImplementation(() => now);
  return () => vi.restoreAllMocks();
});

const create = (name: string, input: Partial<CollectionInput> = {}) =>
  createCollection(project, name, { schema: null, ...input });
const failure = (name: string, input?: Partial<CollectionInput>) => laterRefusalOf(create(name, input));
const record = (name: string) => all('collections').find((one) => one.nameKey === name.toLowerCase());
const put = (name: string, rest: object) =>
  insert('collections', {
    _id: new ObjectId(),
    projectId: new ObjectId(projectId),
    ...{ name, nameKey: name.toLowerCase(), slot: 1000, schema: null, rls: { enabled: false, mode: 'none' } },
    ...{ createdAt: new Date(created), updatedAt: new Date(created) },
    ...rest,
  });
const commands = (name: string) => state.commands.filter((command) => name in command);
const slots = () => all('collections').map(({ slot }) => slot);

describe('a new collection', () => {
  test('is stored with what was sent, and is active after its indexes were built', async () => {
    await create('Plain');
    const { _id, ...plain } = record('plain') ?? {};
    expect(plain).toEqual({
      ...{ projectId: new ObjectId(projectId), slot: expect.any(Number), state: 'active', nameKey: 'plain' },
      ...{ name: 'Plain', schema: null, feed: null, rls: expect.anything() },
      ...{ createdAt: new Date(created), updatedAt: new Date(created) },
    });
    expect(commands('createIndexes')).toHaveLength(1);
  });

  test('has each setting only if it was sent', () => {
    const schema = [
      { key: 'title', type: 'String' },
      { key: 'number', type: 'Number' },
    ];
    const parsed = parseCollection('rich', { schema, searchLanguage: 'german', closed: true, partition: 'title' });
    expect(parsed).toMatchObject({ searchLanguage: 'german', closed: true, partition: 'title' });
    expect(parseCollection('rich', { schema, unique: [['title', 'number']] })).toMatchObject({
      uniqueLists: [{ fields: ['title', 'number'] }],
    });
    const names = ['searchLanguage', 'closed', 'uniqueLists', 'effects', 'partition'];
    const plain = parseCollection('plain', { schema, unique: [], effects: [], closed: false });
    for (const name of names) expect(plain).not.toHaveProperty(name);
  });

  test('is one of as many as the plan allows, in slots of its project', async () => {
    insert('collections', { _id: new ObjectId(), projectId: new ObjectId(), nameKey: 'x', slot: 0, state: 'active' });
    for (let count = 0; count < maxCollections - 1; count++) put(`c${count}`, { state: 'active', slot: count });
    put('gone', { state: 'dropped', slot: new ObjectId() });
    await create('last');
    expect(record('last')).toMatchObject({ slot: maxCollections - 1, state: 'active' });
    expect(await failure('more')).toMatchObject({
      code: 'PLAN_LIMIT',
      message: expect.stringContaining(`${maxCollections} collections`),
    });
    expect(record('more')).toBeUndefined();
  });

  test('is one of 50 that are created at the same time, and the last slots are filled one time each', async () => {
    const free = 3;
    for (let count = 0; count < maxCollections - free; count++) put(`c${count}`, { state: 'active', slot: count });
    const results = await Promise.allSettled(Array.from({ length: 50 }, (_, at) => create(`new${at}`)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(free);
    expect(new Set(slots()).size).toBe(maxCollections);
    const same = await Promise.allSettled(Array.from({ length: 50 }, () => create('c0')));
    expect(same.every(({ status }) => status === 'rejected')).toBe(true);
  });

  test('takes the next slot when another caller takes the same one', async () => {
    for (let count = 0; count < maxCollections - 2; count++) put(`c${count}`, { state: 'active', slot: count });
    const [first, second] = [maxCollections - 2, maxCollections - 1];
    const taken = new Set<number>();
    state.before = {
      name: 'insert',
      act: async () => {
        const { slot } = commands('insert').at(-1)?.documents[0] ?? {};
        taken.add(slot);
        put('faster', { state: 'active', slot });
      },
    };
    await create('mine');
    expect([...taken, record('mine')?.slot].sort()).toEqual([first, second].sort());
  });

  test('that waits for work of its effects has its time', async () => {
    const schema = [
      { key: 'to', type: 'String' },
      { key: 'due', type: 'Date' },
    ];
    await create('mails', {
      schema,
      effects: [{ on: 'create', mail: { template: 'welcome', to: 'a@example.com' } }],
    });
    expect(record('mails')).toMatchObject({ effectsDueAt: new Date(created) });
  });

  test('409 COLLECTION_EXISTS for an active one of the same name, in any case', async () => {
    await create('Orders');
    expect(await failure('orders')).toMatchObject({
      code: 'COLLECTION_EXISTS',
      message: expect.stringContaining('already has a collection "Orders"'),
    });
    await create('order');
    now += 3600_000;
    expect(await failure('ORDERS')).toMatchObject({ code: 'COLLECTION_EXISTS' });
  });

  test('409 COLLECTION_EXISTS while another caller is creating it, and continues 16 s later', async () => {
    put('a', { state: 'creating' });
    now += 15_999;
    expect(await failure('a')).toMatchObject({ message: expect.stringContaining('just being created') });
    now += 1;
    await create('a');
    expect(all('collections')).toHaveLength(1);
    expect(record('a')).toMatchObject({ state: 'active', createdAt: new Date(now) });
  });

  test('409 COLLECTION_EXISTS while it is being deleted, for 3 s, and continues 2 minutes after', async () => {
    put('a', { state: 'deleting' });
    let elapsed = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => elapsed);
    let pauses = 0;
    pause = () => {
      pauses += 1;
      elapsed += 100;
    };
    now += 119_999;
    expect(await failure('a')).toMatchObject({ message: expect.stringContaining('still being deleted') });
    expect(pauses).toBe(30);
    now += 1;
    await create('a');
    expect(pauses).toBe(30);
    expect(all('collections').map((one) => one.state)).toEqual(['active']);
  });

  test('waits for a deletion that ends, and takes over one that is dropped', async () => {
    put('a', { state: 'deleting' });
    pause = () => {
      const one = record('a');
      if (one) Object.assign(one, { state: 'dropped', slot: one._id });
    };
    await create('a');
    expect(record('a')).toMatchObject({ state: 'active' });
  });

  test('in the last slot replaces its own interrupted creation', async () => {
    for (let count = 0; count < maxCollections - 1; count++) put(`c${count}`, { state: 'active', slot: count });
    put('a', { state: 'creating', slot: maxCollections - 1 });
    now += 16_000;
    await create('a');
    expect(record('a')).toMatchObject({ state: 'active', slot: maxCollections - 1 });
  });

  test('503 when its lease ended before its indexes were built, and it stays hidden', async () => {
    state.before = {
      name: 'createIndexes',
      act: async () => Object.assign(record('a') ?? {}, { updatedAt: new Date(created + 1) }),
    };
    expect(await failure('a')).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(record('a')).toMatchObject({ state: 'creating' });
  });
});

describe('the documents of a new collection', () => {
  test('that an earlier one has left are dropped', async () => {
    insert('a', { _id: new ObjectId() }, projectId);
    await create('a');
    expect(commands('drop')).toHaveLength(1);
    expect(all('a', projectId)).toEqual([]);
    await create('b');
    expect(commands('drop')).toHaveLength(1);
  });

  test("stay in a customer's database, which may have indexes already", async () => {
    const port = process.env.MONGODB_URI?.match(/:(\d+)\//)?.[1];
    permitAddresses(`127.0.0.1:${port}`);
    const openUri = async () => `mongodb://127.0.0.1:${port}/p_own?directConnection=true`;
    project = { ...project, placement: { kind: 'external', host: '', encryptedUri: `sealed ${port}`, openUri } };
    insert('a', { _id: new ObjectId() }, 'own');
    await create('a');
    expect(commands('listCollections')).toHaveLength(0);
    expect(commands('listIndexes').length).toBeGreaterThan(0);
    expect(all('a', 'own')).toHaveLength(1);
  });

  test.each([
    ['create', 48, 'active'],
    ['create', 13, undefined],
    ['createIndexes', 13, undefined],
  ])('503 when %s fails with code %i, and the name is free again', async (name, code, left) => {
    state.replies = { [name]: { ok: 0, code, errmsg: 'failed' } };
    const result = create('a').then(
      () => 'active',
      () => undefined,
    );
    expect(await result).toBe(left);
    expect(record('a')?.state).toBe(left);
  });

  test('503 without a response leaves the name reserved, because the database may go on', async () => {
    state.replies = { createIndexes: undefined };
    expect(await failure('a')).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
    expect(record('a')).toMatchObject({ state: 'creating' });
  });
});

describe('references of a collection', () => {
  const refs = [
    { key: 'book', type: 'Ref', ref: 'books', onDelete: 'restrict' },
    { key: 'other', type: 'Ref', ref: 'books', onDelete: 'unset' },
  ];

  test('are noted at its project, each target one time', async () => {
    for (const id of ['b'.repeat(24), projectId]) {
      insert('projects', { _id: new ObjectId(id), ownerId: 1, slot: id, keys: [{ hash: id }], state: 'active' });
    }
    await create('loans', { schema: refs });
    const restricts = [{ by: 'loans', target: 'books' }];
    expect(all('projects').map((one) => one.restricts)).toEqual([undefined, restricts]);
    state.commands = [];
    await noteReferences(project, parseCollection('plain', { schema: null }));
    expect(state.commands).toEqual([]);
  });
});

describe('400 when a collection', () => {
  const field = (count: number, rest: object = {}) =>
    Array.from({ length: count }, (_, at) => ({ key: `f${at}`, type: 'String', ...rest }));
  const unique = (count: number) => field(count, { unique: true });
  const account = ['email', 'password'].map((key) => ({ key, type: 'String', required: true }));
  const refuse = (name: string, input: Partial<CollectionInput>) =>
    refusalOf(() => parseCollection(name, { schema: null, ...input }));

  test.each<[string, string, Partial<CollectionInput>, string, string]>([
    ['is closed without a schema', 'a', { closed: true }, 'INVALID_SCHEMA', 'closed needs a schema'],
    ['has a bad name', '1a', {}, 'INVALID_NAME', 'begins with a letter'],
    ['has a name of 64 letters', 'a'.repeat(64), {}, 'INVALID_NAME', 'at most 63'],
    ['has a reserved name', 'usersOf', {}, 'INVALID_NAME', 'reserved'],
    ['has a reserved name', 'system', {}, 'INVALID_NAME', 'reserved'],
    [
      'has fields for owners and no owner',
      'a',
      { schema: field(1, { read: 'owner' }) },
      'INVALID_SCHEMA',
      'needs an owner field',
    ],
    ['has the accounts and a feed', 'users', { schema: account, changes: true }, 'INVALID_SCHEMA', 'no changes feed'],
    [
      'has accounts that end with a document',
      'users',
      { schema: [...account, { key: 'team', type: 'Ref', ref: 'teams', onDelete: 'delete' }] },
      'INVALID_SCHEMA',
      'in users it may be',
    ],
    [
      'has too many indexes',
      'a',
      { schema: [...unique(20), { key: 'one', type: 'String' }], unique: [['one']] },
      'INVALID_SCHEMA',
      'many',
    ],
    ['has too many indexes with a feed', 'a', { schema: unique(20), changes: true }, 'INVALID_SCHEMA', 'many'],
    [
      'has too many indexes with a partition',
      'a',
      { schema: [...unique(20), ...field(1, { key: 'part' })], partition: 'part' },
      'INVALID_SCHEMA',
      'many',
    ],
    [
      'has too many indexes with emails',
      'a',
      { schema: unique(20), effects: [{ on: 'create', mail: { template: 'welcome', to: 'a@example.com' } }] },
      'INVALID_SCHEMA',
      'many',
    ],
  ])('%s', (_, name, input, code, message) => {
    const refusal = refuse(name, input);
    expect(refusal).toMatchObject({ code });
    expect(refusal.message).toContain(message);
  });

  test('is at its limit of indexes, it is accepted', () => {
    const schema = [...unique(19), ...field(1, { key: 'one' }), ...field(1, { key: 'two' })];
    const mails = { on: 'create', mail: { template: 'welcome', to: 'a@example.com' } };
    parseCollection('a', { schema: unique(20) });
    parseCollection('a', { schema, effects: [mails], partition: 'one' });
    parseCollection('a', { schema, effects: [], unique: [['one', 'two'], ['two']] });
    parseCollection('a', { schema: unique(19), changes: true });
    expect(refuse('a', { schema, effects: [mails], partition: 'one', unique: [['two']] }).message).toContain('many');
  });

  test('deletes documents with its references and is not the accounts, it is accepted', () => {
    const schema = [{ key: 'team', type: 'Ref', ref: 'teams', onDelete: 'delete' }];
    expect(parseCollection('members', { schema }).schema).toHaveLength(1);
    expect(parseCollection('members', { schema, closed: true })).toMatchObject({ closed: true });
  });

  test('is users, its addresses are unique', () => {
    const uniqueIn = (name: string) => parseCollection(name, { schema: account }).schema?.map((one) => one.unique);
    expect([uniqueIn('users'), uniqueIn('a')]).toEqual([
      [true, false],
      [false, false],
    ]);
  });
});
