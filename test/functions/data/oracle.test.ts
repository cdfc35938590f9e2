import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, test } from 'vitest';
import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import { encodeCursor } from '../../../shared/documents/query/cursor.ts';
import { parseSort, sortFingerprint } from '../../../shared/documents/query/sort.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Answer, RequestOptions } from '../../support/clients/client.ts';
import { type CollectionInput, newProject, type TestProject } from '../../support/fixtures/project.ts';

/*
 * A response leaks if it depends on a document that the caller may not read. So every probe is sent twice, before and
 * after the hidden documents are deleted permanently, and both responses must match.
 */

const annId = 'a'.repeat(24);
const bobId = 'b'.repeat(24);
const secret = 'treasure';

const own = { userId: { $user: '_id' } };

/** The same rights as a fixed mode and as rules without lookups. */
const modes = [
  ['a private collection', { enabled: true, mode: 'private' }],
  [
    'a collection with rules',
    {
      ...{ enabled: true, mode: 'rules', ownerField: 'userId' },
      rules: { read: own, create: true, update: own, delete: own },
    },
  ],
] as const;

describe.each(modes)('in %s', (_title, rls) => {
  const collections: readonly CollectionInput[] = [
    {
      name: 'todos',
      schema: [
        { key: 'task', type: 'String' },
        { key: 'size', type: 'Number' },
        { key: 'inner', type: 'Object', fields: [{ key: 'task', type: 'String' }] },
        { key: 'next', type: 'Ref', ref: 'todos' },
        { key: 'at', type: 'Object' },
      ],
      rls,
    },
    {
      name: 'feed',
      schema: [
        { key: 'text', type: 'String' },
        { key: 'todo', type: 'Ref', ref: 'todos' },
        { key: 'todos', type: 'Array', items: { type: 'Ref', ref: 'todos' } },
        { key: 'inner', type: 'Object', fields: [{ key: 'todo', type: 'Ref', ref: 'todos' }] },
        { key: 'by', type: 'Ref', ref: 'users' },
      ],
      rls: { enabled: true },
    },
    { name: 'notes' },
    {
      name: 'users',
      schema: [
        { key: 'email', type: 'String', required: true },
        { key: 'password', type: 'String', required: true },
        { key: 'nick', type: 'String' },
      ],
    },
  ];

  let project: TestProject;
  let bob: RequestOptions;
  let nobody: RequestOptions;
  const secretKey: RequestOptions = {};
  /** Hidden from Bob: Ann’s documents in `todos`, one of them trashed. */
  let hidden: string;
  let hiddenTrashed: string;
  /** Trashed in `notes`: visible only on request. */
  let trashed: string;

  const insert = async (collection: string, body: unknown): Promise<string> => {
    const made = await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return made.body._id;
  };

  const divideBy = (field: string) => ({ $divide: [1, { $cond: [{ $eq: [field, secret] }, 0, 1] }] });
  const failsFor = (field: string) => ({ $expr: { $gt: [divideBy(field), 0] } });
  const slow = '(t?r?e?a?s?u?r?e?)*!';

  interface Probe {
    readonly who: 'bob' | 'nobody';
    readonly method: string;
    readonly path: string;
    readonly body?: unknown;
  }

  const query = (title: string, collection: string, text: () => string, who: Probe['who'] = 'bob') => ({
    title: `list, ${title}`,
    who,
    make: (): Probe => ({ who, method: 'GET', path: `/api/data/${collection}${text()}` }),
  });

  const pipeline = (title: string, collection: string, stages: () => unknown[], who: Probe['who'] = 'bob') => ({
    title: `aggregate, ${title}`,
    who,
    make: (): Probe => ({
      who,
      method: 'POST',
      path: `/api/data/${collection}/aggregate`,
      body: { pipeline: stages() },
    }),
  });

  const cursorNaming = (id: string, collection: string, sort: string): string =>
    encodeCursor(sortFingerprint(project.id, collection, parseSort(sort)), ['x'.repeat(3000), new ObjectId(id)]);

  const lists = [
    query('filter by value', 'todos', () => `?task=${secret}`),
    query('filter by part', 'todos', () => '?task_regex=^trea'),
    query('filter by range', 'todos', () => '?size_gt=500'),
    query('filter by range of the id', 'todos', () => `?_id_gte=${hidden}`),
    query('filter by id', 'todos', () => `?_id=${hidden}`),
    query('filter by a list of ids', 'todos', () => `?_id_in=${hidden},${hiddenTrashed}&include_deleted=true`),
    query('filter by owner', 'todos', () => `?userId=${annId}`),
    query('filter by another owner', 'todos', () => `?userId_ne=${bobId}`),
    query('filter by several owners', 'todos', () => `?userId_in=${annId},${bobId}&sort=task`),
    query('filter by existence', 'todos', () => '?size_exists=true'),
    query('filter by a nested field', 'todos', () => `?inner.task=${secret}`),
    query('filter by a path through the owner', 'todos', () => `?userId.0=${annId}`),
    query('count', 'todos', () => '?count=true'),
    query('count with a filter', 'todos', () => `?count=true&task=${secret}`),
    query('count of the trash', 'todos', () => '?count=true&include_deleted=true'),
    query('total of a full page', 'todos', () => '?limit=1'),
    query('total of a full page, trash included', 'todos', () => '?limit=1&include_deleted=true'),
    query('sort', 'todos', () => '?sort=-size&limit=1'),
    query('sort by a hidden field', 'todos', () => '?sort=userId,inner.task'),
    query('an empty page behind the end', 'todos', () => '?page=9'),
    query('cursor pages', 'todos', () => '?cursor=&limit=1&sort=size'),
    query('a cursor that names a hidden document', 'todos', () => {
      return `?sort=task&cursor=${cursorNaming(hidden, 'todos', 'task')}`;
    }),
    query('a cursor that names a hidden document of the trash', 'todos', () => {
      return `?sort=task&include_deleted=true&cursor=${cursorNaming(hiddenTrashed, 'todos', 'task')}`;
    }),
    query('projection', 'todos', () => '?fields=task,inner.task,userId&sort=size'),
    query('read by id', 'todos', () => `/${hidden}`),
    query('read by id from the trash', 'todos', () => `/${hiddenTrashed}?include_deleted=true`),
    query('populate', 'feed', () => '?populate=todo,todos,inner.todo'),
    query('populate with the trash', 'feed', () => '?populate=todo,todos&include_deleted=true'),
    query('populate a reference inside the private collection', 'todos', () => '?populate=next'),
    query('populate without a token', 'feed', () => '?populate=todo,todos,inner.todo', 'nobody'),
    query('populate and project', 'feed', () => '?populate=todo&fields=todo.task,todo'),
    query('filter through a reference', 'feed', () => `?todo.task=${secret}`),
    query('sort through a reference', 'feed', () => '?sort=todo.size'),
    query('trash: filter', 'notes', () => `?task=${secret}`, 'nobody'),
    query('trash: count and total', 'notes', () => '?limit=1&sort=-size', 'nobody'),
    query('trash: count', 'notes', () => `?count=true&task=${secret}`, 'nobody'),
    query('trash: read by id', 'notes', () => `/${trashed}`, 'nobody'),
  ];

  const text = (value: string) => ({ $literal: value });
  const group = { $group: { _id: null, n: { $sum: 1 }, sizes: { $sum: '$size' }, tasks: { $push: '$task' } } };
  const byTodo = { from: 'todos', localField: 'todo', foreignField: '_id', as: 'x' };
  const matchAfterJoin = (join: object, condition: object) => [join, { $unwind: '$x' }, { $match: condition }];

  const pipelines = [
    pipeline('count', 'todos', () => [{ $count: 'n' }]),
    pipeline('everything', 'todos', () => [{ $sort: { size: -1 } }]),
    pipeline('group', 'todos', () => [group]),
    pipeline('group by owner', 'todos', () => [{ $group: { _id: '$userId', n: { $sum: 1 } } }]),
    pipeline('match by id', 'todos', () => [{ $match: { _id: hidden } }]),
    pipeline('match in either', 'todos', () => [{ $match: { $or: [{ task: secret }, { userId: annId }, {}] } }, group]),
    pipeline('match by nor', 'todos', () => [{ $match: { $nor: [{ userId: bobId }] } }]),
    pipeline('match that fails', 'todos', () => [{ $match: failsFor('$task') }]),
    pipeline('match that fails, in $and', 'todos', () => [
      { $match: { $and: [{ size: { $gte: 0 } }, failsFor('$task')] } },
    ]),
    pipeline('match that fails, in $nor', 'todos', () => [{ $match: { $nor: [failsFor('$task')] } }]),
    pipeline('match that fails, later', 'todos', () => [{ $sort: { size: 1 } }, { $match: failsFor('$task') }]),
    pipeline('match that fails, behind a projection', 'todos', () => [
      { $project: { y: '$task' } },
      { $match: failsFor('$y') },
    ]),
    pipeline('match that fails, in $facet', 'todos', () => [{ $facet: { a: [{ $match: failsFor('$task') }] } }]),
    pipeline('match by a pattern', 'todos', () => [{ $match: { task: { $regex: '^trea' } } }]),
    pipeline('match by a slow pattern', 'todos', () => [{ $match: { task: { $regex: slow } } }]),
    pipeline('match by $jsonSchema', 'todos', () => [
      { $match: { $jsonSchema: { properties: { task: { pattern: slow } } } } },
    ]),
    pipeline('projection that fails', 'todos', () => [{ $project: { y: divideBy('$task') } }]),
    pipeline('group that fails', 'todos', () => [{ $group: { _id: divideBy('$task') } }]),
    pipeline('bucket without a place for it', 'todos', () => [
      { $bucket: { groupBy: '$size', boundaries: [0, 10, 100] } },
    ]),
    pipeline('bucketAuto', 'todos', () => [{ $bucketAuto: { groupBy: '$size', buckets: 3 } }]),
    pipeline('redact first', 'todos', () => [
      { $redact: { $cond: [{ $eq: [divideBy('$task'), 1] }, '$$KEEP', '$$PRUNE'] } },
    ]),
    pipeline('redact, then match', 'todos', () => [
      { $redact: '$$KEEP' },
      { $match: { task: secret, $expr: { $gt: [divideBy('$task'), 0] } } },
    ]),
    pipeline('sortByCount', 'todos', () => [{ $sortByCount: '$task' }, { $sort: { _id: 1 } }]),
    pipeline('sample', 'todos', () => [{ $sample: { size: 100 } }, { $sort: { size: 1 } }]),
    pipeline('limit and skip', 'todos', () => [{ $skip: 2 }, { $limit: 1 }]),
    pipeline('window', 'todos', () => [
      { $setWindowFields: { sortBy: { size: 1 }, output: { all: { $sum: '$size' }, rank: { $rank: {} } } } },
    ]),
    pipeline('densify', 'todos', () => [
      { $project: { _id: 0, size: 1 } },
      { $densify: { field: 'size', range: { step: 100, bounds: 'full' } } },
    ]),
    pipeline('fill', 'todos', () => [{ $fill: { sortBy: { size: 1 }, output: { task: { method: 'locf' } } } }]),
    pipeline('geoNear', 'todos', () => [
      { $geoNear: { near: { type: 'Point', coordinates: [1, 1] }, distanceField: 'far', key: 'at' } },
    ]),
    pipeline('geoNear with a query', 'todos', () => [
      {
        $geoNear: {
          near: { type: 'Point', coordinates: [1, 1] },
          distanceField: 'far',
          key: 'at',
          query: { task: secret },
        },
      },
    ]),
    pipeline('geoNear with a query that fails', 'todos', () => [
      {
        $geoNear: {
          near: { type: 'Point', coordinates: [1, 1] },
          distanceField: 'far',
          key: 'at',
          query: failsFor('$task'),
        },
      },
    ]),
    pipeline('text search', 'todos', () => [
      { $match: { $text: { $search: secret } } },
      { $project: { score: { $meta: 'textScore' } } },
    ]),
    pipeline('text search that fails', 'todos', () => [
      { $match: { $text: { $search: `${secret} bread` }, ...failsFor('$task') } },
    ]),
    pipeline('text search, scores', 'todos', () => [
      { $match: { $text: { $search: `${secret} bread` } } },
      { $project: { task: 1, score: { $meta: 'textScore' } } },
    ]),
    pipeline('union', 'notes', () => [{ $unionWith: 'todos' }, { $count: 'n' }]),
    pipeline('union of itself', 'todos', () => [{ $unionWith: 'todos' }, group]),
    pipeline('union, then a match that fails', 'notes', () => [{ $unionWith: 'todos' }, { $match: failsFor('$task') }]),
    pipeline('union with a match that fails', 'notes', () => [
      { $unionWith: { coll: 'todos', pipeline: [{ $match: failsFor('$task') }] } },
    ]),
    pipeline('union in a facet in a lookup', 'feed', () => [
      {
        $lookup: {
          from: 'notes',
          as: 'x',
          pipeline: [{ $facet: { a: [{ $unionWith: { coll: 'todos', pipeline: [group] } }] } }],
        },
      },
    ]),
    pipeline('lookup', 'feed', () => [{ $lookup: byTodo }]),
    pipeline('lookup without a token', 'feed', () => [{ $lookup: byTodo }], 'nobody'),
    pipeline('lookup by a nested path', 'feed', () => [{ $lookup: { ...byTodo, localField: 'inner.todo' } }]),
    pipeline('lookup by text', 'feed', () => [{ $lookup: { ...byTodo, localField: 'text', foreignField: 'task' } }]),
    pipeline('lookup of everything', 'feed', () => [{ $lookup: { from: 'todos', pipeline: [group], as: 'x' } }]),
    pipeline('lookup with let', 'feed', () => [
      {
        $lookup: {
          from: 'todos',
          let: { wanted: '$todo', t: '$text' },
          pipeline: [{ $match: { $expr: { $or: [{ $eq: ['$_id', '$$wanted'] }, { $eq: ['$task', '$$t'] }] } } }],
          as: 'x',
        },
      },
    ]),
    pipeline('lookup with a match that fails', 'feed', () => [
      { $lookup: { from: 'todos', let: { t: '$text' }, pipeline: [{ $match: failsFor('$task') }], as: 'x' } },
    ]),
    pipeline('lookup with fields and a match that fails', 'feed', () => [
      { $lookup: { ...byTodo, pipeline: [{ $match: failsFor('$task') }] } },
    ]),
    pipeline('lookup, unwind and match', 'feed', () => matchAfterJoin({ $lookup: byTodo }, { 'x.task': secret })),
    pipeline('lookup, unwind and a match that fails', 'feed', () =>
      matchAfterJoin({ $lookup: byTodo }, failsFor('$x.task')),
    ),
    pipeline('lookup, unwind and a pattern', 'feed', () =>
      matchAfterJoin({ $lookup: byTodo }, { 'x.task': { $regex: slow } }),
    ),
    pipeline('lookup, unwind that keeps the empty, and match', 'feed', () => [
      { $lookup: byTodo },
      { $unwind: { path: '$x', preserveNullAndEmptyArrays: true } },
      { $match: { 'x.task': { $ne: secret } } },
    ]),
    pipeline('lookup in a lookup', 'notes', () => [
      { $lookup: { from: 'feed', as: 'f', pipeline: [{ $lookup: byTodo }] } },
    ]),
    pipeline('graph', 'feed', () => [
      {
        $graphLookup: { from: 'todos', startWith: '$todo', connectFromField: 'next', connectToField: '_id', as: 'x' },
      },
    ]),
    pipeline('graph through hidden documents', 'todos', () => [
      {
        $graphLookup: {
          from: 'todos',
          startWith: '$_id',
          connectFromField: '_id',
          connectToField: 'next',
          as: 'x',
          depthField: 'd',
        },
      },
    ]),
    pipeline('graph with a condition', 'feed', () => [
      {
        $graphLookup: {
          from: 'todos',
          startWith: '$todo',
          connectFromField: 'next',
          connectToField: '_id',
          as: 'x',
          restrictSearchWithMatch: { task: secret },
        },
      },
    ]),
    pipeline('graph with a condition that fails', 'feed', () => [
      {
        $graphLookup: {
          from: 'todos',
          startWith: '$todo',
          connectFromField: 'next',
          connectToField: '_id',
          as: 'x',
          restrictSearchWithMatch: failsFor('$task'),
        },
      },
    ]),
    pipeline('graph by text', 'feed', () => [
      {
        $graphLookup: {
          from: 'todos',
          startWith: text(secret),
          connectFromField: 'task',
          connectToField: 'task',
          as: 'x',
        },
      },
    ]),
    pipeline('trash: count', 'notes', () => [{ $count: 'n' }], 'nobody'),
    pipeline('trash: match', 'notes', () => [{ $match: { isDeleted: true } }, group], 'nobody'),
    pipeline('trash: match by date', 'notes', () => [{ $match: { deletedAt: { $ne: null } } }, group], 'nobody'),
    pipeline(
      'trash: match in either',
      'notes',
      () => [{ $match: { $or: [{ isDeleted: true }, { n: 1 }] } }, group],
      'nobody',
    ),
    pipeline('trash: lookup', 'feed', () => [{ $lookup: { from: 'notes', pipeline: [group], as: 'x' } }], 'nobody'),
    pipeline(
      'trash: lookup by text',
      'feed',
      () => [{ $lookup: { from: 'notes', localField: 'text', foreignField: 'task', as: 'x' } }],
      'nobody',
    ),
    pipeline(
      'trash: lookup that asks for it',
      'feed',
      () => [{ $lookup: { from: 'notes', pipeline: [{ $match: { isDeleted: true } }], as: 'x' } }],
      'nobody',
    ),
    pipeline(
      'trash: graph',
      'feed',
      () => [
        {
          $graphLookup: {
            from: 'notes',
            startWith: '$text',
            connectFromField: 'task',
            connectToField: 'task',
            as: 'x',
          },
        },
      ],
      'nobody',
    ),
    pipeline('trash: union', 'feed', () => [{ $unionWith: 'notes' }, group], 'nobody'),
    pipeline(
      'trash: facet',
      'notes',
      () => [{ $facet: { a: [{ $match: { isDeleted: true } }], b: [group] } }],
      'nobody',
    ),
  ];

  const probes = [...lists, ...pipelines];

  const requests = new Map<string, Probe>();
  const answers = new Map<string, { before: unknown; after: unknown }>();

  const plain = ({ status, body }: Answer): unknown => ({ status, body: { ...body, requestId: undefined } });

  const send = async ({ who, method, path, body }: Probe, caller?: RequestOptions): Promise<unknown> =>
    plain(
      await project.api(method, path, {
        ...(caller ?? (who === 'bob' ? bob : nobody)),
        ...(body === undefined ? {} : { body }),
      }),
    );

  /** Sends a few at a time: all together would wait for each other longer than a request may take. */
  const sendAll = async (caller?: RequestOptions): Promise<ReadonlyMap<string, unknown>> => {
    const answers = new Map<string, unknown>();
    const waiting = [...requests];
    while (waiting.length > 0) {
      const wave = waiting.splice(0, 20);
      await Promise.all(wave.map(async ([title, probe]) => answers.set(title, await send(probe, caller))));
    }
    return answers;
  };

  let told: ReadonlyMap<string, unknown>;
  let toldAfter: ReadonlyMap<string, unknown>;

  const addIndex = async (keys: object): Promise<void> => {
    const made = await project.developer.dashboard('POST', `/api/projects/${project.id}/collections/todos/indexes`, {
      keys,
    });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  };

  beforeAll(async () => {
    project = await newProject(collections);
    bob = { key: project.publishableKey, token: await project.tokenFor(bobId) };
    nobody = { key: project.publishableKey };
    await addIndex({ at: '2dsphere' });
    await addIndex({ task: 'text' });
    const at = { type: 'Point', coordinates: [1, 1] };
    const mine = await insert('todos', { task: 'bread', size: 1, userId: bobId, inner: { task: 'salt' }, at });
    const todo = (size: number) => ({ task: secret, size, userId: annId, inner: { task: secret }, at, next: mine });
    hidden = await insert('todos', todo(999));
    hiddenTrashed = await insert('todos', todo(888));
    await insert('todos', { task: 'milk', size: 50, userId: bobId, next: hidden, at });
    await insert('feed', {
      text: secret,
      userId: bobId,
      todo: hidden,
      todos: [hidden, mine],
      inner: { todo: hidden },
    });
    await insert('notes', { n: 1, task: 'plain', size: 1 });
    trashed = await insert('notes', { n: 2, task: secret, size: 999 });
    await project.api('DELETE', `/api/data/todos/${hiddenTrashed}`);
    await project.api('DELETE', `/api/data/notes/${trashed}`);

    for (const { title, make } of probes) requests.set(title, make());
    const before = await sendAll();
    told = await sendAll(secretKey);
    for (const [collection, id] of [
      ['todos', hidden],
      ['todos', hiddenTrashed],
      ['notes', trashed],
    ]) {
      const gone = await project.api('DELETE', `/api/data/${collection}/${id}?permanent=true`);
      if (gone.status !== 200) throw new Error(JSON.stringify(gone.body));
    }
    const after = await sendAll();
    toldAfter = await sendAll(secretKey);
    for (const { title } of probes) answers.set(title, { before: before.get(title), after: after.get(title) });
  });

  describe('a hidden document does not affect the response', () => {
    test.each(probes)('$who: $title', ({ title }) => {
      const { before, after } = answers.get(title) ?? {};
      expect(before).toBeDefined();
      expect(before).toEqual(after);
      expect((before as Answer).status).toBeLessThan(500);
      expect(JSON.stringify(before)).not.toContain(`"task":"${secret}"`);
    });

    test('nearly every probe at a hidden document shows it to the secret key', () => {
      const aimed = probes.filter(({ title }) => !title.includes('trash:'));
      const silent = aimed.filter(
        ({ title }) => JSON.stringify(told.get(title)) === JSON.stringify(toldAfter.get(title)),
      );
      expect(silent.length).toBeLessThan(aimed.length / 8);
    });
  });

  const joins: readonly (readonly [string, (name: string) => unknown[]])[] = [
    ['$lookup', (from) => [{ $lookup: { from, localField: 'by', foreignField: '_id', as: 'x' } }]],
    ['$unionWith', (coll) => [{ $unionWith: { coll } }]],
    ['$unionWith in short', (coll) => [{ $unionWith: coll }]],
    [
      '$graphLookup',
      (from) => [{ $graphLookup: { from, startWith: '$by', connectFromField: '_id', connectToField: '_id', as: 'x' } }],
    ],
    ['$facet', (from) => [{ $facet: { a: [{ $limit: 1 }], b: [{ $lookup: { from, pipeline: [], as: 'x' } }] } }]],
    ['$lookup in $lookup', (coll) => [{ $lookup: { from: 'notes', as: 'x', pipeline: [{ $unionWith: coll }] } }]],
    [
      '$lookup in $unionWith',
      (from) => [{ $unionWith: { coll: 'notes', pipeline: [{ $lookup: { from, pipeline: [], as: 'x' } }] } }],
    ],
  ];

  describe('user accounts', () => {
    let user: string;
    const address = 'ann@example.com';
    const hash = '$2b$12$0123456789012345678901';

    beforeAll(async () => {
      const match = await findProjectByKey(project.secretKey, '');
      if (!match) throw new Error('The project is gone');
      const _id = new ObjectId();
      user = _id.toHexString();
      await onProject(match.project, (db) =>
        db.collection('users').insertOne({
          _id,
          email: address,
          password: hash,
          nick: 'ann',
          emailVerified: true,
          provider: 'secret of the service',
          isDeleted: false,
          deletedAt: null,
          createdAt: new Date(0),
          updatedAt: new Date(0),
        }),
      );
      await insert('feed', { text: 'by ann', by: user });
    });

    test.each(joins)('403 for %s of them, in every spelling', async (_stage, stages) => {
      for (const name of ['users', 'Users', 'USERS', 'users ', 'usersX', 'users.x', 'users\u2028']) {
        for (const who of [secretKey, bob, nobody]) {
          const answer = await project.api('POST', '/api/data/feed/aggregate', {
            ...who,
            body: { pipeline: stages(name) },
          });
          expect(answer, name).toMatchObject({ status: 403, body: { code: 'USERS_RESERVED' } });
        }
      }
    });

    test.each([
      ' users',
      'ｕsers',
      'u\u017fers',
      'system.users',
      'admin.users',
      '$users',
      '$cmd',
      'system.views',
      'system.profile',
      '__proto__',
      'constructor',
    ])('404 for a join of %j', async (name) => {
      for (const [, stages] of joins) {
        const answer = await project.api('POST', '/api/data/feed/aggregate', { body: { pipeline: stages(name) } });
        expect(answer).toMatchObject({ status: 404, body: { code: 'COLLECTION_NOT_FOUND' } });
      }
    });

    test.each([
      '',
      '&include_deleted=true',
      '&fields=by',
      '&fields=by,by.x',
      '&meta=false',
      '&sort=by',
      '&cursor=',
      '&expand=by',
    ])('200 with only the public profile when they are populated%s', async (more) => {
      for (const who of [secretKey, bob, nobody]) {
        const answer = await project.api<{ data?: { items: { by: object }[] } }>(
          'GET',
          `/api/data/feed?text=by ann&populate=by${more}`,
          who,
        );
        if (more === '&fields=by,by.x') {
          expect(answer.status).toBe(400);
          continue;
        }
        expect(answer.status).toBe(200);
        expect(answer.body.data?.items[0]?.by).toEqual({
          _id: user,
          nick: 'ann',
          createdAt: new Date(0).toISOString(),
          updatedAt: new Date(0).toISOString(),
        });
      }
    });

    test.each([
      `?by.email=${address}`,
      '?by.email_regex=ann',
      '?by.password_exists=true',
      '?sort=by.password',
      '?sort=-by.email&populate=by',
      '?fields=by.password',
      '?fields=by.email&populate=by',
      '?count=true&by.password_gt=a',
    ])('no secret field is revealed by %s', async (text) => {
      const answer = await project.api('GET', `/api/data/feed${text}`);
      expect([200, 400]).toContain(answer.status);
      const told = JSON.stringify(answer.body);
      for (const part of [address, hash, 'secret of the service']) expect(told).not.toContain(part);
      if ('data' in answer.body && text.startsWith('?by.')) expect(answer.body).toMatchObject({ data: { total: 0 } });
    });

    test('403 for the schema with the publishable key', async () => {
      for (const name of ['users', 'Users', 'USERS']) {
        const answer = await project.api('GET', `/api/schemas/${name}`, bob);
        expect(answer).toMatchObject({ status: 403, body: { code: 'SECRET_KEY_REQUIRED' } });
      }
    });
  });
});
