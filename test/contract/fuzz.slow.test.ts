import fc from 'fast-check';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type Answer, call, type RequestOptions } from '../support/clients/client.ts';
import { changed, dotted, key, limitMs, runs, seed, text, valuesWith } from '../support/data/fuzz-values.ts';
import {
  accountCases,
  dashboardCases,
  type RouteCase,
  sampleBodies,
  sampleParameters,
} from '../support/data/route-cases.ts';
import { requireSound } from '../support/data/sound-answer.ts';
import { everyType, feed, notes, people, todos } from '../support/fixtures/collections.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';
import { newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

const userId = 'a'.repeat(24);

let project: TestProject;
let callers: readonly RequestOptions[];
let ids: readonly string[];

beforeAll(async () => {
  project = await newProject([everyType, people, notes, feed, todos, { name: 'pages' }]);
  callers = [
    {},
    { key: project.publishableKey },
    { key: project.publishableKey, token: await project.tokenFor(userId) },
  ];
  const person = await project.api<{ _id: string }>('POST', '/api/data/people', { body: { name: 'Ann' } });
  const post = {
    title: 't',
    tags: ['a', 'b'],
    author: person.body._id,
    comments: [{ text: 'c' }],
    meta: { source: 's' },
  };
  const made = [person.body._id];
  for (const [collection, body] of [
    ['posts', post],
    ['notes', { a: { b: [1, { c: 'd' }] }, tags: ['x', 5, null], text: 'é\u2028' }],
    ['feed', { text: 'a', userId }],
    ['todos', { task: 'a', userId }],
  ] as const) {
    made.push((await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body })).body._id);
  }
  ids = made;
});

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly caller: number;
}

const send = async ({ method, path, body, caller }: Request): Promise<void> => {
  const start = performance.now();
  const answer = await project.api(method, path, { ...callers[caller], ...(body === undefined ? {} : { body }) });
  requireSound(answer, performance.now() - start);
};

/** One case is several concurrent requests, because one request must not break another. */
const hold = (request: fc.Arbitrary<Request>): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 4, maxLength: 8 }), async (requests) => {
      await Promise.all(requests.map(send));
    }),
    { seed, numRuns: runs, endOnFailure: false },
  ) as Promise<void>;

const caller = fc.integer({ min: 0, max: 2 });
const collection = fc.constantFrom('posts', 'people', 'notes', 'feed', 'todos');
const id = fc.oneof(
  fc.integer({ min: 0, max: 4 }).map((n) => ids[n] ?? ''),
  fc.constantFrom('f'.repeat(24), 'x', '0', '$ne', '__proto__'),
);
const path = (name: string, ...more: string[]): string =>
  ['/api/data', name, ...more].map((part) => (part.startsWith('/') ? part : encodeURIComponent(part))).join('/');

const { scalar, value, object } = valuesWith(fc.integer({ min: 0, max: 4 }).map((n) => ids[n] ?? ''));

describe('responses to any input are valid and below 500', () => {
  test(
    'lists: filters, sorts, projections, cursors, pages',
    async () => {
      const suffix = fc.constantFrom(
        '',
        '',
        '_ne',
        '_gt',
        '_gte',
        '_lt',
        '_lte',
        '_in',
        '_exists',
        '_regex',
        '_eq',
        '_',
      );
      const filter = fc
        .tuple(key, suffix, fc.oneof(text, scalar.map(String)))
        .map(([name, end, of]) => [name + end, of]);
      const order = fc
        .tuple(fc.constantFrom('', '-', '+'), key, fc.constantFrom('', ':asc', ':desc', ':up'))
        .map((parts) => parts.join(''));
      const reserved = fc.oneof(
        fc.array(order, { maxLength: 5 }).map((orders) => ['sort', orders.join(',')]),
        fc.array(key, { maxLength: 4 }).map((keys) => ['fields', keys.join(',')]),
        fc.array(key, { maxLength: 3 }).map((keys) => ['populate', keys.join(',')]),
        fc.constantFrom('author', 'readers', 'comments.by', 'meta.reviewer').map((ref) => ['populate', ref]),
        fc.tuple(
          fc.constantFrom('page', 'limit', 'skip', 'count', 'meta', 'include_deleted', 'cursor'),
          fc.oneof(text, fc.integer().map(String), fc.constantFrom('true', 'false', '')),
        ),
        fc.base64String({ maxLength: 60 }).map((cursor) => ['cursor', cursor]),
      );
      const query = fc
        .array(fc.oneof(filter, reserved), { maxLength: 5 })
        .map((pairs) =>
          new URLSearchParams(pairs.map(([name = '', of = '']) => [name, of] as [string, string])).toString(),
        );
      await hold(
        fc.record({
          method: fc.constant('GET'),
          path: fc.tuple(collection, query).map(([name, ask]) => `${path(name)}?${ask}`),
          caller,
        }),
      );
    },
    limitMs,
  );

  test(
    'inserts: any body, including text that is not JSON',
    async () => {
      const body = fc.oneof(
        object,
        value,
        fc.array(object, { maxLength: 4 }),
        fc.json({ maxDepth: 5 }),
        text,
        fc.uint8Array({ maxLength: 40 }).map((bytes) => new Uint8Array(bytes)),
      );
      const target = fc.tuple(collection, fc.boolean()).map(([name, bulk]) => (bulk ? path(name, 'bulk') : path(name)));
      await hold(fc.record({ method: fc.constant('POST'), path: target, body, caller }));
    },
    limitMs,
  );

  test(
    'updates, deletes and recoveries: dotted keys, any values',
    async () => {
      const changes = fc.dictionary(fc.oneof({ weight: 3, arbitrary: dotted }, text), value, {
        maxKeys: 6,
        noNullPrototype: true,
      });
      const target = fc.tuple(collection, id);
      await hold(
        fc.oneof(
          {
            weight: 6,
            arbitrary: fc.record({
              method: fc.constantFrom('PUT', 'PATCH'),
              path: target.map(([name, of]) => path(name, of)),
              body: changes,
              caller,
            }),
          },
          {
            weight: 1,
            arbitrary: fc.record({
              method: fc.constant('DELETE'),
              path: target.map(([name, of]) => path(name, of)),
              caller,
            }),
          },
          {
            weight: 2,
            arbitrary: fc.record({
              method: fc.constant('PATCH'),
              path: target.map(([name, of]) => path(name, of, 'recover')),
              body: value,
              caller,
            }),
          },
          {
            weight: 2,
            arbitrary: fc.record({
              method: fc.constant('GET'),
              path: target.map(([name, of]) => path(name, of)),
              caller,
            }),
          },
        ),
      );
    },
    limitMs,
  );

  test(
    'pipelines: any stages with any operands',
    async () => {
      const field = fc.oneof(
        dotted.map((name) => `$${name}`),
        fc.constantFrom('$a', '$tags', '$$ROOT', '$$NOW', '$$x', '$_id'),
      );
      const operator = fc.constantFrom(
        ...[
          '$add',
          '$concat',
          '$cond',
          '$eq',
          '$gt',
          '$ifNull',
          '$size',
          '$arrayElemAt',
          '$toString',
          '$toInt',
          '$toObjectId',
          '$toDate',
        ],
        ...[
          '$map',
          '$filter',
          '$reduce',
          '$let',
          '$literal',
          '$mergeObjects',
          '$objectToArray',
          '$arrayToObject',
          '$split',
          '$substrCP',
        ],
        ...[
          '$regexMatch',
          '$dateToString',
          '$switch',
          '$getField',
          '$setField',
          '$type',
          '$convert',
          '$function',
          '$meta',
          '$rand',
        ],
      );
      const { expression } = fc.letrec<{ expression: unknown }>((tie) => ({
        expression: fc.oneof(
          { depthSize: 'small' },
          field,
          scalar,
          fc
            .tuple(operator, fc.oneof(tie('expression'), fc.array(tie('expression'), { maxLength: 3 }), object))
            .map(([name, of]) => ({ [name]: of })),
          fc.dictionary(key, tie('expression'), { maxKeys: 3, noNullPrototype: true }),
        ),
      }));
      const comparison = fc.constantFrom(
        '$eq',
        '$ne',
        '$gt',
        '$in',
        '$nin',
        '$exists',
        '$type',
        '$size',
        '$all',
        '$elemMatch',
        '$not',
        '$regex',
        '$mod',
        '$where',
        '$near',
        '$oid',
        '$date',
      );
      const { condition } = fc.letrec<{ condition: unknown }>((tie) => ({
        condition: fc.oneof(
          { depthSize: 'small' },
          fc.dictionary(
            key,
            fc.oneof(
              value,
              fc.tuple(comparison, value).map(([name, of]) => ({ [name]: of })),
            ),
            { maxKeys: 3, noNullPrototype: true },
          ),
          fc
            .tuple(fc.constantFrom('$and', '$or', '$nor'), fc.array(tie('condition'), { maxLength: 3 }))
            .map(([name, of]) => ({ [name]: of })),
          expression.map((of) => ({ $expr: of })),
          fc
            .tuple(fc.constantFrom('$text', '$jsonSchema', '$comment', '$sampleRate', '$where'), value)
            .map(([name, of]) => ({ [name]: of })),
        ),
      }));
      const output = fc.dictionary(key, expression, { maxKeys: 3, noNullPrototype: true });
      const from = fc.oneof(
        { weight: 5, arbitrary: collection },
        { weight: 1, arbitrary: fc.constantFrom<unknown>('users', 'nothing', '', null, {}, 'a\nb') },
      );
      const { stage, stages } = fc.letrec<{ stage: unknown; stages: unknown[] }>((tie) => ({
        stages: fc.array(tie('stage'), { maxLength: 4 }),
        stage: fc.oneof(
          { depthSize: 'small' },
          condition.map(($match) => ({ $match })),
          output.map(($project) => ({ $project })),
          output.map(($set) => ({ $set })),
          fc.tuple(expression, output).map(([_id, of]) => ({ $group: { _id, ...of } })),
          fc
            .dictionary(key, fc.constantFrom<unknown>(1, -1, 0, { $meta: 'textScore' }), {
              maxKeys: 3,
              noNullPrototype: true,
            })
            .map(($sort) => ({ $sort })),
          fc.oneof(field, value).map(($unwind) => ({ $unwind })),
          expression.map((newRoot) => ({ $replaceRoot: { newRoot } })),
          expression.map(($sortByCount) => ({ $sortByCount })),
          expression.map(($redact) => ({ $redact })),
          fc
            .tuple(
              fc.constantFrom(
                '$limit',
                '$skip',
                '$count',
                '$unset',
                '$sample',
                '$bucket',
                '$bucketAuto',
                '$fill',
                '$setWindowFields',
                '$geoNear',
                '$search',
                '$out',
                '$merge',
                '$documents',
                '$x',
              ),
              value,
            )
            .map(([name, of]) => ({ [name]: of })),
          fc.tuple(from, key, key, tie('stages')).map(([of, localField, foreignField, pipeline]) => ({
            $lookup: { from: of, localField, foreignField, pipeline, as: 'x' },
          })),
          fc
            .tuple(from, output, tie('stages'))
            .map(([of, variables, pipeline]) => ({ $lookup: { from: of, let: variables, pipeline, as: 'x' } })),
          fc.tuple(from, tie('stages')).map(([coll, pipeline]) => ({ $unionWith: { coll, pipeline } })),
          fc
            .tuple(from, expression, key, key, condition)
            .map(([of, startWith, connectFromField, connectToField, restrictSearchWithMatch]) => ({
              $graphLookup: { from: of, startWith, connectFromField, connectToField, as: 'x', restrictSearchWithMatch },
            })),
          fc.dictionary(key, tie('stages'), { maxKeys: 2, noNullPrototype: true }).map(($facet) => ({ $facet })),
        ),
      }));
      const pipeline = fc.oneof(
        { weight: 8, arbitrary: stages },
        { weight: 1, arbitrary: value },
        { weight: 1, arbitrary: stage },
      );
      await hold(
        fc.record({
          method: fc.constant('POST'),
          path: collection.map((name) => path(name, 'aggregate')),
          body: pipeline.map((of) => ({ pipeline: of })),
          caller,
        }),
      );
    },
    limitMs,
  );

  test(
    'paths and methods',
    async () => {
      const part = fc.oneof(
        fc.constantFrom(
          'api',
          'data',
          'schemas',
          'notes',
          'users',
          'bulk',
          'aggregate',
          'recover',
          'auth',
          'projects',
          'Users',
          'userAuth',
          'social',
          'github',
          'start',
          'callback',
          'sessions',
          'public',
          'jwks',
        ),
        id,
        text.map((of) => encodeURIComponent(of.toWellFormed())),
      );
      const target = fc.array(part, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`);
      await hold(
        fc.record({
          method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
          path: target,
          caller,
        }),
      );
    },
    limitMs,
  );

  const bodyOf = (row: RouteCase): fc.Arbitrary<unknown> =>
    fc.oneof(changed(sampleBodies[row.id], value, object), value);

  /**
   * Creates a project with a user who has the email address of the samples, so concurrent updates do not compete for
   * it.
   */
  const withSampleUser = async (): Promise<{ of: UsersProject; token: string; userId: string }> => {
    const of = await newUsersProject();
    await of.addCollection({ name: 'pages' });
    const { token, userId: id } = (await of.signUp(sampleBodies['sign-up'])).body;
    return { of, token, userId: id };
  };

  test(
    'the dashboard: any body for every route',
    async () => {
      // A separate project, because a valid body can rotate a key.
      const { of: target, userId: endUser } = await withSampleUser();
      const rows = dashboardCases.filter(({ route }) => route.body);
      const field = fc.record(
        { key, type: fc.oneof(fc.constantFrom('String', 'Number', 'Array', 'Object', 'Ref', 'Date'), value) },
        { requiredKeys: [] },
      );
      const schema = fc.record({
        name: fc.constant('notes'),
        schema: fc.array(fc.oneof(field, value), { maxLength: 3 }),
        rls: value,
      });
      const request = fc.oneof(
        ...rows.map((row) => fc.record({ row: fc.constant(row), body: bodyOf(row) })),
        fc.record({
          row: fc.constantFrom(
            ...rows.filter(({ parameters, id: of }) => of.endsWith('collection') && parameters.length > 0),
          ),
          body: schema,
        }),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(request, { minLength: 4, maxLength: 8 }), async (requests) => {
          await Promise.all(
            requests.map(async ({ row, body }) => {
              const start = performance.now();
              const answer = await call(
                inject('stack').dashboardUrl,
                row.method,
                row.pathWith({ ...sampleParameters, projectId: target.id, collectionName: 'pages', id: endUser }),
                {
                  token: target.developer.token,
                  body: JSON.stringify(body) ?? '',
                },
              );
              requireSound(answer, performance.now() - start);
            }),
          );
        }),
        { seed, numRuns: runs },
      );
    },
    limitMs,
  );

  test(
    'user accounts: any body, path and query for every route',
    async () => {
      const { of: target, token, userId: endUser } = await withSampleUser();
      const good: Readonly<Record<string, string>> = { ...sampleParameters, projectId: target.id, id: endUser };
      const request = fc.oneof(
        ...accountCases.map((row) =>
          fc.record({
            row: fc.constant(row),
            body: row.route.body ? bodyOf(row) : fc.constant(undefined),
            parameters: fc.record(
              Object.fromEntries(
                row.parameters.map((name) => [name, fc.oneof(fc.constant(good[name] ?? ''), text, dotted)]),
              ),
            ),
            query:
              row.method === 'GET'
                ? fc.dictionary(fc.constantFrom('state', 'code', 'error', 'key'), text)
                : fc.constant({}),
            signedIn: fc.boolean(),
            header: fc.constantFrom<Record<string, string>>({}, { 'x-refresh-token': 'x' }, { cookie: 'refresh=%' }),
          }),
        ),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(request, { minLength: 8, maxLength: 16 }), async (requests) => {
          await Promise.all(
            requests.map(async ({ row, body, parameters, query, signedIn, header }) => {
              const start = performance.now();
              const wellFormed = Object.entries(parameters).map(([name, of]) => [name, of.toWellFormed()]);
              const answer = await target.api(
                row.method,
                `${row.pathWith(Object.fromEntries(wellFormed) as Record<string, string>)}?${new URLSearchParams(query)}`,
                {
                  key: target.publishableKey,
                  headers: header,
                  ...(signedIn ? { token } : {}),
                  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
                },
              );
              requireSound(answer, performance.now() - start);
            }),
          );
        }),
        { seed, numRuns: runs },
      );
    },
    limitMs,
  );
});

/** Names that are valid anywhere in a document. Other tests cover rejected names. */
const plainKey = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 6 })
  .filter((name) => name.isWellFormed() && !/[.\0$]/.test(name) && name !== '__proto__');
const plainText = fc.string({ unit: 'binary', maxLength: 10 }).map((of) => of.toWellFormed());
const plainNumber = fc
  .double({ noNaN: true, noDefaultInfinity: true })
  .filter((of) => !(Number.isInteger(of) && !Number.isSafeInteger(of)));
const { plainValue } = fc.letrec<{ plainValue: unknown }>((tie) => ({
  plainValue: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    plainText,
    plainNumber,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('plainValue'), { maxLength: 4 }),
    fc.dictionary(plainKey, tie('plainValue'), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

test(
  'every document is returned as it was sent',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(plainValue, { minLength: 1, maxLength: 20 }), async (values) => {
        const made = await project.api<{ data: { ids: string[] } }>('POST', '/api/data/notes/bulk', {
          body: values.map((v) => ({ v })),
        });
        expect(made.status).toBe(201);
        const list = await project.api<{ data: { items: { _id: string; v: unknown }[] } }>(
          'GET',
          `/api/data/notes?_id_in=${made.body.data.ids.join(',')}&sort=_id`,
        );
        const sent = JSON.parse(JSON.stringify(values)) as unknown[];
        const found = new Map(list.body.data.items.map(({ _id, v }) => [_id, v]));
        expect(made.body.data.ids.map((of) => found.get(of))).toEqual(sent);
      }),
      { seed, numRuns: runs },
    );
  },
  limitMs,
);

test(
  'a cursor returns each document once for any values in any order',
  async () => {
    const number = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(0.5, 1e300, -1e300));
    const { sortable } = fc.letrec<{ sortable: unknown }>((tie) => ({
      sortable: fc.oneof(
        { depthSize: 'xsmall' },
        number,
        fc.constantFrom('', 'a', 'B', 'é', '\0', 'null', '1'),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie('sortable'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom('a', 'b', '0'), tie('sortable'), { maxKeys: 2, noNullPrototype: true }),
      ),
    }));
    const document = fc.record({ v: sortable, w: sortable }, { requiredKeys: [] });
    const keys = fc.uniqueArray(fc.constantFrom('v', 'w', 'v.a', 'w.b', 'v.0'), { minLength: 1, maxLength: 2 });
    const order = fc
      .tuple(keys, fc.array(fc.constantFrom('', '-'), { minLength: 2, maxLength: 2 }))
      .map(([names, signs]) => names.map((name, n) => signs[n] + name).join(','));
    interface Listed {
      readonly data: { readonly items: { readonly _id: string }[]; readonly nextCursor: string | null };
    }
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(document, { minLength: 2, maxLength: 12 }),
        order,
        fc.integer({ min: 1, max: 4 }),
        async (documents, sort, limit) => {
          run += 1;
          const mark = `${seed}-${run}`;
          await project.api('POST', '/api/data/pages/bulk', { body: documents.map((of) => ({ ...of, mark })) });
          const base = `/api/data/pages?mark=${mark}&sort=${sort}`;
          const whole = await project.api<Listed>('GET', base);
          // MongoDB cannot sort by two arrays, so the whole query is rejected before the first page.
          if (whole.status === 400) return;
          const walked: string[] = [];
          let cursor: string | null = '';
          while (cursor !== null) {
            const page: Answer<Listed> = await project.api<Listed>('GET', `${base}&limit=${limit}&cursor=${cursor}`);
            expect(page.status).toBe(200);
            walked.push(...page.body.data.items.map(({ _id }) => _id));
            expect(walked.length).toBeLessThanOrEqual(documents.length);
            cursor = page.body.data.nextCursor;
          }
          expect(walked).toEqual(whole.body.data.items.map(({ _id }) => _id));
        },
      ),
      { seed, numRuns: runs },
    );
  },
  limitMs,
);

describe('failures that fuzzing found', () => {
  test.each([
    'fields=_bsontype',
    '_bsontype=1',
    'a._bsontype=1',
    'sort=-_bsontype',
    '_bsontype_exists=true',
    'fields=a,_bsontype.b',
  ])('400 for the name that the driver reserves: %s', async (query) => {
    for (const name of ['notes', 'posts']) {
      const answer = await project.api('GET', `/api/data/${name}?${query}`);
      expect(answer).toMatchObject({ status: 400 });
      expect(['INVALID_QUERY', 'INVALID_FILTER']).toContain(answer.body.code);
    }
  });

  test('400 for a sort and an indexed write when a number is both a position and a name', async () => {
    const own = await newProject([{ name: 'things' }], project.developer);
    const ambiguous = { v: [{ 0: 1 }] };
    const made = await own.api<{ _id: string }>('POST', '/api/data/things', { body: ambiguous });
    for (const query of ['sort=v.0', 'sort=-v.0&cursor=', 'sort=v.0&limit=1']) {
      expect((await own.api('GET', `/api/data/things?${query}`)).status).toBe(400);
    }
    await own.api('DELETE', `/api/data/things/${made.body._id}?permanent=true`);
    const indexes = `/api/projects/${own.id}/collections/things/indexes`;
    expect((await own.developer.dashboard('POST', indexes, { keys: { 'v.0': 1 } })).status).toBe(201);
    const plain = await own.api<{ _id: string }>('POST', '/api/data/things', { body: { v: 1 } });
    expect((await own.api('POST', '/api/data/things', { body: ambiguous })).status).toBe(400);
    expect((await own.api('POST', '/api/data/things/bulk', { body: [{ v: 2 }, ambiguous] })).status).toBe(400);
    expect((await own.api('PATCH', `/api/data/things/${plain.body._id}`, { body: ambiguous })).status).toBe(400);
    expect(await own.api('GET', '/api/data/things')).toMatchObject({ body: { data: { total: 1, items: [{ v: 1 }] } } });
  });
});
