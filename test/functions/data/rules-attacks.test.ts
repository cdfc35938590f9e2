import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { issueAccessToken } from '../../../shared/accounts/tokens.ts';
import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import type { Answer, RequestOptions } from '../../support/clients/client.ts';
import { type CollectionInput, newProject } from '../../support/fixtures/project.ts';
import { newUsersProject, users as standardUsers, type UsersProject } from '../../support/fixtures/users.ts';

/*
 * Attempts to read or write what access rules do not allow. Each collection has one document with a secret that no
 * attacker may read. No response may contain or count it, and no write may change it.
 */

const secret = 'treasure';
const me = { $user: '_id' };

const text = (key: string) => ({ key, type: 'String' });
const list = (key: string, items: object = { type: 'String' }) => ({ key, type: 'Array', items });

const users = {
  name: 'users',
  schema: [
    ...(standardUsers.schema ?? []).filter(({ key }) => key !== 'role'),
    { ...text('role'), write: 'server' },
    { ...list('teams'), write: 'server' },
    { ...list('badges'), write: 'server' },
    { key: 'level', type: 'Number', write: 'server' },
  ],
};

const memberships = (more: object) => ({ $from: 'memberships', select: 'team', where: { user: me, ...more } });

/** The rule condition of a collection, its other fields, and their values in the hidden document. */
interface Target {
  readonly rule: object | false;
  readonly schema?: CollectionInput['schema'];
  readonly holds: Readonly<Record<string, unknown>>;
}

const owner = 'a'.repeat(24);

const targets: Readonly<Record<string, Target>> = {
  owned: { rule: { owner: me }, schema: [text('owner')], holds: { owner } },
  free: { rule: { owner: me }, schema: null, holds: { owner } },
  nested: {
    rule: { 'meta.owner': me },
    schema: [{ key: 'meta', type: 'Object', fields: [text('owner')] }],
    holds: { meta: { owner } },
  },
  listed: { rule: { members: me }, schema: [list('members')], holds: { members: [owner] } },
  everyone: {
    rule: { $user: {}, cards: { $every: { owner: me } } },
    schema: [list('cards', { type: 'Object', fields: [text('owner')] })],
    holds: { cards: [{ owner }] },
  },
  teamed: { rule: { team: { $in: memberships({}) } }, schema: [text('team')], holds: { team: 'red' } },
  admins: {
    rule: { team: { $in: memberships({ role: { $user: 'role' } }) } },
    schema: [text('team')],
    holds: { team: 'red' },
  },
  excluded: {
    rule: { team: { $nin: memberships({ role: { $user: 'role' } }) } },
    schema: [text('team')],
    holds: { team: 'blue' },
  },
  staffed: { rule: { $user: { role: 'editor' } }, holds: {} },
  levelled: { rule: { $user: { level: { $gte: 0 } } }, holds: {} },
  unbanned: { rule: { $user: { $not: { badges: { $elemMatch: { $eq: 'banned' } } } } }, holds: {} },
  unmarked: { rule: { $not: { $user: { badges: { $every: { $eq: 'banned' } } } } }, holds: {} },
  mine: { rule: { team: { $in: { $user: 'teams' } } }, schema: [text('team')], holds: { team: 'red' } },
  others: { rule: { team: { $nin: { $user: 'teams' } } }, schema: [text('team')], holds: { team: 'red' } },
  mailed: {
    rule: { email: { $user: 'email' } },
    schema: [text('email')],
    holds: { email: 'mallory@example.com' },
  },
  verified: { rule: { $user: { emailVerified: true } }, holds: {} },
  referred: {
    rule: { $user: {}, $ref: { post: { open: true } } },
    schema: [{ key: 'post', type: 'Ref', ref: 'posts' }],
    holds: {},
  },
  compared: {
    rule: { $user: {}, one: { $doc: 'two' } },
    schema: [text('one'), text('two')],
    holds: { one: 'a', two: 'b' },
  },
  later: {
    rule: { $user: {}, at: { $lte: { $now: 0 } } },
    schema: [{ key: 'at', type: 'Date' }],
    holds: { at: '2999-01-01T00:00:00.000Z' },
  },
  closed: { rule: false, holds: {} },
};
const names = Object.keys(targets);

const collectionOf = (name: string, { rule, schema = [] }: Target) => ({
  name,
  schema: schema && [text('task'), { key: 'size', type: 'Number' }, ...schema],
  rls: {
    enabled: true,
    mode: 'rules',
    rules: { read: rule, create: rule, update: rule, delete: rule },
  },
  changes: true,
});

let project: UsersProject;
let opened: Project;
const ids = new Map<string, string>();
const links = new Map<string, string>();
const callers = new Map<string, RequestOptions>();
let malloryId: string;

type Doc = Readonly<Record<string, unknown>> & { readonly _id: string };

const dashboard = async (method: string, path: string, body?: object): Promise<void> => {
  const answer = await project.developer.dashboard(method, `/api/projects/${project.id}/${path}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
};

const insert = async (collection: string, body: unknown): Promise<string> => {
  const made = await project.api<Doc>('POST', `/api/data/${collection}`, { body });
  expect(made).toMatchObject({ status: 201 });
  return made.body._id;
};

beforeAll(async () => {
  project = await newUsersProject({ collection: users });
  const found = await findProjectByKey(project.secretKey, 'secret');
  opened = (found as { project: Project }).project;
  await project.addCollection({ name: 'posts', schema: [{ key: 'open', type: 'Boolean' }] });
  await project.addCollection({ name: 'memberships', schema: [text('user'), text('team'), text('role')] });
  for (const [name, target] of Object.entries(targets)) await project.addCollection(collectionOf(name, target));
  await project.addCollection({
    name: 'links',
    schema: names.map((name) => ({ key: name, type: 'Ref', ref: name })),
  });
  await project.addCollection({ name: 'open', schema: [text('task')] });
  await insert('open', { task: 'one' });

  const post = await insert('posts', { open: false });
  for (const [name, { holds }] of Object.entries(targets)) {
    const more = name === 'referred' ? { post } : {};
    const id = await insert(name, { task: secret, size: 7, ...holds, ...more });
    ids.set(name, id);
    links.set(name, await insert('links', { [name]: id }));
  }
  const key = project.publishableKey;
  const mallory = await project.signUp({ email: 'mallory@example.com', password: 'long enough 1' });
  malloryId = mallory.body.userId;
  const fallen = [await project.newUser(), await project.newUser()] as const;
  for (const { userId } of fallen) {
    await dashboard('PATCH', `users/${userId}`, { role: 'editor', teams: ['red'], badges: ['star'], level: 3 });
    await onProject(opened, (db) =>
      db.collection('users').updateOne({ _id: new ObjectId(userId) }, { $set: { emailVerified: true } }),
    );
    // An editor of another team, so that gaining or losing the role makes no other change.
    await insert('memberships', { user: userId, team: 'blue', role: 'editor' });
  }
  await dashboard('DELETE', `users/${fallen[0].userId}`);
  await dashboard('PATCH', `users/${fallen[1].userId}`, { disabled: true });
  await insert('memberships', { user: owner, team: 'red', role: 'admin' });
  // A deleted membership.
  const ended = await insert('memberships', { user: malloryId, team: 'red', role: 'reader' });
  expect(await project.api('DELETE', `/api/data/memberships/${ended}`)).toMatchObject({ status: 200 });

  const { now } = clock;
  clock.now = () => Date.now() - 24 * 3_600_000;
  const expired = (await issueAccessToken(opened, { userId: owner, sessionId: '0'.repeat(24), amr: [] })).accessToken;
  clock.now = now;
  const elsewhere = await newProject();
  callers
    .set('a user without rights', { key, token: mallory.body.accessToken })
    .set('a deleted user', { key, token: fallen[0].accessToken })
    .set('a disabled user', { key, token: fallen[1].accessToken })
    .set('no user', { key })
    .set('an expired token', { key, token: expired })
    .set('a token of another project', { key, token: await elsewhere.tokenFor(owner) })
    .set('a token with a changed user', { key, token: `${(await project.tokenFor(owner)).slice(0, -4)}AAAA` });
});

const api = (method: string, path: string, who: RequestOptions, body?: unknown): Promise<Answer> =>
  project.api(method, `/api/data/${path}`, { ...who, ...(body === undefined ? {} : { body }) });

type Attack = (name: string, who: RequestOptions) => Promise<Answer>;

const aggregate =
  (stages: (name: string) => unknown[], from?: string): Attack =>
  (name, who) =>
    api('POST', `${from ?? name}/aggregate`, who, { pipeline: stages(name) });

const get =
  (query: (name: string) => string): Attack =>
  (name, who) =>
    api('GET', query(name), who);

const idOf = (name: string): string => ids.get(name) ?? '';
const joined = (more: object) => (name: string) => [{ $lookup: { from: name, as: 'x', ...more } }];

const reads: Readonly<Record<string, Attack>> = {
  get: get((name) => `${name}/${idOf(name)}`),
  'get with the trash': get((name) => `${name}/${idOf(name)}?include_deleted=true`),
  list: get((name) => `${name}?limit=5`),
  'list with the trash': get((name) => `${name}?include_deleted=true`),
  'list by value': get((name) => `${name}?task=${secret}&fields=size`),
  'list by either': get((name) => `${name}?where={"$or":[{"size":7},{"size":{"$ne":7}}]}`),
  'list by id': get((name) => `${name}?_id=${idOf(name)}&sort=task`),
  'count by part': get((name) => `${name}?count=true&task_startsWith=t`),
  query: (name, who) => api('POST', `${name}/query`, who, { where: { $not: { size: 0 } }, sort: '-size' }),
  changes: get((name) => `${name}/changes?since=0`),
  populate: get((name) => `links/${links.get(name)}?populate=${name}`),
  'populate in a list': get((name) => `links?populate=${name}`),
  aggregate: aggregate(() => [{ $match: { $or: [{ size: 7 }, {}] } }]),
  'aggregate a count': aggregate(() => [{ $count: 'n' }]),
  $facet: aggregate(() => [{ $facet: { a: [{ $match: {} }], b: [{ $group: { _id: '$task' } }] } }]),
  '$lookup by field': aggregate(joined({ localField: 'none', foreignField: 'none' }), 'open'),
  '$lookup by pipeline': aggregate(joined({ pipeline: [{ $match: { size: { $gt: 0 } } }] }), 'open'),
  '$lookup nested': aggregate(
    (name) => [{ $lookup: { from: 'open', as: 'y', pipeline: joined({ pipeline: [] })(name) } }],
    'open',
  ),
  $unionWith: aggregate((name) => [{ $unionWith: { coll: name, pipeline: [] } }], 'open'),
  '$lookup in $facet': aggregate((name) => [{ $facet: { a: joined({ pipeline: [] })(name) } }], 'open'),
  $graphLookup: aggregate(
    (name) => [
      { $graphLookup: { from: name, startWith: 7, connectFromField: 'size', connectToField: 'size', as: 'x' } },
    ],
    'open',
  ),
};

const counted = /"(count|n|total)":1\b/;

/** Joins may count the one document of `open` or `links`. */
const tells = (body: unknown, isJoin: boolean): boolean => {
  const told = JSON.stringify(body);
  return told.includes(secret) || told.includes('"size":7') || (!isJoin && counted.test(told));
};
const joins = (read: string): boolean => /populate|lookup|union/i.test(read) && read !== 'populate in a list';

describe('reads', () => {
  test.each(Object.keys(reads))('%s shows the secret to the secret key', async (read) => {
    expect(tells((await reads[read]?.('owned', {}))?.body, joins(read))).toBe(true);
  });

  const table = Object.keys(reads).flatMap((read) => names.map((name) => [read, name] as const));
  test.each(table)('%s of %s reveals nothing to a user without rights', async (read, name) => {
    const answer = await reads[read]?.(name, callers.get('a user without rights') ?? {});
    expect(answer?.status).toBeLessThan(500);
    expect(tells(answer?.body, /populate|lookup|union/i.test(read)), JSON.stringify(answer?.body)).toBe(false);
  });

  const rest = ['a deleted user', 'a disabled user', 'no user', 'an expired token', 'a token of another project'];
  test.each([...rest, 'a token with a changed user'])('no route reveals anything to %s', async (caller) => {
    const told: string[] = [];
    for (const [read, attack] of Object.entries(reads)) {
      for (const name of names) {
        const answer = await attack(name, callers.get(caller) ?? {});
        const isTold = tells(answer.body, /populate|lookup|union/i.test(read));
        if (answer.status >= 500 || isTold) told.push(`${read} of ${name}: ${JSON.stringify(answer.body)}`);
      }
    }
    expect(told).toEqual([]);
  });
});

const put =
  (body: (name: string) => object, more = ''): Attack =>
  (name, who) =>
    api('PUT', `${name}/${idOf(name)}${more}`, who, body(name));

/** Values that would make the rule allow the caller. */
const claims = (name: string): object => ({
  ...(name === 'free' || name === 'owned' ? { owner: malloryId } : {}),
  ...(name === 'nested' ? { 'meta.owner': malloryId } : {}),
  ...(name === 'listed' ? { members: [owner, malloryId] } : {}),
  ...(name === 'everyone' ? { 'cards.0.owner': malloryId } : {}),
  ...(name === 'compared' ? { one: 'b' } : {}),
  ...(name === 'later' ? { at: '2000-01-01T00:00:00.000Z' } : {}),
  task: 'claimed',
});

const writes: Readonly<Record<string, Attack>> = {
  update: put(() => ({ task: 'changed' })),
  'update that claims it': put(claims),
  'update as it is': put(() => ({ size: 7 })),
  'update at its revision': (name, who) =>
    api('PUT', `${name}/${idOf(name)}`, { ...who, headers: { 'if-match': '"1"' } }, { task: 'changed' }),
  delete: (name, who) => api('DELETE', `${name}/${idOf(name)}`, who),
  'delete for good': (name, who) => api('DELETE', `${name}/${idOf(name)}?permanent=true`, who),
  recover: (name, who) => api('PATCH', `${name}/${idOf(name)}/recover`, who),
};

const stored = async (name: string): Promise<unknown> => {
  const answer = await api('GET', `${name}?include_deleted=true&meta=rev`, {});
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
};

describe('writes', () => {
  const table = Object.keys(writes).flatMap((write) => names.map((name) => [write, name] as const));
  test.each(table)('404 for %s of %s by a user without rights, as for a missing document', async (write, name) => {
    const before = await stored(name);
    expect(await writes[write]?.(name, callers.get('a user without rights') ?? {})).toMatchObject({
      status: 404,
      body: { code: 'DOCUMENT_NOT_FOUND' },
    });
    expect(await stored(name)).toEqual(before);
  });

  test.each([...names])('no caller writes or inserts in %s', async (name) => {
    const before = await stored(name);
    for (const [caller, who] of callers) {
      if (caller === 'a user without rights') continue;
      for (const [write, attack] of Object.entries(writes)) {
        const { status } = await attack(name, who);
        expect([401, 403, 404], `${caller}: ${write}`).toContain(status);
      }
    }
    const made = { task: 'made', ...targets[name]?.holds };
    for (const [caller, who] of callers) {
      expect([401, 403], caller).toContain((await api('POST', name, who, made)).status);
      expect([401, 403], caller).toContain((await api('POST', `${name}/bulk`, who, [made, made])).status);
    }
    expect(await stored(name)).toEqual(before);
  });
});

describe('caller input', () => {
  let ann: RequestOptions;
  let annId: string;

  beforeAll(async () => {
    const user = await project.newUser();
    annId = user.userId;
    ann = { key: project.publishableKey, token: user.accessToken };
    await project.addCollection({
      name: 'prices',
      schema: [
        text('owner'),
        { key: 'price', type: 'Number' },
        { key: 'meta', type: 'Object', fields: [text('a'), text('b')] },
      ],
      rls: {
        enabled: true,
        mode: 'rules',
        rules: {
          read: { owner: me },
          create: { owner: me },
          update: {
            before: { owner: me },
            after: { owner: me, price: { $stored: 'price' }, 'meta.a': { $stored: 'meta.a' } },
          },
          delete: { owner: me },
        },
      },
    });
  });

  test.each<[string, unknown]>([
    ['$user', { owner: { $user: '_id' } }],
    ['$doc', { task: { $doc: 'owner' } }],
    ['$from', { team: { $in: { $from: 'memberships', select: 'team' } } }],
    ['$now', { at: { $lt: { $now: 0 } } }],
    ['$ref', { $ref: { post: { open: false } } }],
    ['the key $user', { $user: {} }],
    ['$every', { members: { $every: { $ne: 'a' } } }],
    ['$expr', { $expr: { $eq: ['$owner', owner] } }],
    ['$where', { $where: 'true' }],
  ])('400 for a filter with %s', async (_title, where) => {
    for (const name of ['owned', 'free']) {
      const asked = await api('POST', `${name}/query`, ann, { where });
      expect(asked).toMatchObject({ status: 400 });
      const listed = await api('GET', `${name}?where=${encodeURIComponent(JSON.stringify(where))}`, ann);
      expect(listed).toMatchObject({ status: 400 });
    }
  });

  /** Values that resemble the user’s own id but differ from it. */
  const others = (): readonly unknown[] => [
    ...[
      { $user: '_id' },
      { $eq: annId },
      { $oid: annId },
      { _id: annId },
      { 0: annId },
      [annId],
      [[annId]],
      [owner, annId],
    ],
    ...[null, '', 0, 1, true, annId.toUpperCase(), ` ${annId}`, `${annId}\u0000`, { toString: annId }, []],
    JSON.parse(`{"__proto__": {"owner": "${annId}"}}`),
  ];

  test('an insert is rejected when its owner resembles the caller’s id but differs from it', async () => {
    for (const name of ['owned', 'free', 'nested']) {
      const before = await stored(name);
      for (const value of others()) {
        const body = name === 'nested' ? { meta: { owner: value } } : { owner: value };
        expect([400, 403], JSON.stringify([name, value])).toContain((await api('POST', name, ann, body)).status);
        const bulk = [name === 'nested' ? { meta: { owner: annId } } : { owner: annId }, body];
        expect([400, 403], JSON.stringify([name, value])).toContain(
          (await api('POST', `${name}/bulk`, ann, bulk)).status,
        );
      }
      expect(await stored(name)).toEqual(before);
    }
    for (const meta of [[{ owner: annId }], { owner: [annId] }, [[{ owner: annId }]]]) {
      expect([400, 403]).toContain((await api('POST', 'nested', ann, { meta })).status);
    }
  });

  test.each<[string, object]>([
    ['__proto__', JSON.parse('{"__proto__": {"price": 1}, "price": 1}')],
    ['a dotted __proto__', JSON.parse('{"__proto__.price": 1}')],
    ['a dotted part of a compared field', { 'meta.a': 'changed' }],
    ['an object in place of a compared field', { meta: { a: 'changed' } }],
    ['an object without a compared field', { meta: { b: 'changed' } }],
    ['null in place of an object', { meta: null }],
    ['another price', { price: 8 }],
    ['a price and its own opposite', { price: 8, 'price.x': 7 }],
    ['no price', { price: null }],
    ['a price as a text', { price: '7' }],
    ['another owner', { owner }],
    ['owners', { owner: [owner] }],
    ['no owner', { owner: null }],
    ['an operator', { $set: { price: 8 } }],
    ['an operator below a field', { price: { $inc: 1 } }],
  ])('an update with %s is rejected and changes nothing', async (_title, body) => {
    const id = await insert('prices', { owner: annId, price: 7, meta: { a: 'a', b: 'b' } });
    const before = await api('GET', `prices/${id}`, ann);
    expect([400, 403]).toContain((await api('PUT', `prices/${id}`, ann, body)).status);
    expect((await api('GET', `prices/${id}`, ann)).body).toEqual(before.body);
  });

  test.each<[string, object]>([
    ['_id', { _id: 'f'.repeat(24) }],
    ['_rev', { _rev: 1 }],
    ['isDeleted', { isDeleted: true }],
    ['createdAt', { createdAt: '2000-01-01T00:00:00.000Z' }],
    ['_pos', { _pos: 0 }],
  ])('an update of %s does not set it', async (field, body) => {
    const id = await insert('prices', { owner: annId, price: 7, meta: { a: 'a' } });
    const before = (await api('GET', `prices/${id}`, {})).body;
    await api('PUT', `prices/${id}`, ann, { ...body, 'meta.b': 'new' });
    const after = (await api('GET', `prices/${id}`, {})).body;
    expect(after[field]).toEqual(before[field]);
  });

  test('404 for a hidden document at any revision, so no route reveals the current one', async () => {
    const told = new Set<string>();
    for (const tag of ['"1"', '"2"', '*', 'W/"1"', '"x"']) {
      const { status, body } = await api(
        'PUT',
        `owned/${idOf('owned')}`,
        { ...ann, headers: { 'if-match': tag } },
        { task: 'x' },
      );
      if (status !== 400) told.add(`${status} ${String(body.code)}`);
    }
    expect([...told]).toEqual(['404 DOCUMENT_NOT_FOUND']);
    for (const tag of ['"1"', '*']) {
      const headers = { 'if-none-match': tag };
      expect(await api('GET', `owned/${idOf('owned')}`, { ...ann, headers })).toMatchObject({ status: 404 });
    }
  });

  test('the Idempotency-Key of another user’s request reveals nothing about its document', async () => {
    const headers = { 'idempotency-key': 'the-same-key-of-both' };
    const body = { owner: annId, task: secret };
    expect(await api('POST', 'owned', { ...ann, headers }, body)).toMatchObject({ status: 201 });
    for (const caller of ['a user without rights', 'no user', 'a deleted user']) {
      const answer = await api('POST', 'owned', { ...callers.get(caller), headers }, body);
      expect([401, 403]).toContain(answer.status);
      expect(JSON.stringify(answer.body)).not.toContain(secret);
    }
  });

  test('403 FIELD_PROTECTED when users give themselves rights', async () => {
    const body = { email: 'self@example.com', password: 'long enough 1' };
    for (const right of [{ role: 'editor' }, { teams: ['red'] }, { level: 9 }, { 'teams.0': 'red' }]) {
      expect(await project.signUp({ ...body, ...right })).toMatchObject({
        status: 403,
        body: { code: 'FIELD_PROTECTED' },
      });
      const changed = await project.auth('PUT', 'update-profile', { token: ann.token ?? '', body: right });
      expect(changed).toMatchObject({ status: 403, body: { code: 'FIELD_PROTECTED' } });
    }
    expect(await api('POST', 'memberships', ann, { user: annId, team: 'red' })).toMatchObject({ status: 403 });
    await project.auth('PUT', 'update-profile', { token: ann.token ?? '', body: { name: 'n', emailVerified: true } });
    expect(await api('GET', `verified/${idOf('verified')}`, ann)).toMatchObject({ status: 404 });
  });

  test('400 INVALID_POSITION for a position of another user’s feed', async () => {
    const { next } = (await project.api<{ data: { next: string } }>('GET', '/api/data/owned/changes', ann)).body.data;
    for (const caller of ['a user without rights', 'a deleted user']) {
      const answer = await api('GET', `owned/changes?since=${next}`, callers.get(caller) ?? {});
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_POSITION' } });
    }
  });
});

describe('10,001 memberships', () => {
  const crowded = async (user: string, first: string): Promise<void> => {
    const now = new Date();
    const made = (n: number) => ({
      ...{ _id: new ObjectId(), user, team: n === 0 ? first : `${user} ${n}`, role: 'reader' },
      ...{ isDeleted: false, deletedAt: null, createdAt: now, updatedAt: now, _rev: 1 },
    });
    const all = Array.from({ length: 10_002 }, (_, n) => made(n));
    await onProject(opened, (db) => db.collection('memberships').insertMany(all));
  };

  test('leave the user the oldest documents in a list, and a get has no limit', async () => {
    const user = await project.newUser();
    const who = { key: project.publishableKey, token: user.accessToken };
    await crowded(user.userId, 'first');
    const oldest = await insert('teamed', { team: 'first' });
    const newest = await insert('teamed', { team: `${user.userId} 10001` });
    expect(await api('GET', 'teamed', who)).toMatchObject({ body: { data: { items: [{ _id: oldest }], total: 1 } } });
    for (const id of [oldest, newest]) expect(await api('GET', `teamed/${id}`, who)).toMatchObject({ status: 200 });
  });

  test('403 RULE_LIMIT for a list that excludes them', async () => {
    const user = await project.newUser();
    const who = { key: project.publishableKey, token: user.accessToken };
    await dashboard('PATCH', `users/${user.userId}`, { role: 'reader' });
    await crowded(user.userId, 'blue');
    expect(await api('GET', 'excluded', who)).toMatchObject({ status: 403, body: { code: 'RULE_LIMIT' } });
    expect(await api('POST', 'open/aggregate', who, { pipeline: [{ $unionWith: 'excluded' }] })).toMatchObject({
      status: 403,
    });
    expect(await api('GET', `excluded/${idOf('excluded')}`, who)).toMatchObject({ status: 404 });
  });
});
