import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as queryDocuments } from '../../../functions/data/query-documents.ts';
import { commandsOf, listenToCommands } from '../../../infra/local/command-notes.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { conditions, documents, holds, type JsonRecord, sampledSchema } from '../../support/samples/conditions.ts';
import { newProject, type TestProject } from '../../support/worlds/project.ts';

listenToCommands();
process.env.RATE_LIMIT = '0';

const amount = 2000;
const params = { collectionName: 'samples' };
let project: TestProject;
let stored: readonly JsonRecord[];

beforeAll(async () => {
  project = await newProject([{ name: 'samples', schema: sampledSchema }, { name: 'others' }]);
  stored = fc.sample(documents, 100).map((document, number) => ({ ...document, number }));
  const made = await project.api('POST', '/api/data/samples/bulk', { body: stored });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
});

/** The numbers of what a condition finds, by the address or by a body. */
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
  test(`finds what a reference evaluator finds, for ${amount} conditions, each by one find`, async () => {
    const differing: object[] = [];
    let matched = 0;
    const sampled = fc.sample(conditions, amount);
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
