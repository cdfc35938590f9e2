import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as queryDocuments } from '../../../functions/data/query-documents.ts';
import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import { type SearchLanguage, searchLanguages } from '../../../shared/collections/schema/field-types.ts';
import { clock } from '../../../shared/core/clock.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

listenToCommands();
process.env.RATE_LIMIT = '0';

const ann = 'a'.repeat(24);
let project: TestProject;
let token: string;

const schema = [
  { key: 'n', type: 'Number' },
  { key: 'title', type: 'String', searchable: true },
  { key: 'tags', type: 'Array', items: { type: 'String' }, searchable: true },
  { key: 'note', type: 'String' },
];
const documents = [
  { n: 1, title: 'The quick brown fox', tags: ['animals'] },
  { n: 2, title: 'Brown bears, brown foxes', tags: ['animals', 'brown'] },
  { n: 3, title: 'Crème brûlée', tags: ['food', 'sweet things'] },
  { n: 4, title: 'creme de la creme', note: 'brown' },
  { n: 5, title: 'e-mail to ann@example.com', tags: ['running shoes'] },
  { n: 6, title: 'Straße und Übermut', tags: ['to run'] },
  { n: 7, title: 'quick-brown', tags: null },
  { n: 8, title: 'ΑΘΗΝΑ, Москва', tags: ['日本'] },
];

afterEach(() => {
  vi.restoreAllMocks();
});

beforeAll(async () => {
  const rls = { enabled: true, mode: 'private' } as const;
  project = await newProject([
    { name: 'articles', schema },
    { name: 'diaries', schema, rls },
    { name: 'english', schema, searchLanguage: 'english' },
    { name: 'journals', schema, searchLanguage: 'english', rls },
    { name: 'plain', schema: [{ key: 'title', type: 'String' }] },
    { name: 'free' },
  ]);
  token = await project.tokenFor(ann);
  for (const name of ['articles', 'diaries', 'english', 'journals']) {
    const own = documents.map((document) => ({ ...document, userId: ann }));
    const others = name === 'diaries' ? documents.map((document) => ({ ...document, userId: 'b'.repeat(24) })) : [];
    const made = await project.api('POST', `/api/data/${name}/bulk`, { body: [...own, ...others] });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
  }
});

interface Answered {
  readonly code?: string;
  readonly message: string;
  readonly errors?: readonly { readonly field: string }[];
  readonly data: {
    readonly items: readonly { readonly n: number }[];
    readonly total: number;
    readonly count: number;
    readonly nextCursor?: string | null;
  };
}

const user = (): RequestOptions => ({ key: project.publishableKey, token });
const ask = (collection: string, body: object, caller: RequestOptions = {}) =>
  project.api<Answered>('POST', `/api/data/${collection}/query`, { body, ...caller });
const found = async (collection: string, body: object, caller?: RequestOptions): Promise<string> => {
  const answer = await ask(collection, body, caller);
  if (answer.status !== 200) return `${answer.status} ${answer.body.code}`;
  const names = answer.body.data.items.map(({ n }) => n);
  expect(answer.body.data.total).toBe(names.length);
  return names.join(' ');
};

/** A text index and a scan of the user’s own documents must find the same. */
describe.each<[string, string, () => RequestOptions]>([
  ['of all documents', 'articles', () => ({})],
  ['of the caller alone', 'diaries', user],
])('a search %s', (_what, collection, caller) => {
  test.each([
    ['fox', '1'],
    ['FOX', '1'],
    ['fo', ''],
    ['ox', ''],
    ['quick brown', '1 7'],
    ['brown quick', '1 7'],
    ['brown -fox', '2 7'],
    ['brown -quick', '2'],
    ['"quick brown"', '1 7'],
    ['"brown quick"', ''],
    ['"brown foxes" bears', '2'],
    ['brown -"brown bears"', '1 7'],
    ['creme', '3 4'],
    ['CRÈME', '3 4'],
    ['creme brulee', '3'],
    ['bru\u0302le\u0301e', '3'],
    ['"de la creme"', '4'],
    ['sweet things', '3'],
    ['"sweet things"', '3'],
    ['food sweet', '3'],
    ['animals quick', '1'],
    ['ann@example.com', '5'],
    ['e-mail', '5'],
    ['example', '5'],
    ['ubermut', '6'],
    ['αθηνα', '8'],
    ['москва', '8'],
    ['日本', '8'],
    ['nothing', ''],
    ['brown nothing', ''],
    ['$ne', ''],
    ['.* fox', '1'],
  ])('for %s finds %s', async (search, expected) => {
    expect(await found(collection, { search, sort: 'n' }, caller())).toBe(expected);
  });

  test('the best matches come first, then the newest', async () => {
    expect((await found(collection, { search: 'brown' }, caller())).split(' ')[0]).toBe('2');
    expect(await found(collection, { search: 'creme' }, caller())).toBe('4 3');
    expect((await found(collection, { search: 'quick brown' }, caller())).split(' ')).toHaveLength(2);
  });

  test('a search works with where, pages, fields and counts', async () => {
    expect(await found(collection, { search: 'brown', where: { n: { $gt: 1 } }, sort: '-n' }, caller())).toBe('7 2');
    expect(
      await found(collection, { search: 'brown', where: { $or: [{ n: 1 }, { n: 7 }] }, sort: 'n' }, caller()),
    ).toBe('1 7');
    expect((await ask(collection, { search: 'brown', count: true }, caller())).body.data).toEqual({ count: 3 });
    const page = await ask(collection, { search: 'brown', limit: 1, page: 2, fields: ['n'] }, caller());
    expect(page.body.data).toMatchObject({ total: 3, page: 2 });
    expect(Object.keys(page.body.data.items[0] ?? {}).sort()).toEqual(['_id', 'n']);
    expect(await found(collection, { search: 'brown', sort: 'n', skip: 0, fields: ['n'] }, caller())).toBe('1 2 7');
    const first = await ask(collection, { search: 'brown', sort: '-n', cursor: '', limit: 2 }, caller());
    expect(first.body.data.items.map(({ n }) => n)).toEqual([7, 2]);
    const cursor = first.body.data.nextCursor ?? '';
    const second = await ask(collection, { search: 'brown', sort: '-n', cursor, limit: 2 }, caller());
    expect(second.body.data.items.map(({ n }) => n)).toEqual([1]);
    expect(second.body.data).toMatchObject({ nextCursor: null });
  });

  test('a search in the URL returns the same as one in a body', async () => {
    const answer = await project.api<Answered>('GET', `/api/data/${collection}?search=quick%20-fox&n_gt=1`, caller());
    expect(answer.body.data.items.map(({ n }) => n)).toEqual([7]);
  });

  test('leaves out trashed documents', async () => {
    const { body } = await project.api<{ _id: string }>('POST', `/api/data/${collection}`, {
      body: { n: 99, title: 'gone', userId: ann },
    });
    expect(await found(collection, { search: 'gone' }, caller())).toBe('99');
    await project.api('DELETE', `/api/data/${collection}/${body._id}`);
    expect(await found(collection, { search: 'gone' }, caller())).toBe('');
    expect(await found(collection, { search: 'gone', include_deleted: true }, caller())).toBe('99');
  });
});

describe.each<[string, string, () => RequestOptions]>([
  ['of all documents', 'english', () => ({})],
  ['of the caller alone', 'journals', user],
])('in a language, a search %s', (_what, collection, caller) => {
  test.each([
    ['foxes', '1 2'],
    ['run', '5 6'],
    ['running', '5 6'],
    ['running shoes', '5'],
    ['quick foxes', '1'],
    ['"running shoes"', '5'],
    ['"run shoes"', ''],
  ])('for %s finds %s', async (search, expected) => {
    expect(await found(collection, { search, sort: 'n' }, caller())).toBe(expected);
  });
});

/** Words of many scripts, and words that the index reads in a special way, in both Unicode forms. */
const spelled = [
  ...['Isparta', 'ISPARTA', 'ısparta', 'İstanbul', 'İSTANBUL', 'İzmir', 'Straße', 'Ångström', '\u212Bngström'],
  ...['Élevage', 'Việt', 'naïveté', 'Łódź', 'Ørsted', 'Ελλάδα', 'ΕΛΛΆΣ', 'Ёлка', 'Ӂӂӂ', 'ŉŉŉ', 'ǰǰǰ', '\u1E9Eßẞ'],
  ...[
    '한글',
    '학생',
    'हिन्दी',
    'किताब',
    '\u0958लम',
    'বাংলা',
    'தமிழ்',
    'ภาษาไทย',
    'น้ำ',
    'がくせい',
    'ガラス',
    'スーパー',
    '日本',
    '\uF900\uF901',
  ],
  ...['أحمد', 'آسيا', 'مُحَمَّد', 'می‌خواهم', 'שָׁלוֹם', '\uFB2Aלום', 'ქართული', '\u1C90\u1C91\u1C92', 'Հայերեն', 'ᏣᎳᎩ'],
  ...[
    "O'Brien",
    'O’Brien',
    "l'amour",
    'qu’Isabelle',
    'WordPress®',
    'Basalt™',
    '20°Celsius',
    'col·lecció',
    'café☕',
    'grün/blau',
    'e‑mails',
  ],
].flatMap((word) => [...new Set([word, word.normalize('NFC'), word.normalize('NFD')])]);

/** The scan of a user’s own documents differs only in these languages. */
const lookedAt: readonly SearchLanguage[] = ['none', 'english', 'turkish'];

const spelledIn: readonly (readonly [language: SearchLanguage, suffix: '' | '-own', rls: object])[] = [
  ...searchLanguages.map((language) => [language, '', {}] as const),
  ...lookedAt.map((language) => [language, '-own', { rls: { enabled: true, mode: 'private' } }] as const),
];

test.each(spelledIn)('in %s%s a search finds stored text by its exact spelling', async (language, suffix, rls) => {
  const name = `spelled-${language}${suffix}`;
  const searched = [
    { key: 'title', type: 'String', searchable: true },
    { key: 'n', type: 'Number' },
  ];
  await project.addCollection({ name, schema: searched, searchLanguage: language, ...rls });
  const stored = spelled.map((title, n) => ({ n, title: `kept ${title} here`, userId: ann }));
  for (let from = 0; from < stored.length; from += 100) {
    const made = await project.api('POST', `/api/data/${name}/bulk`, { body: stored.slice(from, from + 100) });
    expect(made.status).toBe(201);
  }
  const missed: string[] = [];
  const caller = suffix ? user() : {};
  for (const [n, word] of spelled.entries()) {
    for (const search of [word, `"kept ${word} here"`]) {
      const { body } = await ask(name, { search, where: { n }, count: true }, caller);
      if (body.data?.count !== 1) missed.push(search);
    }
  }
  expect(missed).toEqual([]);
});

test.each([
  ['none', 'istanbul', 'İstanbul'],
  ['english', 'istanbul', 'İstanbul'],
  ['turkish', 'istanbul', 'İSTANBUL'],
  ['turkish', 'ısparta', 'ISPARTA'],
  ['none', '한글', '한글'.normalize('NFD')],
  ['none', '한글'.normalize('NFD'), '한글'],
  ['none', 'elevage', 'Élevage'],
])('in %s a search for %s finds %s, also in a private collection', async (language, search, stored) => {
  const n = spelled.indexOf(stored);
  for (const [at, caller] of [
    ['', {}],
    ['-own', user()],
  ] as const) {
    const { body } = await ask(`spelled-${language}${at}`, { search, where: { n }, count: true }, caller);
    expect(body.data).toEqual({ count: 1 });
  }
});

test('costs one find, and a count when the page does not show the total', async () => {
  const run = (body: object) => () =>
    invoke(queryDocuments, { key: project.secretKey, params: { collectionName: 'articles' }, body });
  // A stopped clock keeps cached lookups from being repeated in between.
  vi.spyOn(clock, 'now').mockReturnValue(Date.now());
  await run({})();
  expect(await commandsOf(run({ search: 'brown' }))).toEqual(['mongodb find']);
  expect(await commandsOf(run({ search: 'brown', limit: 1 }))).toEqual(['mongodb count', 'mongodb find']);
});

test.each(['', '   ', '-fox', '-"brown fox" -bear', '"', '. , ;', 'a'.repeat(257)])(
  '400 INVALID_QUERY for %j',
  async (search) => {
    const answer = await ask('articles', { search });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY', errors: [{ field: 'search' }] } });
  },
);

test('200 for 256 characters, however long their pattern is', async () => {
  for (const search of ['a'.repeat(256), 'e '.repeat(128), '日'.repeat(256), `"${'o '.repeat(127)}"`]) {
    expect((await ask('articles', { search })).status).toBe(200);
    expect((await ask('diaries', { search }, user())).status).toBe(200);
  }
});

test('400 INVALID_QUERY for a cursor without a sort, 400 SEARCH_NOT_ENABLED when no field is searchable', async () => {
  expect(await ask('articles', { search: 'fox', cursor: '' })).toMatchObject({
    status: 400,
    body: { code: 'INVALID_QUERY' },
  });
  for (const name of ['plain', 'free']) {
    expect(await ask(name, { search: 'fox' })).toMatchObject({ status: 400, body: { code: 'SEARCH_NOT_ENABLED' } });
  }
});

test('401 in a private collection without a token; the secret key searches every document', async () => {
  expect(await ask('diaries', { search: 'fox' }, { key: project.publishableKey })).toMatchObject({ status: 401 });
  expect((await ask('diaries', { search: 'fox' })).body.data.total).toBe(2);
});

const opened = async (): Promise<Project> => {
  const match = await findProjectByKey(project.secretKey, '');
  if (!match) throw new Error('The project is gone');
  return match.project;
};

describe('a schema with searchable fields', () => {
  const collections = () => `/api/projects/${project.id}/collections`;
  const edit = (name: string, body: object) =>
    project.developer.dashboard<{ code?: string; data: { schema: unknown; searchLanguage?: string } }>(
      'PUT',
      `${collections()}/${name}`,
      body,
    );
  const searchable = (...keys: string[]) => keys.map((key) => ({ key, type: 'String', searchable: true }));

  test('can be added later, changed and removed', async () => {
    await project.addCollection({
      name: 'later',
      schema: [
        { key: 'a', type: 'String' },
        { key: 'b', type: 'String' },
      ],
    });
    await project.api('POST', '/api/data/later', { body: { a: 'first running', b: 'second' } });
    const total = async (search: string) => (await ask('later', { search })).body.data?.total;
    expect((await edit('later', { schema: [...searchable('a'), { key: 'b', type: 'String' }] })).status).toBe(200);
    expect([await total('first'), await total('second')]).toEqual([1, 0]);
    const both = await edit('later', { schema: searchable('a', 'b'), searchLanguage: 'english' });
    expect(both.body.data).toMatchObject({ searchLanguage: 'english', schema: [{ searchable: true }, { key: 'b' }] });
    expect([await total('runs'), await total('second')]).toEqual([1, 1]);
    await edit('later', { schema: null });
    expect(await ask('later', { search: 'first' })).toMatchObject({
      status: 400,
      body: { code: 'SEARCH_NOT_ENABLED' },
    });
    const names = await onProject(await opened(), (db) => db.collection('later').listIndexes().toArray());
    expect(names.filter(({ name }) => String(name).includes('search'))).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['a number', [{ key: 'a', type: 'Number', searchable: true }]],
    ['a list of numbers', [{ key: 'a', type: 'Array', items: { type: 'Number' }, searchable: true }]],
    ['a field inside', [{ key: 'a', type: 'Object', fields: [{ key: 'b', type: 'String', searchable: true }] }]],
    ['eleven', searchable(...'abcdefghijk')],
    ['a name that text indexes have', searchable('_fts')],
    ['another such', searchable('_ftsx')],
    ['no boolean', [{ key: 'a', type: 'String', searchable: 'yes' }]],
  ])('400 INVALID_SCHEMA: %s', async (_what, fields) => {
    expect(await edit('plain', { schema: fields })).toMatchObject({ status: 400, body: { code: 'INVALID_SCHEMA' } });
  });

  test.each(['a b', '0', 'language', 'ü-1', 'score', 'textScore'])('200 for a field named %s', async (key) => {
    const name = `named-${Buffer.from(key).toString('hex')}`;
    await project.addCollection({ name, schema: searchable(key) });
    expect((await project.api('POST', `/api/data/${name}`, { body: { [key]: 'something' } })).status).toBe(201);
    expect((await ask(name, { search: 'something' })).body.data.total).toBe(1);
  });

  test('400 for users and for an unknown language', async () => {
    const users = [
      { key: 'email', type: 'String', required: true, searchable: true },
      { key: 'password', type: 'String', required: true },
    ];
    const made = await project.developer.dashboard('POST', collections(), { name: 'users', schema: users });
    expect(made).toMatchObject({ status: 400, body: { code: 'INVALID_SCHEMA' } });
    expect(await edit('plain', { searchLanguage: 'klingon' })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ field: 'searchLanguage' }] },
    });
  });

  test('409 or 400 when the collection already has its one text index', async () => {
    const text = await project.developer.dashboard('POST', `${collections()}/articles/indexes`, {
      keys: { note: 'text' },
    });
    expect(text).toMatchObject({ status: 409, body: { code: 'INDEX_EXISTS' } });
    await project.addCollection({ name: 'own', schema: [{ key: 'a', type: 'String' }] });
    const own = await project.developer.dashboard('POST', `${collections()}/own/indexes`, { keys: { a: 'text' } });
    expect(own.status).toBe(201);
    expect(await edit('own', { schema: searchable('a') })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_SCHEMA', errors: [{ field: 'a' }] },
    });
  });

  test('503 while the index is missing', async () => {
    await project.addCollection({ name: 'unready', schema: searchable('a') });
    await onProject(await opened(), (db) => db.collection('unready').dropIndexes());
    expect(await ask('unready', { search: 'a' })).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
  });
});
