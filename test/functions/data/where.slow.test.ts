import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as queryDocuments } from '../../../functions/data/query-documents.ts';
import { findProjectByKey } from '../../../shared/collections/find-project-by-key.ts';
import { plansOf } from '../../support/clients/explain.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { conditions, documents, holds, type JsonRecord, sampledSchema } from '../../support/data/conditions.ts';
import { seed } from '../../support/data/fuzz-values.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

listenToCommands();
process.env.RATE_LIMIT = '0';

const amount = 2000;
const params = { collectionName: 'samples' };
let project: TestProject;
let stored: readonly JsonRecord[];

beforeAll(async () => {
  project = await newProject([{ name: 'samples', schema: sampledSchema }, { name: 'others' }]);
  stored = fc.sample(documents, { numRuns: 100, seed }).map((document, number) => ({ ...document, number }));
  const made = await project.api('POST', '/api/data/samples/bulk', { body: stored });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
});

/** Returns the numbers that a condition finds, in the URL or in a body. */
const found = async (where: JsonRecord, byBody: boolean): Promise<readonly number[] | string> => {
  const { status, body } = byBody
    ? await invoke(queryDocuments, { key: project.secretKey, params, body: { where, limit: 200 } })
    : await invoke(listDocuments, {
        ...{ key: project.secretKey, params },
        query: `limit=200&where=${encodeURIComponent(JSON.stringify(where))}`,
      });
  if (status !== 200) return JSON.stringify(body);
  const { items, total } = body.data as { items: readonly { number: number }[]; total: number };
  expect(total).toBe(items.length);
  return items.map(({ number }) => number).reverse();
};

const expected = (where: JsonRecord): readonly number[] =>
  stored.flatMap((document, number) => (holds(document, where) ? [number] : []));

describe('where', () => {
  test(`finds what a reference evaluator finds for ${amount} conditions, each with one find`, async () => {
    const differing: object[] = [];
    let matched = 0;
    const sampled = fc.sample(conditions, { numRuns: amount, seed });
    await found({}, true);
    const commands = await commandsOf(async () => {
      for (const [index, where] of sampled.entries()) {
        const [is, should] = [await found(where, index % 2 === 0), expected(where)];
        matched += should.length;
        if (JSON.stringify(is) !== JSON.stringify(should)) differing.push({ where, is, should });
      }
    });
    expect(differing.slice(0, 3).map((one) => JSON.stringify(one))).toEqual([]);
    expect(commands.filter((name) => name === 'mongodb find')).toHaveLength(amount);
    expect(matched).toBeGreaterThan(amount);
  }, 120_000);
});

test('an alternative of two indexed fields examines only matches, in the order of the list', async () => {
  await project.addCollection({ name: 'indexed', schema: null });
  for (const key of ['a', 'b']) {
    const path = `/api/projects/${project.id}/collections/indexed/indexes`;
    const made = await project.developer.dashboard('POST', path, { keys: { [key]: 1, _id: 1 } });
    expect(made.status).toBe(201);
  }
  for (let bulk = 0; bulk < 5; bulk += 1) {
    const body = Array.from({ length: 100 }, (_, n) => ({ a: n, b: 99 - n, bulk }));
    expect((await project.api('POST', '/api/data/indexed/bulk', { body })).status).toBe(201);
  }
  const match = await findProjectByKey(project.secretKey, '');
  if (!match) throw new Error('The project is gone');
  const body = { where: { $or: [{ a: 7 }, { b: 7 }] } };
  const plans = await plansOf(match.project, async () => {
    const answer = await invoke(queryDocuments, {
      ...{ key: project.secretKey, params: { collectionName: 'indexed' }, body },
    });
    expect(answer.body.data).toMatchObject({ total: 10 });
  });
  expect(plans).toHaveLength(1);
  expect(plans[0]?.docsExamined).toBe(10);
  expect(plans[0]?.stages).toEqual(expect.arrayContaining(['IXSCAN a_1__id_1', 'IXSCAN b_1__id_1']));
});
