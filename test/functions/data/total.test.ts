import { afterEach, beforeAll, expect, test } from 'vitest';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { commandsOf, listenToCommands } from '../../../infra/local/command-notes.ts';
import { onProject } from '../../../shared/clients/mongo.ts';
import { clock } from '../../../shared/clock.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { invoke } from '../../support/invoke.ts';
import { addMany } from '../../support/many-documents.ts';
import { newProject, type TestProject } from '../../support/project.ts';
import { domainProject } from '../../support/stored-users.ts';

listenToCommands();
Object.assign(process.env, { RATE_LIMIT: '1000000', RATE_BLOCK: '1' });

const realNow = clock.now;
let project: TestProject;
let domain: Project;

beforeAll(async () => {
  project = await newProject([{ name: 'large' }]);
  domain = await domainProject(project);
});

afterEach(() => {
  clock.now = realNow;
});

/** The total that a list answers, and how many commands it took to count. */
const totalOf = async () => {
  let total: unknown;
  const commands = await commandsOf(async () => {
    const options = { key: project.secretKey, params: { collectionName: 'large' }, query: 'limit=1' };
    const answer = await invoke(listDocuments, options);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    ({ total } = answer.body.data as { total: unknown });
  });
  return { total, counts: commands.filter((name) => name === 'mongodb aggregate').length };
};

const inDatabase = (count: number) => addMany(domain, 'large', count, (n) => ({ n }));

test('200 with a total that is checked again as soon as a large collection has shrunk, or was made anew', async () => {
  await inDatabase(20_001);
  const frozen = Date.now();
  clock.now = () => frozen;
  await totalOf();
  expect(await totalOf()).toEqual({ total: 20_001, counts: 1 });
  await onProject(domain, (db) => db.collection('large').deleteMany({ n: { $gte: 50 } }), 60_000);
  expect(await totalOf()).toEqual({ total: 50, counts: 2 });
  expect(await totalOf()).toEqual({ total: 50, counts: 1 });

  await inDatabase(20_001);
  clock.now = () => frozen + 61_000;
  await totalOf();
  await onProject(domain, (db) => db.collection('large').drop());
  await inDatabase(3);
  expect(await totalOf()).toEqual({ total: 3, counts: 2 });
  expect(await totalOf()).toEqual({ total: 3, counts: 1 });
});
