import { beforeAll, describe, expect, test } from 'vitest';
import type { Answer, RequestOptions } from '../../support/clients/client.ts';
import { newUsersProject, users as standardUsers, type UsersProject } from '../../support/fixtures/users.ts';

/*
 * Access rules (`rls.mode: "rules"`) through the public API, in an app of posts, teams, cards, tasks and orders.
 */

const users = {
  name: 'users',
  schema: [
    ...(standardUsers.schema ?? []).filter(({ key }) => key !== 'role'),
    { key: 'role', type: 'String', write: 'server' },
    { key: 'teams', type: 'Array', items: { type: 'String' }, write: 'server' },
  ],
};

const rules = (given: object, more: object = {}) => ({ enabled: true, mode: 'rules', rules: given, ...more });
const me = { $user: '_id' };
const isEditor = { $user: { role: 'editor' } };

const memberOf = (role: object = {}) => ({
  team: { $in: { $from: 'memberships', select: 'team', where: { user: me, ...role } } },
});

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const number = (key: string, more: object = {}) => ({ key, type: 'Number', ...more });
const list = (key: string, type: string, more: object = {}) => ({ key, type: 'Array', items: { type, ...more } });

const collections = [
  {
    name: 'posts',
    schema: [text('title'), text('author'), { key: 'published', type: 'Boolean', default: false }],
    rls: rules({
      read: { $or: [{ published: true }, { author: me }, isEditor] },
      create: { author: me },
      update: { $or: [{ author: me }, isEditor] },
      delete: { author: me },
    }),
    changes: true,
  },
  {
    name: 'comments',
    schema: [text('body'), { key: 'post', type: 'Ref', ref: 'posts' }],
    rls: rules({
      read: { $ref: { post: { published: true } } },
      create: { $ref: { post: { published: true } } },
    }),
  },
  { name: 'memberships', schema: [text('user'), text('team'), text('role')], rls: rules({ read: { user: me } }) },
  {
    name: 'cards',
    schema: [text('title'), text('team')],
    rls: rules({ read: memberOf(), create: memberOf(), update: memberOf(), delete: memberOf({ role: 'admin' }) }),
  },
  {
    name: 'events',
    schema: [text('title'), list('attendees', 'String'), number('likes', { default: 0 }), text('status'), text('note')],
    rls: rules({
      read: true,
      create: { $user: {} },
      update: {
        before: { $user: {} },
        after: {
          $or: [
            { $only: ['attendees'], attendees: { $stored: 'attendees', adds: me } },
            { $only: ['likes'], likes: { $stored: 'likes', plus: 1 } },
            { $stored: { status: 'open' }, status: 'done', $only: ['status', 'note'] },
          ],
        },
      },
    }),
  },
  { name: 'products', schema: [text('name'), number('price')], rls: rules({ read: true }) },
  {
    name: 'orders',
    schema: [{ key: 'product', type: 'Ref', ref: 'products' }, number('price'), text('buyer')],
    rls: rules({ read: { buyer: me }, create: { buyer: me, price: { $doc: 'product.price' } } }),
  },
  { name: 'inbox', schema: [text('body')], rls: rules({ read: false, create: true }) },
  {
    name: 'diary',
    schema: [text('body')],
    rls: rules(
      { read: true, create: true, update: true, delete: true, readTrash: { userId: me }, recover: false, purge: false },
      { ownerField: 'userId' },
    ),
  },
  { name: 'members', schema: [text('name')], rls: { enabled: true, mode: 'signed-in' } },
  {
    name: 'links',
    schema: [
      { key: 'card', type: 'Ref', ref: 'cards' },
      { key: 'member', type: 'Ref', ref: 'members' },
    ],
  },
];

let project: UsersProject;
let ann: RequestOptions;
let bob: RequestOptions;
let editor: RequestOptions;
let stranger: RequestOptions;
let invalid: RequestOptions;
let annId: string;
let bobId: string;

type Doc = Readonly<Record<string, unknown>> & { readonly _id: string };
interface Page {
  readonly data: { readonly items: readonly Doc[]; readonly total: number; readonly count?: number };
}

const api = <Body = Record<string, unknown>>(
  method: string,
  path: string,
  who: RequestOptions = {},
  body?: unknown,
): Promise<Answer<Body>> =>
  project.api<Body>(method, `/api/data/${path}`, { ...who, ...(body === undefined ? {} : { body }) });

const insert = async (collection: string, body: unknown, who: RequestOptions = {}): Promise<string> => {
  const made = await api<Doc>('POST', collection, who, body);
  expect(made).toMatchObject({ status: 201 });
  return made.body._id;
};

const idsOf = async (collection: string, who: RequestOptions, query = ''): Promise<readonly string[]> => {
  const page = await api<Page>('GET', `${collection}?limit=100${query}`, who);
  expect(page).toMatchObject({ status: 200 });
  expect(page.body.data.total).toBe(page.body.data.items.length);
  return page.body.data.items.map(({ _id }) => _id);
};

const setUser = async (id: string, body: object): Promise<void> => {
  const answer = await project.developer.dashboard('PATCH', `/api/projects/${project.id}/users/${id}`, body);
  expect(answer).toMatchObject({ status: 200 });
};

beforeAll(async () => {
  project = await newUsersProject({ collection: users });
  for (const collection of collections) await project.addCollection(collection);
  const key = project.publishableKey;
  const [one, two, three] = [await project.newUser(), await project.newUser(), await project.newUser()];
  [annId, bobId] = [one.userId, two.userId];
  ann = { key, token: one.accessToken };
  bob = { key, token: two.accessToken };
  editor = { key, token: three.accessToken };
  stranger = { key };
  invalid = { key, token: `${one.accessToken}x` };
  await setUser(three.userId, { role: 'editor' });
});

describe('reads under rules', () => {
  let [published, ofAnn, ofBob]: string[] = [];

  beforeAll(async () => {
    published = await insert('posts', { title: 'open', author: annId, published: true });
    ofAnn = await insert('posts', { title: 'draft of Ann', author: annId });
    ofBob = await insert('posts', { title: 'draft of Bob', author: bobId });
  });

  test('list the documents that the rule allows for each caller', async () => {
    expect(await idsOf('posts', stranger)).toEqual([published]);
    expect(new Set(await idsOf('posts', ann))).toEqual(new Set([published, ofAnn]));
    expect(new Set(await idsOf('posts', editor))).toEqual(new Set([published, ofAnn, ofBob]));
  });

  test('filter, sort, count and search only visible documents', async () => {
    expect(await idsOf('posts', ann, '&title_startsWith=draft')).toEqual([ofAnn]);
    expect(await idsOf('posts', ann, '&sort=title')).toEqual([ofAnn, published]);
    expect(await api('GET', 'posts?count=true', bob)).toMatchObject({ body: { data: { count: 2 } } });
    const asked = await api<Page>('POST', 'posts/query', bob, { where: { author: annId } });
    expect(asked.body.data.items.map(({ _id }) => _id)).toEqual([published]);
  });

  test('follow a cursor over visible documents only', async () => {
    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; pages < 5; pages += 1) {
      const page = await api<{ data: { items: Doc[]; nextCursor: string | null } }>(
        'GET',
        `posts?limit=1&sort=title&cursor=${cursor}`,
        ann,
      );
      expect(page.body).toMatchObject({ data: { items: [{}] } });
      seen.push(...page.body.data.items.map(({ _id }) => _id));
      if (page.body.data.nextCursor === null) break;
      cursor = encodeURIComponent(page.body.data.nextCursor);
    }
    expect(seen).toEqual([ofAnn, published]);
  });

  test('404 for a document that the rule hides', async () => {
    expect(await api('GET', `posts/${ofBob}`, ann)).toMatchObject({
      status: 404,
      body: { code: 'DOCUMENT_NOT_FOUND' },
    });
    expect(await api('GET', `posts/${ofBob}`, editor)).toMatchObject({ status: 200 });
    expect(await api('GET', `posts/${published}`, stranger)).toMatchObject({ status: 200 });
  });

  test('aggregate and join only visible documents', async () => {
    const pipeline = [{ $group: { _id: '$author', n: { $sum: 1 } } }, { $sort: { n: -1 } }];
    expect(await api('POST', 'posts/aggregate', bob, { pipeline })).toMatchObject({
      status: 200,
      body: { data: [{ n: 1 }, { n: 1 }] },
    });
    const join = [
      { $lookup: { from: 'posts', localField: 'nothing', foreignField: 'nothing', as: 'all' } },
      { $limit: 1 },
    ];
    const joined = await api<{ data: { all: unknown[] }[] }>('POST', 'products/aggregate', stranger, {
      pipeline: [{ $match: {} }, ...join],
    });
    expect(joined).toMatchObject({ status: 200 });
  });

  test('401 TOKEN_MISSING when only a user could be allowed, before the id is checked', async () => {
    const refused = { status: 401, body: { code: 'TOKEN_MISSING' } };
    expect(await api('GET', 'cards', stranger)).toMatchObject(refused);
    expect(await api('GET', 'cards/no-id', stranger)).toMatchObject(refused);
    expect(await api('POST', 'cards/aggregate', stranger, { pipeline: [] })).toMatchObject(refused);
    expect(await api('GET', 'members', stranger)).toMatchObject(refused);
  });

  test('401 TOKEN_INVALID for an invalid token, also on reads', async () => {
    for (const path of ['posts', `posts/${published}`, 'members', 'products']) {
      expect(await api('GET', path, invalid)).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
    }
  });

  test('an empty list, and 404 for one document before the id is checked, when the rule is false', async () => {
    const made = await insert('inbox', { body: 'hidden' });
    expect(await idsOf('inbox', ann)).toEqual([]);
    expect(await api('GET', `inbox/${made}`, ann)).toMatchObject({ status: 404 });
    expect(await api('GET', 'inbox/no-id', ann)).toMatchObject({ status: 404 });
    expect(await api('GET', `inbox/${made}`)).toMatchObject({ status: 200 });
  });

  test('every signed-in user reads in mode signed-in, and only the owner writes', async () => {
    const made = await insert('members', { name: 'a' }, ann);
    expect(await idsOf('members', bob)).toEqual([made]);
    expect(await api('PUT', `members/${made}`, bob, { name: 'b' })).toMatchObject({
      status: 403,
      body: { code: 'NOT_OWNER' },
    });
  });
});

describe('lookups of rules', () => {
  let [red, blue]: string[] = [];

  beforeAll(async () => {
    await insert('memberships', { user: annId, team: 'red', role: 'admin' });
    await insert('memberships', { user: bobId, team: 'red', role: 'reader' });
    red = await insert('cards', { title: 'r', team: 'red' });
    blue = await insert('cards', { title: 'b', team: 'blue' });
  });

  test('$from shows the documents of the caller’s teams', async () => {
    expect(await idsOf('cards', ann)).toEqual([red]);
    expect(await api('GET', `cards/${blue}`, ann)).toMatchObject({ status: 404 });
    expect(await idsOf('cards', editor)).toEqual([]);
  });

  test('403 RULE_DENIED for a card of another team, and for a deletion by a reader', async () => {
    expect(await api('POST', 'cards', ann, { title: 'x', team: 'blue' })).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED' },
    });
    expect(await api('POST', 'cards', ann, { title: 'x', team: ['red', 'blue'] })).toMatchObject({ status: 400 });
    expect(await api('DELETE', `cards/${red}`, bob)).toMatchObject({ status: 403, body: { code: 'RULE_DENIED' } });
    expect(await api('PUT', `cards/${red}`, bob, { title: 'changed' })).toMatchObject({ status: 200 });
    expect(await api('PUT', `cards/${red}`, bob, { team: 'blue' })).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED' },
    });
    expect(await api('PUT', `cards/${blue}`, bob, { title: 'changed' })).toMatchObject({ status: 404 });
  });

  test('a removed member loses access with the next request', async () => {
    const made = await insert('memberships', { user: bobId, team: 'green', role: 'reader' });
    const card = await insert('cards', { title: 'g', team: 'green' });
    expect(await api('GET', `cards/${card}`, bob)).toMatchObject({ status: 200 });
    expect(await api('DELETE', `memberships/${made}`)).toMatchObject({ status: 200 });
    expect(await api('GET', `cards/${card}`, bob)).toMatchObject({ status: 404 });
    expect(await idsOf('cards', bob)).toEqual([red]);
  });

  test('populate keeps the id of a document that the caller may not get', async () => {
    const link = await insert('links', { card: blue });
    const other = await insert('links', { card: red });
    expect(await api('GET', `links/${link}?populate=card`, bob)).toMatchObject({ body: { card: blue } });
    expect(await api('GET', `links/${other}?populate=card`, bob)).toMatchObject({ body: { card: { _id: red } } });
    expect(await api('GET', `links/${other}?populate=card`, stranger)).toMatchObject({ body: { card: red } });
  });

  test('$ref shows the comments of published posts', async () => {
    const post = await insert('posts', { author: annId, published: true });
    const draft = await insert('posts', { author: annId });
    const shown = await insert('comments', { body: 'a', post }, bob);
    await insert('comments', { body: 'b', post: draft });
    expect(await idsOf('comments', bob)).toEqual([shown]);
    expect(await api('POST', 'comments', bob, { body: 'c', post: draft })).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED' },
    });
    expect(await api('POST', 'comments', bob, { body: 'c' })).toMatchObject({ status: 403 });
    await api('PUT', `posts/${post}`, {}, { published: false });
    expect(await api('GET', `comments/${shown}`, bob)).toMatchObject({ status: 404 });
  });

  test('403 RULE_DENIED when an order’s price differs from the product’s', async () => {
    const product = await insert('products', { name: 'p', price: 20 });
    expect(await api('POST', 'orders', ann, { product, price: 1, buyer: annId })).toMatchObject({ status: 403 });
    expect(await api('POST', 'orders', ann, { product, price: 20, buyer: bobId })).toMatchObject({ status: 403 });
    expect(await api('POST', 'orders', ann, { product: 'f'.repeat(24), price: 20, buyer: annId })).toMatchObject({
      status: 403,
    });
    expect(await api('POST', 'orders', ann, { product, price: 20, buyer: annId })).toMatchObject({ status: 201 });
  });
});

describe('writes under rules', () => {
  test('an insert follows the rule; 403 RULE_DENIED for another author', async () => {
    expect(await api('POST', 'posts', bob, { title: 'x', author: bobId })).toMatchObject({
      status: 201,
      body: { author: bobId },
    });
    expect(await api('POST', 'posts', bob, { title: 'x', author: annId })).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED', message: expect.stringContaining('"create"') },
    });
    expect(await api('POST', 'posts', bob, { title: 'x' })).toMatchObject({ status: 403 });
  });

  test('401 TOKEN_MISSING for a write without a user when the rule names the user', async () => {
    const made = await insert('posts', { author: annId, published: true });
    const refused = { status: 401, body: { code: 'TOKEN_MISSING' } };
    expect(await api('POST', 'posts', stranger, { author: annId })).toMatchObject(refused);
    expect(await api('PUT', `posts/${made}`, stranger, { title: 'x' })).toMatchObject(refused);
    expect(await api('DELETE', `posts/${made}`, stranger)).toMatchObject(refused);
    expect(await api('POST', 'posts/bulk', stranger, [{ author: annId }])).toMatchObject(refused);
  });

  test('an anonymous caller inserts when the rule is true, and gets only the id', async () => {
    const made = await api('POST', 'inbox', stranger, { body: 'hello' });
    expect(made).toMatchObject({ status: 201, body: { _id: expect.any(String) } });
    expect(Object.keys(made.body)).toEqual(['_id']);
    expect(made.headers.get('etag')).toBeNull();
    expect(await api('POST', 'inbox/bulk', stranger, [{ body: 'x' }])).toMatchObject({ status: 401 });
    expect(await api('POST', 'products', stranger, { name: 'x' })).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED' },
    });
  });

  test('an update checks before and after: 404 when hidden, 403 RULE_DENIED for another user’s, success for the own', async () => {
    const mine = await insert('posts', { title: 'a', author: annId });
    const open = await insert('posts', { title: 'a', author: annId, published: true });
    expect(await api('PUT', `posts/${mine}`, bob, { title: 'x' })).toMatchObject({ status: 404 });
    expect(await api('PUT', `posts/${open}`, bob, { title: 'x' })).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED', message: expect.stringContaining('"update"') },
    });
    expect(await api('PUT', `posts/${mine}`, ann, { title: 'b' })).toMatchObject({
      status: 200,
      body: { data: { title: 'b' } },
    });
    // The rule must also hold for the result.
    expect(await api('PUT', `posts/${mine}`, ann, { author: bobId })).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED' },
    });
    expect(await api('PUT', `posts/${mine}`, editor, { author: bobId })).toMatchObject({ status: 200 });
  });

  test('an update returns only the id when the caller may not read the result', async () => {
    const open = await insert('posts', { author: bobId, published: true });
    const hidden = await insert('inbox', { body: 'x' });
    expect(await api('PUT', `inbox/${hidden}`, ann, { body: 'y' })).toMatchObject({ status: 404 });
    expect(await api('PUT', `posts/${open}`, editor, { published: false })).toMatchObject({
      status: 200,
      body: { data: { published: false } },
    });
  });

  test('transitions: adds, plus and $only hold exactly', async () => {
    const event = await insert('events', { title: 'party', status: 'open', attendees: [] });
    const put = (who: RequestOptions, body: object) => api<{ data: Doc }>('PUT', `events/${event}`, who, body);
    expect(await put(ann, { attendees: [annId] })).toMatchObject({ status: 200 });
    expect(await put(ann, { attendees: [annId] })).toMatchObject({ status: 403 });
    expect(await put(bob, { attendees: [bobId] })).toMatchObject({ status: 403 });
    expect(await put(bob, { attendees: [annId, 'someone'] })).toMatchObject({ status: 403 });
    expect(await put(bob, { attendees: [annId, bobId] })).toMatchObject({ status: 200 });
    expect(await put(bob, { likes: 2 })).toMatchObject({ status: 403 });
    expect(await put(bob, { likes: 1 })).toMatchObject({ status: 200 });
    expect(await put(bob, { likes: 2, title: 'mine' })).toMatchObject({ status: 403 });
    expect(await put(bob, { likes: 2, title: 'party' })).toMatchObject({ status: 200 });
    expect(await put(bob, { status: 'done', note: 'n' })).toMatchObject({ status: 200 });
    expect(await put(bob, { status: 'open' })).toMatchObject({ status: 403 });
    expect(await put(stranger, { likes: 3 })).toMatchObject({ status: 401 });
  });

  test('50 parallel likes by one rule: each 200 is counted and no other', async () => {
    const event = await insert('events', { title: 'race', status: 'open', attendees: [] });
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => api('PUT', `events/${event}`, ann, { likes: 1 })),
    );
    const done = answers.filter(({ status }) => status === 200);
    expect(done).toHaveLength(1);
    expect(await api('GET', `events/${event}`)).toMatchObject({ body: { likes: 1 } });
  });

  test('403 RULE_DENIED in bulk names the item', async () => {
    const bodies = [{ author: bobId }, { author: annId }];
    expect(await api('POST', 'posts/bulk', bob, bodies)).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED', errors: [{ index: 1 }] },
    });
    expect(await api('POST', 'posts/bulk', bob, [{ author: bobId }])).toMatchObject({ status: 201 });
  });

  test('the owner field is set and cannot change: 403 OWNER_IMMUTABLE, 403 NOT_OWNER, 401 without a user', async () => {
    const made = await insert('diary', { body: 'x' }, ann);
    expect(await api('GET', `diary/${made}`, bob)).toMatchObject({ body: { userId: annId } });
    expect(await api('PUT', `diary/${made}`, bob, { userId: bobId })).toMatchObject({
      status: 403,
      body: { code: 'OWNER_IMMUTABLE' },
    });
    expect(await api('POST', 'diary', ann, { userId: bobId })).toMatchObject({
      status: 403,
      body: { code: 'NOT_OWNER' },
    });
    expect(await api('POST', 'diary', stranger, { body: 'x' })).toMatchObject({
      status: 401,
      body: { code: 'TOKEN_MISSING' },
    });
  });

  test('trash, recovery and permanent deletion follow separate rules', async () => {
    const made = await insert('diary', { body: 'x' }, ann);
    expect(await api('DELETE', `diary/${made}?permanent=true`, ann)).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED', message: expect.stringContaining('"purge"') },
    });
    expect(await api('DELETE', `diary/${made}`, bob)).toMatchObject({ status: 200 });
    expect(await api('GET', `diary/${made}?include_deleted=true`, bob)).toMatchObject({ status: 404 });
    expect(await api('GET', `diary/${made}?include_deleted=true`, ann)).toMatchObject({ status: 200 });
    expect(await idsOf('diary', bob, '&include_deleted=true')).not.toContain(made);
    expect(await api('PATCH', `diary/${made}/recover`, bob)).toMatchObject({ status: 404 });
    expect(await api('PATCH', `diary/${made}/recover`, ann)).toMatchObject({
      status: 403,
      body: { code: 'RULE_DENIED', message: expect.stringContaining('"recover"') },
    });
    expect(await api('PATCH', `diary/${made}/recover`)).toMatchObject({ status: 200 });
  });

  test('412 REVISION_MISMATCH comes after the rules', async () => {
    const open = await insert('posts', { author: annId, published: true });
    const headers = { 'if-match': '"7"' };
    expect(await api('PUT', `posts/${open}`, { ...bob, headers }, { title: 'x' })).toMatchObject({ status: 403 });
    expect(await api('PUT', `posts/${open}`, { ...ann, headers }, { title: 'x' })).toMatchObject({ status: 412 });
  });
});

describe('an owner field that is a Ref to users', () => {
  const owner = { key: 'by', type: 'Ref', ref: 'users' };

  test.each(['public-read', 'private', 'signed-in'])(
    'holds the owner in mode %s, and can be populated',
    async (mode) => {
      const name = `owned-${mode}`;
      const rls = { enabled: true, mode, ownerField: 'by' };
      await project.addCollection({ name, schema: [text('body'), owner], rls });
      const made = await insert(name, { body: 'x' }, ann);
      expect(await api('GET', `${name}/${made}?populate=by`, ann)).toMatchObject({ body: { by: { _id: annId } } });
      expect(await idsOf(name, ann)).toEqual([made]);
      expect(await idsOf(name, bob)).toEqual(mode === 'private' ? [] : [made]);
      expect(await api('PUT', `${name}/${made}`, ann, { body: 'y', by: annId })).toMatchObject({ status: 200 });
      expect(await api('PUT', `${name}/${made}`, ann, { by: bobId })).toMatchObject({
        status: 403,
        body: { code: 'OWNER_IMMUTABLE' },
      });
      expect(await api('PUT', `${name}/${made}`, bob, { body: 'z' })).toMatchObject({
        status: 403,
        body: { code: 'NOT_OWNER' },
      });
      expect(await api('POST', name, bob, { by: annId })).toMatchObject({ status: 403, body: { code: 'NOT_OWNER' } });
      expect(await api('DELETE', `${name}/${made}`, bob)).toMatchObject({ status: 403 });
      expect(await api('DELETE', `${name}/${made}`, ann)).toMatchObject({ status: 200 });
    },
  );
});

describe('fields of users that rules use', () => {
  test('403 FIELD_PROTECTED at sign-up and in the profile, unless the value is unchanged', async () => {
    const credentials = { email: 'someone@example.com', password: 'long enough 1' };
    expect(await project.signUp({ ...credentials, role: 'editor' })).toMatchObject({
      status: 403,
      body: { code: 'FIELD_PROTECTED', errors: [{ field: 'role' }] },
    });
    const { accessToken: token } = await project.newUser();
    const change = (body: object) => project.auth('PUT', 'update-profile', { token, body });
    expect(await change({ role: 'editor' })).toMatchObject({ status: 403, body: { code: 'FIELD_PROTECTED' } });
    expect(await change({ 'teams.0': 'red' })).toMatchObject({ status: 403, body: { code: 'FIELD_PROTECTED' } });
    expect(await change({ name: 'n', role: null })).toMatchObject({ status: 200 });
  });
});

describe('a trial of a rule', () => {
  const attempt = (collection: string, body: object) =>
    project.developer.dashboard<{ data: { parts: readonly object[] } }>(
      'POST',
      `/api/projects/${project.id}/collections/${collection}/rules/try`,
      body,
    );

  test('returns the outcome of the real request, and each comparison', async () => {
    const document = { author: bobId, published: false };
    expect(await attempt('posts', { operation: 'read', userId: annId, document })).toMatchObject({
      status: 200,
      body: {
        data: {
          allowed: false,
          status: 404,
          code: 'DOCUMENT_NOT_FOUND',
          parts: [
            { path: 'rules.read.$or.0.published', outcome: 'false' },
            { path: 'rules.read.$or.1.author', outcome: 'false' },
            { path: 'rules.read.$or.2.$user.role', outcome: 'unknown' },
          ],
        },
      },
    });
    const update = { operation: 'update', userId: bobId, document, changes: { author: annId } };
    expect(await attempt('posts', update)).toMatchObject({
      body: { data: { allowed: false, status: 403, code: 'RULE_DENIED' } },
    });
    expect(await attempt('posts', { ...update, changes: { title: 'x' } })).toMatchObject({
      body: { data: { allowed: true, status: 200 } },
    });
    expect(await attempt('posts', { operation: 'create', document })).toMatchObject({
      body: { data: { allowed: false, status: 401, code: 'TOKEN_MISSING' } },
    });
    expect(await attempt('posts', { operation: 'create', userId: bobId, document })).toMatchObject({
      body: { data: { allowed: true, status: 201 } },
    });
    expect(await attempt('members', { operation: 'list', userId: bobId, document: {} })).toMatchObject({
      body: { data: { allowed: true, status: 200, parts: [{ path: 'rules', outcome: 'true' }] } },
    });
  });

  test('403 and 400 as the real request when changes do not fit a stored null', async () => {
    await project.addCollection({
      name: 'tallies',
      schema: [
        { key: 'count', type: 'Number' },
        { key: 'open', type: 'Boolean' },
      ],
      rls: { enabled: true, mode: 'rules', rules: { read: true, update: { before: { open: true } } } },
    });
    for (const [open, status, code] of [
      [false, 403, 'RULE_DENIED'],
      [true, 400, 'INVALID_UPDATE'],
    ] as const) {
      const body = { count: null, open };
      const made = await project.api<{ _id: string }>('POST', '/api/data/tallies', { body });
      const changes = { $inc: { count: 1 } };
      const options = { key: project.publishableKey, body: changes };
      const answer = await project.api('PATCH', `/api/data/tallies/${made.body._id}`, options);
      expect(answer).toMatchObject({ status, body: { code } });
      expect(await attempt('tallies', { operation: 'update', documentId: made.body._id, changes })).toMatchObject({
        status: 200,
        body: { data: { allowed: false, status, code, parts: [{ path: 'rules.update.before.open' }] } },
      });
    }
  });

  test('404 for a missing document, 400 for a malformed id and for a document that violates the schema', async () => {
    expect(await attempt('posts', { operation: 'get', documentId: 'f'.repeat(24) })).toMatchObject({ status: 404 });
    expect(await attempt('posts', { operation: 'get', documentId: 'x' })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_ID' },
    });
    expect(await attempt('posts', { operation: 'get', document: { title: 1 } })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED' },
    });
  });
});

describe('the hints of saved rules', () => {
  test('name a $from into which any user can insert, and a branch without an index', async () => {
    const path = `/api/projects/${project.id}/collections`;
    const read = { $or: [{ team: { $in: { $from: 'members', select: 'name', where: {} } } }, { title: { $ne: 'x' } }] };
    const schema = [text('title'), text('team')];
    const made = await project.developer.dashboard('POST', path, { name: 'hinted', schema, rls: rules({ read }) });
    expect(made).toMatchObject({
      status: 201,
      body: {
        hints: [
          expect.stringMatching(/^rules\.read\.\$or\.0\.team\.\$in .*"members"/),
          expect.stringMatching(/^rules\.read .*no index/),
        ],
      },
    });
  });

  const hintsFor = async (name: string, schema: readonly object[] | null, given: object, more: object = {}) => {
    const path = `/api/projects/${project.id}/collections`;
    const body = { name, schema, rls: rules(given), ...more };
    const made = await project.developer.dashboard<{ hints?: readonly string[] }>('POST', path, body);
    expect(made.status).toBe(201);
    return made.body.hints;
  };

  test('name $now compared with a field that is not a Date, which never holds', async () => {
    const due = { due: { $gt: { $now: 0 } } };
    const read = { $user: {} };
    expect(await hintsFor('undated', null, { read, create: due })).toEqual([
      expect.stringMatching(/^rules\.create\.due\.\$gt .*Declare the field as a Date/),
    ]);
    expect(await hintsFor('dated', [{ key: 'due', type: 'Date' }], { read, create: due })).toBeUndefined();
    expect(await hintsFor('made', null, { read, create: { createdAt: { $lte: { $now: 0 } } } })).toBeUndefined();
    const inserted = await api('POST', 'undated', ann, { due: new Date(Date.now() + 60_000).toISOString() });
    expect(inserted).toMatchObject({ status: 403, body: { code: 'RULE_DENIED' } });
  });

  test('name a $now inside $from only once when the update rule applies before and after', async () => {
    const { $in } = { $in: { $from: 'undated', select: '_id', where: { due: { $lt: { $now: 0 } } } } };
    expect(await hintsFor('looking', [text('team')], { read: { $user: {} }, update: { team: { $in } } })).toEqual([
      expect.stringMatching(/^rules\.update\.team\.\$in\.where\.due\.\$lt /),
    ]);
  });

  test('name a changes feed whose readers may get documents but not list them', async () => {
    const read = { get: { author: { $user: '_id' } }, list: false };
    const fed = await hintsFor('fed', [text('author')], { read: { get: read.get } }, { changes: true });
    expect(fed).toEqual([expect.stringMatching(/^rules\.read .*changes feed/)]);
    expect(await hintsFor('unfed', [text('author')], { read })).toBeUndefined();
    expect(await hintsFor('silent', [text('author')], { create: true }, { changes: true })).toBeUndefined();
    expect(await hintsFor('listed', [text('author')], { read: read.get }, { changes: true })).toBeUndefined();
    const path = `/api/projects/${project.id}/collections/unfed`;
    expect(await project.developer.dashboard('PUT', path, { changes: true })).toMatchObject({
      status: 200,
      body: { hints: fed },
    });
  });
});

describe('feed and live updates under rules', () => {
  test('the feed contains only the ids of hidden documents, and its positions belong to the user', async () => {
    const begin = (await api<{ data: { next: string } }>('GET', 'posts/changes', ann)).body.data;
    const hidden = await insert('posts', { author: bobId });
    const shown = await insert('posts', { author: annId });
    const changes = await api('GET', `posts/changes?since=${begin.next}`, ann);
    expect(changes).toMatchObject({
      status: 200,
      body: {
        data: {
          changes: [
            { _id: hidden, rev: 1, deleted: true },
            { _id: shown, document: { author: annId } },
          ],
        },
      },
    });
    expect(await api('GET', `posts/changes?since=${begin.next}`, bob)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_POSITION' },
    });
  });
});
