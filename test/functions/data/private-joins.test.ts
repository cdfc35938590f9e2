import { beforeAll, describe, expect, test } from 'vitest';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

/*
 * The service rewrites a join by fields into a private collection, so that no caller input selects an index. It must
 * find the same documents as MongoDB’s own join in a collection without hidden documents.
 */

const bobId = 'b'.repeat(24);
const values = [
  undefined,
  null,
  1,
  2.5,
  '1',
  true,
  [],
  [1, 2],
  [null],
  [[1, 2]],
  [[]],
  { b: 1 },
  { b: null },
  {},
  { b: [1, '1'] },
  { b: { c: 1 } },
  [{ b: 1 }, { b: 2 }],
  [{ b: 1 }, {}],
  [{ b: [] }],
  [{ b: { c: 1 } }, { b: [{ c: 2 }, 1] }],
  [1, { b: 1 }],
  [[{ b: 1 }]],
];

let project: TestProject;
const documents = values.map((a, n) => ({ n, ...(a === undefined ? {} : { a }) }));

beforeAll(async () => {
  project = await newProject([
    { name: 'hidden', rls: { enabled: true, mode: 'private' } },
    { name: 'open' },
    { name: 'from' },
  ]);
  const fill = async (collection: string, body: readonly object[]): Promise<void> => {
    const made = await project.api('POST', `/api/data/${collection}/bulk`, { body });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  };
  await fill('from', documents);
  await fill('open', documents);
  await fill(
    'hidden',
    documents.map((document) => ({ ...document, userId: bobId })),
  );
  await fill(
    'hidden',
    documents.map((document) => ({ ...document, userId: 'a'.repeat(24) })),
  );
});

const paths = ['a', 'a.b', 'a.b.c', 'n', 'none', 'none.b'];

describe.each(paths)('from %s', (localField) => {
  test.each(paths)('200 with the same documents by %s', async (foreignField) => {
    const found = async (from: string): Promise<unknown> => {
      const shown = [{ $sort: { n: 1 } }, { $project: { _id: 0, n: 1 } }];
      const pipeline = [
        { $sort: { n: 1 } },
        { $lookup: { from, localField, foreignField, pipeline: shown, as: 'x' } },
        { $project: { _id: 0, n: 1, x: 1 } },
      ];
      const caller = { key: project.publishableKey, token: await project.tokenFor(bobId) };
      const answer = await project.api('POST', '/api/data/from/aggregate', { ...caller, body: { pipeline } });
      expect(answer.status).toBe(200);
      return answer.body.data;
    };
    expect(await found('hidden')).toEqual(await found('open'));
  });
});
