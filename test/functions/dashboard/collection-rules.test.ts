import { beforeAll, describe, expect, test } from 'vitest';
import type { Answer, RequestOptions } from '../../support/clients/client.ts';
import { newUsersProject, users as standardUsers, type UsersProject } from '../../support/fixtures/users.ts';

/* The dashboard API saves and deletes collections whose access rules use other collections and their fields. */

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const me = { $user: '_id' };
const rls = (rules: object | undefined) => ({ enabled: true, mode: 'rules', ...(rules && { rules }) });

const posts = [text('title'), text('author'), { key: 'open', type: 'Boolean' }];
const memberships = [text('user'), text('team')];
const userFields = (role: object) => [
  ...(standardUsers.schema ?? []).filter(({ key }) => key !== 'role'),
  text('role', role),
];

type Rls = Readonly<Record<string, unknown>>;

let project: UsersProject;

const collections = (method: string, name = '', body?: object): Promise<Answer> =>
  project.developer.dashboard(method, `/api/projects/${project.id}/collections${name}`, body);

beforeAll(async () => {
  project = await newUsersProject({ collection: { name: 'users', schema: userFields({ write: 'server' }) } });
  await project.addCollection({ name: 'posts', schema: posts, rls: rls({ read: { author: me } }) });
  await project.addCollection({ name: 'memberships', schema: memberships });
  await project.addCollection({ name: 'free' });
  await project.addCollection({
    name: 'cards',
    schema: [text('team'), { key: 'post', type: 'Ref', ref: 'posts' }],
    rls: rls({
      read: {
        $or: [
          { team: { $in: { $from: 'memberships', select: 'team', where: { user: me } } } },
          { $ref: { post: { open: true } } },
          { $user: { role: 'editor' } },
        ],
      },
    }),
  });
});

describe('collections and fields that rules use', () => {
  const without = (fields: readonly { key: string }[], key: string) => fields.filter((field) => field.key !== key);

  test.each([
    ['a field that $from selects', 'memberships', { schema: without(memberships, 'team') }, '$or.0.team.$in.select'],
    [
      'a field in the where of $from',
      'memberships',
      { schema: without(memberships, 'user') },
      '$or.0.team.$in.where.user',
    ],
    [
      'a field of a $ref',
      'posts',
      { schema: without(posts, 'open'), rls: rls({ read: true }) },
      '$or.1.$ref.post.open',
    ],
    ['the write option of a field of users', 'users', { schema: userFields({}) }, '$or.2.$user.role'],
    [
      'a field of users',
      'users',
      { schema: standardUsers.schema?.filter(({ key }) => key !== 'role') },
      '$or.2.$user.role',
    ],
  ])('409 SCHEMA_CONFLICT for an edit that removes %s, with the rule', async (_title, name, changes, at) => {
    const before = await collections('GET', `/${name}`);
    expect(await collections('PUT', `/${name}`, changes)).toMatchObject({
      status: 409,
      body: {
        code: 'SCHEMA_CONFLICT',
        message: expect.stringContaining('"cards"'),
        errors: [{ field: `cards: rules.read.${at}` }],
      },
    });
    expect((await collections('GET', `/${name}`)).body).toEqual(before.body);
  });

  test('409 SCHEMA_CONFLICT for an edit that removes a field which the collection’s own rules still use', async () => {
    const schema = without(posts, 'author');
    expect(await collections('PUT', '/posts', { schema })).toMatchObject({
      status: 409,
      body: { code: 'SCHEMA_CONFLICT', errors: [{ field: 'posts: rules.read.author' }] },
    });
    const rules = { read: { author: me }, create: true };
    expect(await collections('PUT', '/posts', { schema, rls: rls(rules) })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_RLS', errors: [{ field: 'rules.read.author' }] },
    });
  });

  test.each(['memberships', 'posts', 'users'])('409 SCHEMA_CONFLICT for a deletion of %s', async (name) => {
    expect(await collections('DELETE', `/${name}`)).toMatchObject({
      status: 409,
      body: { code: 'SCHEMA_CONFLICT', message: expect.stringContaining('"cards"') },
    });
    expect(await collections('GET', `/${name}`)).toMatchObject({ status: 200 });
  });

  test('a collection is deleted when no rule uses it; one with rules can always be deleted', async () => {
    expect(await collections('DELETE', '/free')).toMatchObject({ status: 200 });
    await project.addCollection({
      name: 'own',
      schema: null,
      rls: rls({ read: { a: { $in: { $from: 'own', select: 'b' } } } }),
    });
    expect(await collections('DELETE', '/own')).toMatchObject({ status: 200 });
    expect(await collections('PUT', '/cards', { rls: rls({ read: { team: 'red' } }) })).toMatchObject({
      status: 200,
    });
    expect(await collections('DELETE', '/memberships')).toMatchObject({ status: 200 });
  });

  test('404 COLLECTION_NOT_FOUND for the deletion of an unknown collection', async () => {
    expect(await collections('DELETE', '/nothing')).toMatchObject({ status: 404 });
  });
});

describe('400 INVALID_RLS', () => {
  test.each([
    ['rules with another mode', { enabled: true, mode: 'private', rules: { read: true } }],
    ['rules without a mode', { enabled: true, rules: { read: true } }],
    ['rules that are not enabled', { enabled: false, mode: 'rules', rules: { read: true } }],
  ])('for %s', async (_title, given) => {
    const made = await collections('POST', '', { name: 'refused', schema: null, rls: given });
    expect(made).toMatchObject({ status: 400, body: { code: 'INVALID_RLS', errors: [{ field: 'rules' }] } });
  });

  test('for rules of users', async () => {
    const edited = await collections('PUT', '/users', { rls: rls({ read: true }) });
    expect(edited).toMatchObject({ status: 400, body: { code: 'INVALID_RLS', errors: [{ field: 'rules' }] } });
    const other = await newUsersProject();
    const path = `/api/projects/${other.id}/collections/users`;
    expect(await other.developer.dashboard('DELETE', path)).toMatchObject({ status: 200 });
    for (const rules of [{ read: true }, undefined]) {
      const body = { ...standardUsers, rls: rls(rules) };
      const made = await other.developer.dashboard('POST', path.replace('/users', ''), body);
      expect(made).toMatchObject({ status: 400, body: { code: 'INVALID_RLS', errors: [{ field: 'rules' }] } });
    }
  });

  test('with the path in the rule', async () => {
    const body = { name: 'refused', schema: [text('a')], rls: rls({ read: { $or: [{ a: 'x' }, { b: 'x' }] } }) };
    expect(await collections('POST', '', body)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_RLS', errors: [{ field: 'rules.read.$or.1.b' }] },
    });
  });
});

describe('a rule that can mean its halves or fields of their names', () => {
  const flags = [
    { key: 'list', type: 'Boolean' },
    { key: 'after', type: 'Boolean' },
  ];

  test.each([
    ['rules.read.list', { rls: rls({ read: { list: true } }) }],
    ['rules.update.after', { rls: rls({ update: { after: true } }) }],
    ['schema.text.write.after', { schema: [...flags, text('text', { write: { after: true } })] }],
  ])('400 INVALID_RLS for %s', async (field, more) => {
    const made = await collections('POST', '', { name: 'refused', schema: flags, ...more });
    expect(made).toMatchObject({ status: 400, body: { code: 'INVALID_RLS', errors: [{ field }] } });
  });

  test('400 INVALID_EFFECT for the condition of an effect', async () => {
    const effects = [{ on: 'update', where: { after: true }, set: { list: true } }];
    expect(await collections('POST', '', { name: 'refused', schema: flags, effects })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_EFFECT', errors: [{ field: 'effects.0.where.after' }] },
    });
  });

  test('201 if it has a half without such a field, or $and; 409 SCHEMA_CONFLICT for a field that makes it unclear', async () => {
    for (const read of [{ get: true, list: true }, { $and: [{ list: true }] }]) {
      const name = `clear${Math.random().toString(36).slice(2)}`;
      expect(await collections('POST', '', { name, schema: flags, rls: rls({ read }) })).toMatchObject({ status: 201 });
    }
    await project.addCollection({ name: 'halved', schema: [text('a')], rls: rls({ read: { list: true } }) });
    expect(await collections('PUT', '/halved', { schema: [text('a'), ...flags] })).toMatchObject({
      status: 409,
      body: { code: 'SCHEMA_CONFLICT' },
    });
  });
});

test('a read rule that names ids by $from has no hint about an index', async () => {
  await project.addCollection({ name: 'seats', schema: memberships });
  const read = { _id: { $in: { $from: 'seats', select: 'team', where: { user: me } } } };
  const made = await collections('POST', '', { name: 'teams', schema: [text('a')], rls: rls({ read }) });
  expect(made.status).toBe(201);
  expect(JSON.stringify(made.body)).not.toContain('no index finds');
});

describe('an edit of the read rights', () => {
  const settled = async (act: () => Promise<Answer>, status: number): Promise<void> =>
    expect.poll(async () => (await act()).status, { timeout: 20_000, interval: 200 }).toBe(status);

  test.each<[string, Rls, Rls]>([
    ['public-read to rules that allow nothing', { enabled: true }, rls(undefined)],
    ['rules that allow nothing to public-read', rls(undefined), { enabled: true, mode: 'public-read' }],
    ['one read rule to another', rls({ read: true }), rls({ read: { a: 'x' } })],
  ])('410 POSITION_GONE and other channels from %s', async (_title, before, now) => {
    const name = `feed${Math.random().toString(36).slice(2)}`;
    await project.addCollection({ name, schema: [text('a')], rls: before, changes: true });
    const anyone: RequestOptions = { key: project.publishableKey };
    const changes = (since = '') =>
      project.api<{ data: { next: string } }>('GET', `/api/data/${name}/changes${since}`, anyone);
    const { next } = (await changes()).body.data;
    expect(await changes(`?since=${next}`)).toMatchObject({ status: 200 });
    const channel = async () => {
      const body = { collections: [name] };
      const made = await project.api<{ data: { channels: Record<string, string> } }>('POST', '/api/realtime/tickets', {
        ...anyone,
        body,
      });
      return made.body.data.channels[name];
    };
    const heard = await channel();
    expect(await collections('PUT', `/${name}`, { rls: now })).toMatchObject({ status: 200 });
    await settled(() => changes(`?since=${next}`), 410);
    expect(await channel()).not.toBe(heard);
  });
});

test('publishable keys get the mode, without the rules', async () => {
  const answer = await project.api('GET', '/api/schemas/cards', { key: project.publishableKey });
  expect(answer).toMatchObject({ status: 200 });
  expect(JSON.stringify(answer.body)).toContain('"mode":"rules"');
  expect(JSON.stringify(answer.body)).not.toContain('"read"');
});
