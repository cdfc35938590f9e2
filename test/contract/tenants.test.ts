import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type Answer, call, type RequestOptions } from '../support/clients/client.ts';
import { dashboardCases, publicCases, sampleBodies } from '../support/data/route-cases.ts';
import { type CollectionInput, newProject, type TestProject } from '../support/fixtures/project.ts';

const notes: CollectionInput = { name: 'notes' };
const feed: CollectionInput = { name: 'feed', rls: { enabled: true } };
const todos: CollectionInput = { name: 'todos', rls: { enabled: true, mode: 'private' } };
const links: CollectionInput = {
  name: 'links',
  schema: [
    { key: 'note', type: 'Ref', ref: 'notes' },
    { key: 'secret', type: 'Ref', ref: 'vault' },
    { key: 'slug', type: 'String', unique: true },
  ],
};
const vault: CollectionInput = { name: 'vault' };

const user = 'a'.repeat(24);
const nowhere = 'f'.repeat(24);
const marker = 'only-of-theirs';

let mine: TestProject;
let sibling: TestProject;
let theirs: TestProject;
/** The ids of documents in `theirs`, by collection. */
let ids: Readonly<Record<string, string>>;
let callers: Readonly<Record<string, RequestOptions>>;
let theirToken: string;

const insert = async (project: TestProject, collection: string, body: unknown): Promise<string> => {
  const made = await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body._id;
};

const everythingOf = async (project: TestProject): Promise<unknown[]> => {
  const lists = [notes, feed, todos, links, vault].map(({ name }) =>
    project.api<{ data: unknown }>('GET', `/api/data/${name}?include_deleted=true`),
  );
  return (await Promise.all(lists)).map(({ body }) => body.data);
};

beforeAll(async () => {
  mine = await newProject([notes, feed, todos, links]);
  sibling = await newProject([notes, feed, todos, links, vault], mine.developer);
  theirs = await newProject([notes, feed, todos, links, vault]);
  for (const project of [mine, sibling, theirs]) {
    for (let n = 0; n < 4; n++) await insert(project, 'notes', { n, text: project === theirs ? marker : 'mine' });
  }
  const trashed = await insert(theirs, 'notes', { n: 9, text: marker });
  await theirs.api('DELETE', `/api/data/notes/${trashed}`);
  ids = {
    notes: await insert(theirs, 'notes', { n: 5, text: marker }),
    trashed,
    feed: await insert(theirs, 'feed', { text: marker, userId: user }),
    todos: await insert(theirs, 'todos', { text: marker, userId: user }),
    links: await insert(theirs, 'links', { slug: 'same' }),
    vault: await insert(theirs, 'vault', { text: marker }),
    sibling: await insert(sibling, 'notes', { text: marker }),
  };
  await insert(mine, 'todos', { text: 'mine', userId: user });
  theirToken = await theirs.tokenFor(user);
  callers = {
    'secret key': { key: mine.secretKey },
    'publishable key': { key: mine.publishableKey },
    'publishable key and token': { key: mine.publishableKey, token: await mine.tokenFor(user) },
    "publishable key and the other project's token": { key: mine.publishableKey, token: theirToken },
  };
  await theirs.developer.dashboard('POST', `/api/projects/${theirs.id}/collections/notes/indexes`, {
    keys: { n: 1 },
    name: 'theirs',
  });
});

/** Returns a response without the parts that differ for every request. */
const plain = ({ status, body }: Answer, ...names: string[]) =>
  JSON.parse(
    names.reduce((text, name) => text.replaceAll(name, 'ID'), JSON.stringify({ status, body })),
    (key, value) => (key === 'requestId' ? undefined : (value as unknown)),
  ) as unknown;

const bodyFor = (id: string, method: string): object => (method === 'GET' ? {} : { body: sampleBodies[id] ?? {} });

const withDocument = publicCases.filter(({ parameters }) => parameters.includes('id'));
const withCollection = publicCases.filter(({ parameters }) => parameters.includes('collectionName'));
const sources = ['notes', 'trashed', 'feed', 'todos', 'links', 'vault', 'sibling'];
const callerNames = [
  'secret key',
  'publishable key',
  'publishable key and token',
  "publishable key and the other project's token",
];

describe.each(callerNames)('with the %s', (caller) => {
  test.each(withDocument)(
    'the response for a document of another project is the one for a missing document: $method $id',
    async ({ id, method, pathWith }) => {
      const queries = [
        '',
        ...(method === 'GET' ? ['?include_deleted=true'] : method === 'DELETE' ? ['?permanent=true'] : []),
      ];
      const compare = async (collectionName: string, source: string, query: string): Promise<void> => {
        const foreign = ids[source] ?? '';
        const send = (document: string) =>
          mine.api(method, pathWith({ collectionName, id: document }) + query, {
            ...callers[caller],
            ...bodyFor(id, method),
          });
        const [real, unknown] = await Promise.all([send(foreign), send(nowhere)]);
        expect(real.status, `${collectionName} ${source}`).toBeGreaterThanOrEqual(400);
        expect(plain(real, foreign), `${collectionName} ${source}`).toEqual(plain(unknown, nowhere));
      };
      await Promise.all(
        ['notes', 'feed', 'todos', 'links'].flatMap((collection) =>
          sources.flatMap((source) => queries.map((query) => compare(collection, source, query))),
        ),
      );
    },
  );

  test.each(withCollection)(
    'the response for a collection of another project is the one for a missing collection: $method $id',
    async ({ id, method, pathWith }) => {
      const send = (collectionName: string) =>
        mine.api(method, pathWith({ collectionName, id: ids.vault ?? '' }), {
          ...callers[caller],
          ...bodyFor(id, method),
        });
      const [real, unknown] = await Promise.all([send('vault'), send('never')]);
      expect(real).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } });
      expect(plain(real, 'vault')).toEqual(plain(unknown, 'never'));
    },
  );

  test.each<[string, (name: string) => unknown]>([
    ['$lookup', (from) => [{ $lookup: { from, localField: 'a', foreignField: 'a', as: 'x' } }]],
    ['$lookup with a pipeline', (from) => [{ $lookup: { from, pipeline: [{ $match: {} }], as: 'x' } }]],
    ['$unionWith', (coll) => [{ $unionWith: { coll, pipeline: [] } }]],
    ['$unionWith in short', (coll) => [{ $unionWith: coll }]],
    [
      '$graphLookup',
      (from) => [{ $graphLookup: { from, startWith: 1, connectFromField: 'a', connectToField: 'a', as: 'x' } }],
    ],
    ['$facet', (coll) => [{ $facet: { a: [{ $unionWith: coll }] } }]],
    ['$unionWith in $lookup', (coll) => [{ $lookup: { from: 'notes', as: 'x', pipeline: [{ $unionWith: coll }] } }]],
  ])('a join by %s does not reach another project', async (_stage, pipelineFor) => {
    const send = (name: string) =>
      mine.api('POST', '/api/data/notes/aggregate', { ...callers[caller], body: { pipeline: pipelineFor(name) } });
    const unknown = await send('never');
    expect(unknown).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } });
    const names = ['vault', `p_${theirs.id}.vault`, 'projects', 'collections', 'developers', 'control.projects'];
    for (const name of names) expect(plain(await send(name), name)).toEqual(plain(unknown, 'never'));
  });
});

describe('another project', () => {
  test.each<[string, unknown]>([
    ['$lookup', [{ $lookup: { from: { db: 'DB', coll: 'vault' }, pipeline: [], as: 'x' } }]],
    ['$lookup with db', [{ $lookup: { from: 'notes', db: 'DB', pipeline: [], as: 'x' } }]],
    ['$unionWith', [{ $unionWith: { db: 'DB', coll: 'notes' } }]],
    ['$unionWith of a pair', [{ $unionWith: { coll: { db: 'DB', coll: 'notes' } } }]],
    ['$graphLookup', [{ $graphLookup: { from: { db: 'DB', coll: 'notes' }, startWith: 1, as: 'x' } }]],
    ['$lookup of a namespace', [{ $lookup: { from: 'notes', _internalFromDb: 'DB', pipeline: [], as: 'x' } }]],
  ])('400 for %s that names its database', async (_stage, pipeline) => {
    const body = JSON.stringify({ pipeline }).replaceAll('DB', `p_${theirs.id}`);
    const answer = await mine.api('POST', '/api/data/notes/aggregate', { body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_PIPELINE' } });
    expect(JSON.stringify(answer.body)).not.toContain(marker);
  });

  test.each(['', '&sort=n', '&sort=-text', '&sort=n&include_deleted=true'])(
    '400 INVALID_CURSOR for its cursor, order %j',
    async (query) => {
      const first = await theirs.api<{ data: { nextCursor: string } }>(
        'GET',
        `/api/data/notes?cursor=&limit=2${query}`,
      );
      const cursor = first.body.data.nextCursor;
      expect(cursor).toBeTruthy();
      for (const project of [mine, sibling]) {
        const answer = await project.api('GET', `/api/data/notes?cursor=${cursor}&limit=2${query}`);
        expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_CURSOR' } });
      }
      for (const collection of ['feed', 'vault']) {
        const answer = await theirs.api('GET', `/api/data/${collection}?cursor=${cursor}&limit=2${query}`);
        expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_CURSOR' } });
      }
    },
  );

  test('references to its documents are populated as null', async () => {
    const id = await insert(mine, 'links', { note: ids.notes, secret: ids.vault });
    const answer = await mine.api('GET', `/api/data/links?_id=${id}&populate=note,secret&include_deleted=true`);
    expect(answer).toMatchObject({ status: 200, body: { data: { items: [{ note: null, secret: null }] } } });
  });

  test('its unique values can be used here', async () => {
    expect((await mine.api('POST', '/api/data/links', { body: { slug: 'same' } })).status).toBe(201);
    expect((await mine.api('POST', '/api/data/links', { body: { slug: 'same' } })).status).toBe(409);
  });

  test('its tokens are invalid here: 401 when a user is required, ignored otherwise', async () => {
    const { key = '' } = callers['publishable key'] ?? {};
    const foreign = { key, token: theirToken };
    for (const path of ['/api/data/todos', '/api/data/todos?count=true', `/api/data/todos/${ids.todos}`]) {
      expect(await mine.api('GET', path, foreign)).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
    }
    expect((await mine.api('GET', '/api/data/feed', foreign)).status).toBe(200);
    const join = { pipeline: [{ $lookup: { from: 'todos', pipeline: [], as: 'x' } }] };
    expect(await mine.api('POST', '/api/data/feed/aggregate', { ...foreign, body: join })).toMatchObject({
      status: 401,
    });
  });

  const indexCases = dashboardCases.filter(({ parameters }) => parameters.includes('collectionName'));

  test.each(indexCases)(
    'its collections do not exist below one of mine: $method $id',
    async ({ id, method, pathWith }) => {
      for (const project of [mine, theirs]) {
        const path = pathWith({
          projectId: mine.id,
          collectionName: 'vault',
          indexName: 'theirs',
          id: ids.vault ?? '',
        });
        const answer = await call(inject('stack').dashboardUrl, method, path, {
          token: project.developer.token,
          ...bodyFor(id, method),
        });
        expect(answer).toMatchObject({
          status: 404,
          body: { code: project === mine ? 'COLLECTION_NOT_FOUND' : 'PROJECT_NOT_FOUND' },
        });
      }
    },
  );

  test('its indexes do not exist below one of my collections', async () => {
    const path = `/api/projects/${mine.id}/collections/notes/indexes`;
    expect(await mine.developer.dashboard('DELETE', `${path}/theirs`)).toMatchObject({
      status: 404,
      body: { code: 'INDEX_NOT_FOUND' },
    });
    expect(await mine.developer.dashboard('GET', path)).toMatchObject({ body: { data: { items: [], total: 0 } } });
  });

  test('is not in my lists, and I cannot rotate its keys', async () => {
    const list = await mine.developer.dashboard<{ data: { items: { _id: string }[] } }>('GET', '/api/projects');
    expect(list.body.data.items.map(({ _id }) => _id)).toEqual([sibling.id, mine.id]);
    const path = `/api/projects/${theirs.id}/keys/rotate`;
    expect((await mine.developer.dashboard('POST', path, { type: 'secret' })).status).toBe(404);
    expect((await theirs.api('GET', '/api/data/notes')).status).toBe(200);
  });
});

test('the other project is unchanged after all these requests', async () => {
  const [inNotes, inFeed, inTodos, inLinks, inVault] = (await everythingOf(theirs)) as { total: number }[];
  expect([inNotes, inFeed, inTodos, inLinks, inVault].map((list) => list?.total)).toEqual([6, 1, 1, 1, 1]);
  expect(JSON.stringify(await everythingOf(mine))).not.toContain(marker);
  const again = await theirs.api('GET', `/api/data/notes/${ids.notes}`);
  expect(again.body).toMatchObject({ n: 5, text: marker, isDeleted: false });
});
