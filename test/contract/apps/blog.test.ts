import { beforeAll, describe, expect, test } from 'vitest';
import { type App, newApp, type Person } from '../../support/fixtures/app.ts';

/* The permissions that a blog of several authors needs, with the publishable key alone. Each test is one need. */

const isEditor = { $user: { role: 'editor' } };
const isAuthor = { author: { $user: '_id' } };
const isPublic = { status: 'published', publishAt: { $lte: { $now: 0 } } };

const collections = [
  {
    name: 'posts',
    schema: [
      { key: 'title', type: 'String', required: true, maxLength: 200 },
      { key: 'teaser', type: 'String' },
      { key: 'body', type: 'String', read: { $user: { plan: { $in: ['member', 'staff'] } } } },
      { key: 'category', type: 'Ref', ref: 'categories', exists: true },
      { key: 'status', type: 'String', enum: ['draft', 'review', 'published'], default: 'draft' },
      { key: 'publishAt', type: 'Date' },
      { key: 'featured', type: 'Boolean', default: false, write: isEditor },
      { key: 'slug', type: 'String', pattern: '^[a-z0-9-]+$' },
    ],
    unique: [{ fields: ['slug'], ignoreCase: true }],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'author',
      rules: {
        read: { $or: [isPublic, isAuthor, isEditor] },
        create: { status: { $in: ['draft', 'review'] }, $user: { role: { $in: ['author', 'editor'] } } },
        update: {
          before: { $or: [isAuthor, isEditor] },
          after: { $or: [{ status: { $in: ['draft', 'review'] } }, isEditor] },
        },
        delete: { $or: [{ author: { $user: '_id' }, status: { $ne: 'published' } }, isEditor] },
        readTrash: { $or: [isAuthor, isEditor] },
      },
    },
  },
  {
    name: 'categories',
    schema: [{ key: 'name', type: 'String', required: true, unique: true }],
    rls: { enabled: true, mode: 'rules', rules: { read: true, create: isEditor, update: isEditor, delete: isEditor } },
  },
  {
    name: 'comments',
    schema: [
      { key: 'post', type: 'Ref', ref: 'posts', required: true, exists: true, write: 'create' },
      { key: 'text', type: 'String', required: true, minLength: 1, maxLength: 5000 },
      { key: 'hidden', type: 'Boolean', default: false, write: isEditor },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'author',
      rules: {
        read: { $or: [{ hidden: false }, isEditor] },
        create: { $user: { isAnonymous: false } },
        update: { $or: [isAuthor, isEditor] },
        delete: { $or: [isAuthor, { $ref: { post: isAuthor } }, isEditor] },
      },
    },
  },
  {
    name: 'likes',
    schema: [{ key: 'post', type: 'Ref', ref: 'posts', required: true, exists: true }],
    unique: [['user', 'post']],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'user',
      rules: { read: true, create: { $user: {} }, delete: { user: { $user: '_id' } } },
    },
  },
  {
    name: 'follows',
    schema: [{ key: 'whom', type: 'String', required: true }],
    unique: [['follower', 'whom']],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'follower',
      rules: {
        read: { $or: [{ follower: { $user: '_id' } }, { whom: { $user: '_id' } }] },
        create: { whom: { $ne: { $user: '_id' } } },
        delete: { follower: { $user: '_id' } },
      },
    },
  },
  {
    name: 'notes',
    schema: [
      { key: 'text', type: 'String' },
      { key: 'for', type: 'String', enum: ['followers', 'friends'] },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      ownerField: 'author',
      rules: {
        read: {
          $or: [
            isAuthor,
            {
              for: 'followers',
              author: { $in: { $from: 'follows', select: 'whom', where: { follower: { $user: '_id' } } } },
            },
          ],
        },
        create: { $user: {} },
      },
    },
  },
  {
    name: 'reports',
    schema: [
      { key: 'comment', type: 'Ref', ref: 'comments', required: true, exists: true },
      { key: 'reason', type: 'String', enum: ['spam', 'abuse', 'other'], required: true },
    ],
    rls: { enabled: true, mode: 'rules', rules: { read: isEditor, create: { $user: {} }, delete: isEditor } },
  },
  {
    name: 'newsletter',
    schema: [{ key: 'email', type: 'String', format: 'email', required: true }],
    closed: true,
    rls: { enabled: true, mode: 'rules', rules: { read: false, create: true } },
  },
  {
    name: 'bookmarks',
    schema: [{ key: 'post', type: 'Ref', ref: 'posts', required: true }],
    rls: { enabled: true, mode: 'private', ownerField: 'reader' },
  },
];

const users = [
  { key: 'role', type: 'String', write: 'server', enum: ['reader', 'author', 'editor'], default: 'reader' },
  { key: 'plan', type: 'String', write: 'server', default: 'free' },
  { key: 'bio', type: 'String', maxLength: 500 },
];

let app: App;
let editor: Person;
let author: Person;
let rival: Person;
let reader: Person;
let post: string;

const published = async (by: Person, more: object = {}): Promise<string> => {
  const id = await by.add('posts', { title: 'A', teaser: 'a', body: 'the whole', ...more });
  expect(await editor.update('posts', id, { status: 'published', publishAt: '2020-01-01T00:00:00Z' })).toBe(200);
  return id;
};

beforeAll(async () => {
  app = await newApp(collections, users);
  editor = await app.person({ role: 'editor', plan: 'staff' });
  [author, rival] = [await app.person({ role: 'author', plan: 'staff' }), await app.person({ role: 'author' })];
  reader = await app.person();
  post = await published(author);
});

describe('a blog', () => {
  test('shows published posts to everyone, without a sign-in', async () => {
    expect(await app.stranger.ids('posts')).toEqual([post]);
    expect((await app.stranger.get('posts', post)).body).toMatchObject({ title: 'A', teaser: 'a' });
  });

  test('shows drafts only to their author and the editors', async () => {
    const draft = await author.add('posts', { title: 'Draft' });
    expect((await editor.get('posts', draft)).status).toBe(200);
    for (const person of [rival, reader, app.stranger]) expect((await person.get('posts', draft)).status).toBe(404);
    expect(await author.ids('posts', 'status=draft')).toEqual([draft]);
  });

  test('lets authors write posts, but not readers', async () => {
    expect((await reader.insert('posts', { title: 'x' })).status).toBe(403);
    expect((await app.stranger.insert('posts', { title: 'x' })).status).toBe(401);
    expect((await author.insert('posts', { title: 'x', status: 'published' })).status).toBe(403);
  });

  test('lets an author submit a post, and an editor publish it', async () => {
    const draft = await author.add('posts', { title: 'Soon' });
    expect(await author.update('posts', draft, { status: 'published' })).toBe(403);
    expect(await author.update('posts', draft, { status: 'review' })).toBe(200);
    expect(await rival.update('posts', draft, { title: 'Mine' })).toBe(404);
    expect(await editor.update('posts', draft, { status: 'published', publishAt: '2020-01-01' })).toBe(200);
    expect(await author.update('posts', draft, { title: 'Changed' })).toBe(403);
    expect(await author.remove('posts', draft)).toBe(403);
    expect(await editor.remove('posts', draft)).toBe(200);
  });

  test('publishes a scheduled post at its time', async () => {
    const later = await author.add('posts', { title: 'Later' });
    const at = new Date(Date.now() + 1500).toISOString();
    expect(await editor.update('posts', later, { status: 'published', publishAt: at })).toBe(200);
    expect((await app.stranger.get('posts', later)).status).toBe(404);
    await expect.poll(async () => (await app.stranger.get('posts', later)).status, { timeout: 30_000 }).toBe(200);
  });

  test('shows the whole text to members, and the teaser to everyone else', async () => {
    const member = await app.person({ plan: 'member' });
    expect((await member.get('posts', post)).body).toMatchObject({ body: 'the whole' });
    expect((await reader.get('posts', post)).body).not.toHaveProperty('body');
    expect((await app.stranger.call('GET', 'posts?body_contains=whole')).status).toBe(400);
  });

  test('lets only editors feature a post', async () => {
    const draft = await author.add('posts', { title: 'Great' });
    expect(await author.update('posts', draft, { featured: true })).toBe(403);
    expect(await editor.update('posts', draft, { featured: true })).toBe(200);
    expect(await author.update('posts', draft, { featured: true, title: 'Greater' })).toBe(200);
  });

  test('keeps the slugs of posts unique and in lower case', async () => {
    const id = await author.add('posts', { title: 'One', slug: 'hello' });
    expect((await rival.insert('posts', { title: 'Two', slug: 'hello' })).status).toBe(409);
    expect((await rival.insert('posts', { title: 'Two', slug: 'Hello!' })).status).toBe(400);
    expect(await author.update('posts', id, { slug: 'hello-again' })).toBe(200);
  });

  test('lets only editors manage categories, and accepts only posts with an existing category', async () => {
    expect((await author.insert('categories', { name: 'News' })).status).toBe(403);
    const category = await editor.add('categories', { name: 'News' });
    const filed = await published(author, { category });
    const shown = await app.stranger.get('posts', filed, 'populate=category');
    expect(shown.body).toMatchObject({ category: { name: 'News' } });
    expect(await app.stranger.ids('posts', `category=${category}`)).toEqual([filed]);
    expect((await author.insert('posts', { title: 'x', category: 'a'.repeat(24) })).status).toBe(400);
  });

  test('accepts comments from users, but not from guests', async () => {
    const comment = await reader.add('comments', { post, text: 'Nice' });
    expect(await app.stranger.ids('comments', `post=${post}`)).toEqual([comment]);
    expect((await app.stranger.insert('comments', { post, text: 'spam' })).status).toBe(401);
    expect((await reader.insert('comments', { post, text: '' })).status).toBe(400);
    expect(await rival.update('comments', comment, { text: 'x' })).toBe(403);
    expect(await reader.update('comments', comment, { text: 'Very nice' })).toBe(200);
  });

  test('lets editors hide a comment, and the author of the post delete it', async () => {
    const [rude, dull] = [
      await reader.add('comments', { post, text: 'rude' }),
      await reader.add('comments', { post, text: 'dull' }),
    ];
    expect(await reader.update('comments', rude, { hidden: true })).toBe(403);
    expect(await editor.update('comments', rude, { hidden: true })).toBe(200);
    expect((await app.stranger.get('comments', rude)).status).toBe(404);
    expect(await rival.remove('comments', dull)).toBe(403);
    expect(await author.remove('comments', dull)).toBe(200);
  });

  test('counts one like per reader and lets the reader remove it', async () => {
    const like = await reader.add('likes', { post });
    expect((await reader.insert('likes', { post })).status).toBe(409);
    await rival.add('likes', { post });
    const count = () => app.stranger.call<{ data: { count: number } }>('GET', `likes?post=${post}&count=true`);
    expect((await count()).body.data.count).toBe(2);
    expect(await rival.remove('likes', like)).toBe(403);
    expect(await reader.remove('likes', like)).toBe(200);
    expect((await count()).body.data.count).toBe(1);
  });

  test('shows notes to users only while they follow the author', async () => {
    const note = await author.add('notes', { text: 'for you', for: 'followers' });
    expect(await reader.ids('notes')).toEqual([]);
    const follow = await reader.add('follows', { whom: author.id });
    expect(await reader.ids('notes')).toEqual([note]);
    expect((await author.insert('follows', { whom: author.id })).status).toBe(403);
    expect(await reader.remove('follows', follow)).toBe(200);
    expect(await reader.ids('notes')).toEqual([]);
  });

  test('accepts reports that only editors can read', async () => {
    const comment = await rival.add('comments', { post, text: 'buy now' });
    const { status, body } = await reader.insert('reports', { comment, reason: 'spam' });
    expect({ status, keys: Object.keys(body) }).toEqual({ status: 201, keys: ['_id'] });
    expect(await reader.ids('reports')).toEqual([]);
    expect(await editor.ids('reports', 'populate=comment')).toEqual([body._id]);
  });

  test('accepts newsletter addresses from guests, which no user can list', async () => {
    expect((await app.stranger.insert('newsletter', { email: 'a@example.com' })).status).toBe(201);
    expect((await app.stranger.insert('newsletter', { email: 'no address' })).status).toBe(400);
    expect((await app.stranger.insert('newsletter', { email: 'a@example.com', admin: true })).status).toBe(400);
    expect(await app.stranger.ids('newsletter')).toEqual([]);
    expect(await editor.ids('newsletter')).toEqual([]);
  });

  test('keeps bookmarks private', async () => {
    const bookmark = await reader.add('bookmarks', { post });
    expect(await reader.list('bookmarks', 'populate=post')).toMatchObject([{ _id: bookmark, post: { title: 'A' } }]);
    expect(await editor.ids('bookmarks')).toEqual([]);
  });
});
