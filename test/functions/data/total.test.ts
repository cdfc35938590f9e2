import { afterEach, beforeAll, expect, test } from 'vitest';
import { dashboardDocument } from '../../../functions/dashboard-api.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { publicDocument } from '../../../functions/public-api.ts';
import { clock } from '../../../shared/core/clock.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { plansOf } from '../../support/clients/explain.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { addMany } from '../../support/fixtures/many-documents.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

listenToCommands();
Object.assign(process.env, { RATE_LIMIT: '1000000', RATE_BLOCK: '1' });

const realNow = clock.now;
let project: TestProject;
let domain: Project;

beforeAll(async () => {
  project = await newProject([{ name: 'large' }, { name: 'many' }]);
  domain = await domainProject(project);
});

afterEach(() => {
  clock.now = realNow;
});

/** Returns a list’s total and the number of count commands. */
const totalOf = async () => {
  let total: unknown;
  const commands = await commandsOf(async () => {
    const options = { key: project.secretKey, params: { collectionName: 'large' }, query: 'limit=1' };
    const answer = await invoke(listDocuments, options);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    ({ total } = answer.body.data as { total: unknown });
  });
  return { total, counts: commands.filter((name) => name === 'mongodb count').length };
};

const inDatabase = (count: number) => addMany(domain, 'large', count, (n) => ({ n }));

test('200 with a total that is counted again when a large collection shrinks or is recreated', async () => {
  await inDatabase(20_001);
  const frozen = Date.now();
  clock.now = () => frozen;
  await totalOf();
  expect(await totalOf()).toEqual({ total: 20_001, counts: 2 });
  await onProject(domain, (db) => db.collection('large').deleteMany({ n: { $gte: 50 } }), 60_000);
  expect(await totalOf()).toEqual({ total: 50, counts: 5 });
  expect(await totalOf()).toEqual({ total: 50, counts: 2 });

  await inDatabase(20_001);
  clock.now = () => frozen + 61_000;
  await totalOf();
  await onProject(domain, (db) => db.collection('large').drop());
  await inDatabase(3);
  expect(await totalOf()).toEqual({ total: 3, counts: 5 });
  expect(await totalOf()).toEqual({ total: 3, counts: 2 });
});

test('200 with a counted number of documents, because collection metadata can be wrong', async () => {
  for (const query of ['count=true', 'count=true&include_deleted=true']) {
    const options = { key: project.secretKey, params: { collectionName: 'many' }, query };
    const [plan, ...others] = await plansOf(domain, () => invoke(listDocuments, options));
    expect(others).toEqual([]);
    expect(plan?.stages, query).toContain('COUNT');
    expect(plan?.stages, query).not.toContain('RECORD_STORE_FAST_COUNT');
  }
});

test('200 with a total capped at 10 000 and totalCapped when a filter matches more; count=true returns the exact number', async () => {
  await addMany(domain, 'many', 10_003, (n) => ({ n }));
  const list = async (query: string) => (await project.api('GET', `/api/data/many?${query}`)).body.data;
  for (const paging of ['page=2', 'cursor=', 'skip=10001']) {
    expect(await list(`n_gte=1&limit=1&${paging}`)).toMatchObject({ total: 10_000, totalCapped: true });
  }
  expect(await list('n_gte=3&limit=1')).not.toHaveProperty('totalCapped');
  expect(await list('n_gte=3&limit=1')).toMatchObject({ total: 10_000 });
  expect(await list('n_gte=1&count=true')).toEqual({ count: 10_002 });
  expect(await list('count=true')).toEqual({ count: 10_003 });
});

test('the API descriptions say that a capped total is a minimum', () => {
  const said = [publicDocument(), dashboardDocument()].flatMap((document) => {
    const found: (string | undefined)[] = [];
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      const { properties } = value as { properties?: Record<string, { description?: string }> };
      if (properties?.totalCapped) found.push(properties.total?.description, properties.totalCapped.description);
      for (const inner of Object.values(value)) walk(inner);
    };
    walk(document);
    return found;
  });
  expect(said.length).toBeGreaterThanOrEqual(6);
  for (const description of said) expect(description).toMatch(/at least|more than total|there are more/);
});
