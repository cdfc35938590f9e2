import { beforeAll, describe, expect, test } from 'vitest';
import { handler as listDirectory } from '../../../functions/user-auth/list-directory.ts';
import { clock } from '../../../shared/core/clock.ts';
import { onManaged } from '../../../shared/persistence/mongo.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import type { CollectionInput } from '../../support/fixtures/project.ts';
import { changeStoredUsers, domainProject } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type SignIn, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();

const users: CollectionInput = {
  name: 'users',
  schema: [
    { key: 'email', type: 'String', required: true, unique: true },
    { key: 'password', type: 'String', required: true },
    { key: 'username', type: 'String', unique: true },
    { key: 'name', type: 'String' },
    { key: 'age', type: 'Number' },
    { key: 'phone', type: 'String', read: 'owner' },
    { key: 'card', type: 'Object', fields: [{ key: 'number', type: 'String', read: 'server' }] },
    { key: 'staff', type: 'Boolean', write: 'server' },
  ],
};

const anyUser = { $user: {} };
const directory = { read: anyUser, fields: ['username', 'name', 'age'] };

interface Found {
  readonly code?: string;
  readonly errors?: readonly { readonly field: string }[];
  readonly data: { readonly items: readonly { readonly _id: string }[]; readonly nextCursor?: string };
}

type User = Awaited<ReturnType<UsersProject['newUser']>>;

let project: UsersProject;
let [ada, bob, cem]: (User | undefined)[] = [];

const settings = { directory, signIn: { anonymous: true } };

beforeAll(async () => {
  project = await newUsersProject({ collection: users, settings });
  ada = await project.newUser({ username: 'ada', name: 'Ada Lovelace-Byron', age: 36, phone: '1' });
  bob = await project.newUser({ username: 'bob', name: 'Bob Ölander', age: 20 });
  cem = await project.newUser({ username: 'cem', name: 'Cem Adal', age: 20 });
});

const find = (query: Readonly<Record<string, string>> = {}, options: object = { token: ada?.token }, of = project) =>
  of.auth<Found>('GET', `users?${new URLSearchParams(query)}`, options);

const namesOf = async (query: Readonly<Record<string, string>>) => {
  const { status, body } = await find(query);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body.data.items.map((item) => (item as { username?: string }).username);
};

const where = (condition: unknown) => ({ where: JSON.stringify(condition) });

describe('the directory', () => {
  test('200 with _id and the fields of the directory, oldest first', async () => {
    const { status, body } = await find();
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        success: true,
        message: 'Users fetched',
        data: {
          items: [
            { _id: ada?.userId, username: 'ada', name: 'Ada Lovelace-Byron', age: 36 },
            { _id: bob?.userId, username: 'bob', name: 'Bob Ölander', age: 20 },
            { _id: cem?.userId, username: 'cem', name: 'Cem Adal', age: 20 },
          ],
        },
      },
    });
  });

  test('200 leaves out disabled, anonymous and deleted users, by ids too', async () => {
    const other = await newUsersProject({ collection: users, settings, owner: project.developer });
    const [one, disabled, trashed] = [await other.newUser(), await other.newUser(), await other.newUser()];
    const anonymous = await other.auth<SignIn>('POST', 'anonymous');
    expect(anonymous.status).toBe(201);
    await changeStoredUsers(other, { email: disabled.email }, { isDisabled: true });
    await changeStoredUsers(other, { email: trashed.email }, { isDeleted: true });
    const ids = [one, disabled, trashed, anonymous.body].map(({ userId }) => userId).join(',');
    for (const query of [{}, { ids }]) {
      const { body } = await find(query, { token: one.token }, other);
      expect(body.data.items).toEqual([{ _id: one.userId }]);
    }
  });

  test.each([
    [{ search: 'ad' }, ['ada', 'cem']],
    [{ search: 'ADA love' }, ['ada']],
    [{ search: 'byr' }, ['ada']],
    [{ search: 'olan' }, ['bob']],
    [{ search: 'velace' }, []],
    [{ search: 'ada bob' }, []],
    [{ search: 'a.a' }, ['ada', 'cem']],
    [where({ age: 20 }), ['bob', 'cem']],
    [where({ username: { $startsWith: 'a' } }), ['ada']],
    [where({ $or: [{ name: 'Cem Adal' }, { age: { $gt: 30 } }] }), ['ada', 'cem']],
    [{ ...where({ age: 20 }), search: 'ada' }, ['cem']],
  ])('200 with the users that match %j', async (query, expected) => {
    expect(await namesOf(query)).toEqual(expected);
  });

  test('200 with ids, in the order of the list, and where by _id', async () => {
    expect(await namesOf({ ids: `${cem?.userId},${ada?.userId},${'f'.repeat(24)}` })).toEqual(['ada', 'cem']);
    expect(await namesOf(where({ _id: { $in: [bob?.userId] } }))).toEqual(['bob']);
  });

  test('200 page by page', async () => {
    const first = await find({ limit: '2' });
    expect(first.body.data.items).toHaveLength(2);
    const cursor = first.body.data.nextCursor ?? '';
    expect(await namesOf({ limit: '2', cursor })).toEqual(['cem']);
    expect((await find({ limit: '2', cursor })).body.data).not.toHaveProperty('nextCursor');
  });

  test('200 with at most 100 users', async () => {
    const other = await newUsersProject({ collection: users, settings, owner: project.developer });
    const { token } = await other.newUser();
    await onManaged(await domainProject(other), (db) =>
      db.collection('users').insertMany(Array.from({ length: 101 }, (_, at) => ({ username: `many-${at}` }))),
    );
    const { body } = await find({ limit: '5000' }, { token }, other);
    expect(body.data.items).toHaveLength(100);
    expect(body.data.nextCursor).toEqual(expect.any(String));
  });

  test.each([
    ['limit', { limit: '0' }, 'INVALID_QUERY'],
    ['limit', { limit: 'x' }, 'INVALID_QUERY'],
    ['sort', { sort: 'age' }, 'INVALID_QUERY'],
    ['ids', { ids: 'x' }, 'INVALID_QUERY'],
    ['ids', { ids: '' }, 'INVALID_QUERY'],
    ['ids', { ids: Array.from({ length: 101 }, () => 'f'.repeat(24)).join(',') }, 'INVALID_QUERY'],
    ['search', { search: '' }, 'INVALID_QUERY'],
    ['search', { search: '--' }, 'INVALID_QUERY'],
    ['search', { search: 'a b c d e f g h i' }, 'INVALID_QUERY'],
    ['where', { where: '{' }, 'INVALID_FILTER'],
    ['age', where({ age: 'x' }), 'INVALID_FILTER'],
  ])('400 naming %s for %j', async (field, query, code) => {
    expect(await find(query)).toMatchObject({ status: 400, body: { code, errors: [{ field }] } });
  });

  test.each([
    'email',
    'password',
    'phone',
    'staff',
    'isDisabled',
    '_signIn.anonymous',
    'emailVerified',
    'identities.key',
    'createdAt',
  ])('400 INVALID_FILTER when where names %s, which the directory does not show', async (path) => {
    for (const condition of [{ [path]: { $exists: true } }, { $or: [{ age: 1 }, { $not: { [path]: 'x' } }] }]) {
      expect(await find(where(condition))).toMatchObject({ status: 400, body: { code: 'INVALID_FILTER' } });
    }
  });

  test('400 INVALID_FILTER when $elemMatch leads to a field that the directory does not show', async () => {
    const hidden = where({ identities: { $elemMatch: { key: 'github:1' } } });
    expect(await find(hidden)).toMatchObject({ status: 400, body: { code: 'INVALID_FILTER' } });
  });

  test('400 INVALID_CURSOR for a cursor of a list of documents', async () => {
    const cursor = Buffer.from('x').toString('base64url');
    expect(await find({ cursor })).toMatchObject({ status: 400, body: { code: 'INVALID_CURSOR' } });
  });

  test('401 TOKEN_MISSING without a user, and 401 TOKEN_INVALID with an invalid token', async () => {
    expect(await find({}, {})).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
    expect(await find({}, { token: 'a.b.c' })).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
  });

  test('403 PUBLISHABLE_KEY_REQUIRED with the secret key', async () => {
    const answer = await find({}, { key: project.secretKey });
    expect(answer).toMatchObject({ status: 403, body: { code: 'PUBLISHABLE_KEY_REQUIRED' } });
  });

  test('403 DIRECTORY_OFF when the project has none, also without a token', async () => {
    const other = await newUsersProject({ owner: project.developer });
    const { token } = await other.newUser();
    const refused = { status: 403, body: { code: 'DIRECTORY_OFF' } };
    expect(await find({}, { token }, other)).toMatchObject(refused);
    expect(await find({}, {}, other)).toMatchObject(refused);
  });

  test('403 RULE_DENIED for a user whom the rule does not allow, with the record of this moment', async () => {
    const rule = { read: { $user: { staff: true } }, fields: ['name'] };
    const other = await newUsersProject({ collection: users, settings: { directory: rule }, owner: project.developer });
    const { token, email, userId } = await other.newUser({ name: 'Ann' });
    const refused = { status: 403, body: { code: 'RULE_DENIED' } };
    expect(await find({}, { token }, other)).toMatchObject(refused);
    expect(await find({}, {}, other)).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
    await changeStoredUsers(other, { email }, { staff: true });
    const { body } = await find({}, { token }, other);
    expect(body.data.items).toEqual([{ _id: userId, name: 'Ann' }]);
    await changeStoredUsers(other, { email }, { staff: false });
    expect(await find({}, { token }, other)).toMatchObject(refused);
  });

  test('403 RULE_DENIED for everyone when the rule is false, and 200 without a user when it is true', async () => {
    for (const [read, expected] of [
      [false, { status: 403, body: { code: 'RULE_DENIED' } }],
      [true, { status: 200 }],
    ] as const) {
      const rule = { read, fields: ['name'] };
      const other = await newUsersProject({
        collection: users,
        settings: { directory: rule },
        owner: project.developer,
      });
      expect(await find({}, {}, other)).toMatchObject(expected);
    }
  });

  test('a field that gets a read option later is not shown and not compared any more', async () => {
    const other = await newUsersProject({ collection: users, settings, owner: project.developer });
    const { token, userId } = await other.newUser({ name: 'Ann', username: 'ann' });
    const schema = users.schema?.map((field) => (field.key === 'name' ? { ...field, read: 'owner' } : field));
    const path = `/api/projects/${other.id}/collections/users`;
    expect(await other.developer.dashboard('PUT', path, { schema })).toMatchObject({ status: 200 });
    await eventually(async () => {
      const { body } = await find({}, { token }, other);
      expect(body.data.items).toEqual([{ _id: userId, username: 'ann' }]);
    });
    expect(await find(where({ name: 'Ann' }), { token }, other)).toMatchObject({ status: 400 });
    expect((await find({ search: 'ann' }, { token }, other)).body.data.items).toHaveLength(1);
  });

  test.each([
    ['one find', anyUser, ['mongodb find']],
    [
      'two finds if the rule needs the record of the caller',
      { $user: { emailVerified: false } },
      ['mongodb find', 'mongodb find'],
    ],
  ])('a request costs %s', async (_title, read, expected) => {
    const rule = { read, fields: ['name'] };
    const other = await newUsersProject({ collection: users, settings: { directory: rule }, owner: project.developer });
    const { token } = await other.newUser();
    const frozen = Date.now();
    const before = clock.now;
    // A stopped clock keeps the project cached.
    clock.now = () => frozen;
    const run = () => invoke(listDirectory, { key: other.publishableKey, token });
    try {
      await run();
      const commands = await commandsOf(run);
      expect(commands.filter((command) => command.startsWith('mongodb'))).toEqual(expected);
    } finally {
      clock.now = before;
    }
  });
});

describe('the setting directory', () => {
  const set = (value: unknown, of = project) =>
    of.developer.dashboard<Found>('PATCH', `/api/projects/${of.id}`, { directory: value });

  test.each([
    ['directory.fields.0', { read: true, fields: ['email'] }],
    ['directory.fields.1', { read: true, fields: ['name', 'password'] }],
    ['directory.fields.0', { read: true, fields: ['phone'] }],
    ['directory.fields.0', { read: true, fields: ['card'] }],
    ['directory.fields.0', { read: true, fields: ['none'] }],
    ['directory.fields.0', { read: true, fields: ['name.first'] }],
    ['directory.fields.0', { read: true, fields: ['_signIn'] }],
    ['directory.fields', { read: true, fields: [] }],
    ['directory.fields', { read: true, fields: ['name', 'name'] }],
    ['directory.fields', { read: true, fields: Array.from({ length: 11 }, (_, at) => `f${at}`) }],
    ['directory.fields', { read: true }],
    ['directory.read', { fields: ['name'] }],
    ['directory.read', { read: 'x', fields: ['name'] }],
    ['directory.other', { read: true, fields: ['name'], other: 1 }],
    ['directory', []],
  ])('400 VALIDATION_FAILED naming %s for %j', async (field, value) => {
    expect(await set(value)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ field }] } });
  });

  test.each([
    ['directory.read', {}],
    ['directory.read.name', { name: 'x' }],
    ['directory.read.$user.name', { $user: { name: 'x' } }],
    ['directory.read.$and.0.age', { $and: [{ age: 1 }] }],
    ['directory.read', { $user: { staff: { $in: ['x'.repeat(9000)] } } }],
  ])('400 INVALID_RLS naming %s for a rule that is not valid', async (field, read) => {
    expect(await set({ read, fields: ['name'] })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_RLS', errors: [{ field }] },
    });
  });

  test('400 VALIDATION_FAILED without the collection users', async () => {
    const made = await project.developer.dashboard<{ data: { _id: string } }>('POST', '/api/projects', {
      name: 'bare',
    });
    const path = `/api/projects/${made.body.data._id}`;
    const answer = await project.developer.dashboard('PATCH', path, { directory });
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ field: 'directory' }] },
    });
  });

  test('is shown, has an index for each field, and null switches the directory off', async () => {
    const other = await newUsersProject({ collection: users, settings, owner: project.developer });
    const path = `/api/projects/${other.id}`;
    const shown = async () => (await other.developer.dashboard<{ data: object }>('GET', path)).body.data;
    expect(await shown()).toMatchObject({ directory });
    const indexes = async () => {
      const all = await onManaged(await domainProject(other), (db) => db.collection('users').indexes());
      return all.map(({ name }) => name).filter((name) => name?.startsWith('basalt_read_'));
    };
    const always = ['basalt_read_email', 'basalt_read_username'];
    expect((await indexes()).toSorted()).toEqual(['basalt_read_age', ...always, 'basalt_read_name'].toSorted());
    expect(await set(null, other)).toMatchObject({ status: 200, body: { data: { directory: null } } });
    expect((await indexes()).toSorted()).toEqual(always);
    expect(await shown()).toMatchObject({ directory: null });
  });
});
