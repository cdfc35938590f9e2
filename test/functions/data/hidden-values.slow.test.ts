import { beforeAll, describe, expect, test } from 'vitest';
import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import type { Answer, RequestOptions } from '../../support/clients/client.ts';
import { touchesOf } from '../../support/clients/touches.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

/*
 * Response time reveals how many documents the database examined. So in a private collection the count must not depend
 * on hidden documents: it is compared with and without matches among them.
 */

const bobId = 'b'.repeat(24);
const annId = 'c'.repeat(24);
const hiddenCount = 40;
/** More than the hidden ones, so that examining hidden documents would examine fewer. */
const ownCount = 60;
const sought = 'treasure';

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
  let project: TestProject;
  let opened: Project;
  let bob: RequestOptions;
  const hidden: string[] = [];

  const ok = <Body>(answer: Answer<Body>): Answer<Body> => {
    if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
    return answer;
  };

  const collections = [
    {
      name: 'todos',
      schema: [
        { key: 'task', type: 'String', searchable: true },
        { key: 'code', type: 'String', unique: true },
        { key: 'size', type: 'Number' },
        { key: 'next', type: 'Ref', ref: 'feed' },
        { key: 'at', type: 'Object' },
        { key: 'inner', type: 'Object', fields: [{ key: 'task', type: 'String' }] },
      ],
      rls,
    },
    {
      name: 'feed',
      schema: [
        { key: 'text', type: 'String' },
        { key: 'size', type: 'Number' },
        { key: 'todo', type: 'Ref', ref: 'todos' },
      ],
      rls: { enabled: true },
    },
  ];

  const indexes = [
    { task: 1 },
    { size: -1, _id: -1 },
    { 'inner.task': 1, size: 1 },
    { at: '2dsphere' },
    { isDeleted: 1 },
  ];

  let feedId: string;

  /** The hidden documents hold either the requested value or another one. */
  const hide = async (isSought: boolean): Promise<void> => {
    const task = isSought ? sought : 'nothing';
    for (const [n, id] of hidden.entries()) {
      const body = {
        task,
        code: isSought ? `${sought} ${n}` : `nothing ${n}`,
        size: isSought ? 500 : 5,
        inner: { task },
        next: isSought ? feedId : id,
        at: { type: 'Point', coordinates: isSought ? [1 + n / 1000, 1] : [90 + n, -60] },
      };
      ok(await project.api('PATCH', `/api/data/todos/${id}`, { body }));
    }
  };

  beforeAll(async () => {
    project = await newProject(collections);
    bob = { key: project.publishableKey, token: await project.tokenFor(bobId) };
    for (const keys of indexes) {
      const path = `/api/projects/${project.id}/collections/todos/indexes`;
      ok(await project.developer.dashboard('POST', path, { keys }));
    }
    const insert = async (collection: string, body: object): Promise<string> =>
      ok(await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body })).body._id;
    for (const userId of ['a'.repeat(24), bobId]) {
      const own = Array.from({ length: ownCount }, (_, n) => ({
        task: `own ${n}`,
        code: `${userId} ${n}`,
        size: n,
        userId,
        inner: { task: `own ${n}` },
        at: { type: 'Point', coordinates: [2 + n / 10, 2] },
      }));
      ok(await project.api('POST', '/api/data/todos/bulk', { body: own }));
    }
    for (let n = 0; n < hiddenCount; n += 1) hidden.push(await insert('todos', { code: `hidden ${n}`, userId: annId }));
    await insert('todos', { task: 'last', code: 'last', userId: 'd'.repeat(24) });
    feedId = await insert('feed', { text: sought, size: 500, todo: hidden[0], userId: bobId });
    const match = await findProjectByKey(project.secretKey, '');
    if (!match) throw new Error('The project is gone');
    opened = match.project;
  });

  type Act = () => Promise<Answer>;

  const list = (title: string, query: string | (() => string), collection = 'todos'): [string, Act] => [
    `list, ${title}`,
    () => project.api('GET', `/api/data/${collection}?${typeof query === 'string' ? query : query()}`, bob),
  ];

  const where = (title: string, condition: object, more = ''): [string, Act] =>
    list(`where ${title}`, `where=${encodeURIComponent(JSON.stringify(condition))}${more}`);

  const pipeline = (
    title: string,
    collection: string,
    stages: unknown[] | (() => unknown[]),
    query = '',
  ): [string, Act] => [
    `aggregate, ${title}`,
    () =>
      project.api('POST', `/api/data/${collection}/aggregate${query}`, {
        ...bob,
        body: { pipeline: typeof stages === 'function' ? stages() : stages },
      }),
  ];

  const join = (localField: string, foreignField: string, more: object = {}) => ({
    $lookup: { from: 'todos', localField, foreignField, as: 'x', ...more },
  });
  const piped = (condition: object) => ({
    $lookup: { from: 'todos', let: { t: '$text', n: '$size' }, pipeline: [{ $match: condition }], as: 'x' },
  });
  const amplified = (...stages: object[]) => [
    { $limit: 1 },
    { $set: { turns: { $range: [0, 300] } } },
    { $unwind: '$turns' },
    ...stages,
    { $count: 'n' },
  ];
  const near = { near: { type: 'Point', coordinates: [1, 1] }, distanceField: 'far', key: 'at' };

  const requests: readonly (readonly [string, Act])[] = [
    list('by value', `task=${sought}`),
    list('by a unique value', `code=${sought} 1`),
    list('by part', `task_regex=^${sought}`),
    list('by range', 'size_gt=400'),
    list('by a nested value', `inner.task=${sought}`),
    list('by id', () => `_id=${hidden[1]}`),
    list('by a range of ids', () => `_id_gte=${hidden[3]}`),
    list('by reference', () => `next=${feedId}`),
    list('in an order', 'sort=-size&limit=2'),
    list('in an order, by cursor', 'sort=-size&limit=2&cursor='),
    list('oldest first', 'sort=_id&limit=2'),
    list('a count', `count=true&task=${sought}`),
    list('a total', `limit=1&size_gt=400`),
    list('a search', `search=${sought}`),
    list('a search in an order', `search=${sought}&sort=-size&limit=2`),
    list('a search, counted', `search=${sought}&count=true`),
    list('a search for part of it', `search=own&limit=3&where={"size":{"$gt":400}}`),
    list('populated', 'populate=todo', 'feed'),
    where('one of two values', { $or: [{ task: sought }, { size: 500 }] }),
    where('one of two indexed values, in an order', { $or: [{ task: sought }, { size: { $gt: 400 } }] }, '&sort=-size'),
    where('one of two values, counted', { $or: [{ task: sought }, { code: `${sought} 1` }] }, '&count=true'),
    where('part of a text among others', { $or: [{ task: { $startsWith: sought } }, { size: 500 }] }),
    where('an element', { 'inner.task': sought, tags: { $elemMatch: { $regex: `^${sought}` } } }),
    where('what is not', { $not: { $or: [{ task: sought }, { size: { $in: [500, 5] } }] } }),
    pipeline('by value', 'todos', [{ $match: { task: sought } }]),
    pipeline('by a unique value of active documents', 'todos', [
      { $match: { deletedAt: null, code: { $type: 'string', $eq: `${sought} 1` } } },
    ]),
    pipeline('by an expression', 'todos', [{ $match: { $expr: { $eq: ['$task', sought] } } }]),
    pipeline('by ids', 'todos', () => [{ $match: { _id: { $in: hidden.map((id) => ({ $oid: id })) } } }]),
    pipeline('in an order', 'todos', [{ $sort: { size: -1 } }, { $limit: 2 }]),
    pipeline('in the order of ids', 'todos', [{ $sort: { _id: 1 } }, { $limit: 2 }]),
    pipeline('by groups', 'todos', [{ $group: { _id: '$task' } }]),
    pipeline('the first of groups', 'todos', [
      { $sort: { task: 1, size: 1 } },
      { $group: { _id: '$task', s: { $first: '$size' } } },
    ]),
    pipeline('in facets', 'todos', [{ $facet: { a: [{ $match: { task: sought } }], b: [{ $count: 'n' }] } }]),
    pipeline('near a place', 'todos', [{ $geoNear: near }]),
    pipeline('near a place, no farther', 'todos', [{ $geoNear: { ...near, maxDistance: 20_000 } }, { $limit: 3 }]),
    pipeline('near a place, with a condition', 'todos', [{ $geoNear: { ...near, query: { task: sought } } }]),
    pipeline('within an area', 'todos', [
      { $match: { at: { $geoWithin: { $centerSphere: [[1, 1], 0.1] } } } },
      { $count: 'n' },
    ]),
    pipeline('$lookup by fields', 'feed', [join('text', 'task')]),
    pipeline('$lookup by a unique field', 'feed', [join('text', 'code')]),
    pipeline('$lookup by id', 'feed', [join('todo', '_id')]),
    pipeline('$lookup by a nested field', 'feed', [join('text', 'inner.task')]),
    pipeline('$lookup by reference', 'feed', [join('_id', 'next')]),
    pipeline('$lookup by fields with a pipeline', 'feed', [
      join('text', 'task', { pipeline: [{ $match: { size: 500 } }] }),
    ]),
    pipeline('$lookup by value', 'feed', [piped({ task: sought })]),
    pipeline('$lookup by an expression', 'feed', [piped({ $expr: { $eq: ['$task', '$$t'] } })]),
    pipeline('$lookup by a range', 'feed', [piped({ $expr: { $gte: ['$size', '$$n'] } })]),
    pipeline('$lookup in an order', 'feed', [
      { $lookup: { from: 'todos', pipeline: [{ $sort: { size: -1 } }, { $limit: 1 }], as: 'x' } },
    ]),
    pipeline('$lookup, $unwind and $match', 'feed', [
      { $lookup: { from: 'todos', pipeline: [], as: 'x' } },
      { $unwind: '$x' },
      { $match: { 'x.task': sought } },
    ]),
    pipeline('$lookup by fields, $unwind and $match', 'feed', [
      join('text', 'task'),
      { $unwind: { path: '$x', preserveNullAndEmptyArrays: true } },
      { $match: { 'x.size': { $gt: 400 } } },
    ]),
    pipeline('$lookup in $lookup', 'feed', [{ $lookup: { from: 'feed', pipeline: [join('text', 'task')], as: 'x' } }]),
    pipeline('$lookup in $facet', 'feed', [{ $facet: { a: [join('text', 'task')], b: [piped({ task: sought })] } }]),
    pipeline('$unionWith', 'feed', [{ $unionWith: { coll: 'todos', pipeline: [{ $match: { task: sought } }] } }]),
    pipeline('$unionWith, $match', 'feed', [{ $unionWith: 'todos' }, { $match: { task: sought } }]),
    pipeline('$unionWith, $sort', 'feed', [{ $unionWith: 'todos' }, { $sort: { size: -1 } }, { $limit: 1 }]),
    pipeline('300 times $lookup by fields', 'feed', amplified(join('text', 'task'))),
    pipeline('300 times $lookup by id', 'feed', amplified(join('todo', '_id'))),
    pipeline('300 times $lookup by value', 'feed', amplified(piped({ task: sought }))),
    pipeline('300 times $lookup by an expression', 'feed', amplified(piped({ $expr: { $eq: ['$task', '$$t'] } }))),
    pipeline('300 times $lookup by a range', 'feed', amplified(piped({ $expr: { $gte: ['$size', '$$n'] } }))),
    pipeline(
      '300 times $lookup, $unwind and $match',
      'feed',
      amplified(
        { $lookup: { from: 'todos', pipeline: [], as: 'x' } },
        { $unwind: '$x' },
        { $match: { 'x.task': sought } },
      ),
    ),
  ];

  // In a private collection a geo index begins with the owner; under rules the stage is rejected.
  const asked = requests.filter(([title]) => rls.mode === 'private' || !title.includes('near a place'));

  const told = new Map<string, unknown>();
  const toldOtherwise = new Map<string, unknown>();

  const walk = async (into: Map<string, unknown>): Promise<void> => {
    for (const [title, act] of asked) {
      // Runs each request a few times first, so that MongoDB has cached the plan of each join.
      for (let turn = 0; turn < 3; turn += 1) ok(await act());
      into.set(title, await touchesOf(opened, 'todos', async () => ok(await act())));
    }
  };

  describe('the database examines the same number of documents for any hidden documents', () => {
    beforeAll(async () => {
      await hide(true);
      await walk(told);
      await hide(false);
      await walk(toldOtherwise);
    });

    test.each(asked.map(([title]) => [title]))('%s', (title) => {
      expect(told.get(title)).toBeDefined();
      expect(told.get(title)).toEqual(toldOtherwise.get(title));
    });
  });

  describe('the database examines the same number of documents for any hidden trashed documents', () => {
    const open = {
      name: 'open',
      schema: [{ key: 'task', type: 'String', searchable: true }],
      rls: { enabled: true, trash: 'owner' },
    };
    const trashed = (stages: object[]) => pipeline('', 'open', stages, '?include_deleted=true')[1];
    const rows: readonly (readonly [string, Act])[] = [
      ['list by value', list('', `include_deleted=true&task=${sought}`, 'open')[1]],
      ['list in an order', list('', 'include_deleted=true&sort=-size&limit=2', 'open')[1]],
      ['search', list('', `include_deleted=true&search=${sought}`, 'open')[1]],
      ['count', list('', `include_deleted=true&count=true&task=${sought}`, 'open')[1]],
      ['aggregate by value', trashed([{ $match: { task: sought } }])],
      ['aggregate in an order', trashed([{ $sort: { task: 1 } }, { $limit: 1 }])],
      [
        '$lookup by fields',
        trashed([
          { $limit: 1 },
          { $lookup: { from: 'open', localField: 'asks', foreignField: 'task', as: 'x' } },
          { $count: 'n' },
        ]),
      ],
    ];

    test('the same keys and documents are examined', async () => {
      await project.addCollection(open);
      const path = `/api/projects/${project.id}/collections/open/indexes`;
      for (const keys of [{ task: 1 }, { size: 1 }]) ok(await project.developer.dashboard('POST', path, { keys }));
      const of = (userId: string, count: number) =>
        Array.from({ length: count }, (_, n) => ({ task: `own ${n}`, asks: sought, size: n, userId }));
      ok(await project.api('POST', '/api/data/open/bulk', { body: of(bobId, 60) }));
      ok(await project.api('POST', '/api/data/open/bulk', { body: of(annId, hiddenCount) }));
      const set = (change: object) =>
        onProject(opened, (db) => db.collection('open').updateMany({ userId: annId }, { $set: change }));
      const read = async (): Promise<unknown> => {
        const found: Record<string, unknown> = {};
        for (const [title, act] of rows) {
          for (let turn = 0; turn < 3; turn += 1) ok(await act());
          found[title] = await touchesOf(opened, 'open', async () => ok(await act()));
        }
        return found;
      };
      await set({ isDeleted: true, deletedAt: new Date(), task: sought, size: 500 });
      const before = await read();
      await set({ task: 'nothing', size: 5 });
      expect(await read()).toEqual(before);
    });
  });

  const graph = {
    from: 'todos',
    startWith: '$text',
    connectFromField: 'task',
    connectToField: 'task',
    as: 'x',
  };

  test.each<[string, string, unknown[], string]>([
    ['$graphLookup', 'feed', [{ $graphLookup: graph }], 'Use $lookup'],
    ...(rls.mode === 'rules'
      ? [['$geoNear', 'todos', [{ $geoNear: near }], 'Use $geoWithin'] as [string, string, unknown[], string]]
      : []),
    ['$text', 'todos', [{ $match: { $text: { $search: sought } } }], 'Use $regexMatch'],
    ['$text in a join', 'feed', [piped({ $text: { $search: sought } })], 'Use $regexMatch'],
    ['$search', 'todos', [{ $search: { text: { query: sought, path: 'task' } } }], 'Use $vectorSearch'],
    ['a position in a path', 'feed', [join('text', 'task.0')], 'Use let and a pipeline'],
  ])('400 INVALID_PIPELINE with the alternative to use: %s', async (_what, collection, stages, instead) => {
    const body = { pipeline: stages };
    const answer = await project.api('POST', `/api/data/${collection}/aggregate`, { ...bob, body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_PIPELINE' } });
    expect(answer.body.message).toContain('the collection "todos"');
    expect(answer.body.message).toContain(instead);
  });
});
