import { beforeAll, describe, expect, test } from 'vitest';
import { handler as browseDocuments } from '../../functions/dashboard/documents/browse-documents.ts';
import { handler as getDocument } from '../../functions/data/get-document.ts';
import { handler as listDocuments } from '../../functions/data/list-documents.ts';
import type { Project } from '../../shared/projects/project.ts';
import { listenToCommands } from '../support/commands.ts';
import { type Plan, plansOf } from '../support/explain.ts';
import { invoke } from '../support/invoke.ts';
import { addMany } from '../support/many-documents.ts';
import { newProject, type TestProject } from '../support/project.ts';
import { domainProject } from '../support/stored-users.ts';
import { addTrashed } from '../support/trash.ts';

const count = 1_000_000;
const authors = 1000;
const trashed = 20_000;
const collectionName = 'posts';
const limit = 20;
/**
 * Totals of filters are exact up to 10 000; of each number there are 20 documents, and one in the trash, which is read
 * past.
 */
const counted = Math.ceil(10_001 * (1 + 1 / 20));

let project: TestProject;
let domain: Project;

const list = async (query: string) => {
  const answer = await invoke(listDocuments, { key: project.secretKey, params: { collectionName }, query });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data as { readonly items: readonly { readonly _id: string }[]; readonly nextCursor?: string };
};

const cursorAfter = async (pages: number, query: string): Promise<string> => {
  let cursor = '';
  for (let page = 0; page < pages; page++) {
    const { nextCursor = '' } = await list(`${query}&limit=1000&fields=_id&cursor=${encodeURIComponent(cursor)}`);
    cursor = nextCursor;
  }
  return encodeURIComponent(cursor);
};

const addIndex = async (keys: Readonly<Record<string, number>>): Promise<void> => {
  const path = `/api/projects/${project.id}/collections/${collectionName}/indexes`;
  const { status } = await project.developer.dashboard('POST', path, { keys });
  expect(status).toBe(201);
};

beforeAll(async () => {
  listenToCommands();
  project = await newProject([
    {
      name: collectionName,
      schema: [
        { key: 'slug', type: 'String', unique: true },
        { key: 'author', type: 'String' },
        { key: 'likes', type: 'Number' },
      ],
    },
  ]);
  domain = await domainProject(project);
  await addIndex({ author: 1, _id: 1 });
  await addIndex({ likes: 1, _id: 1 });
  const begin = performance.now();
  await addTrashed(domain, collectionName, trashed, 3, (n) => ({ slug: `gone-${n}`, author: 'nobody', likes: n }));
  await addMany(domain, collectionName, count, (n) => ({
    slug: `post-${n}`,
    author: `author-${n % authors}`,
    likes: n % 50_000,
    title: `Post number ${n}`,
  }));
  process.stdout.write(`${count} documents in ${((performance.now() - begin) / 1000).toFixed(0)} s\n`);
}, 600_000);

/** A plan reads what it answers, by an index, in the order of that index. */
const expectServed = ({ command, stages, keysExamined, docsExamined }: Plan, index: string, most: number): void => {
  expect(stages.join(), command).toContain(index);
  expect(stages, command).not.toContain('COLLSCAN');
  expect(stages, command).not.toContain('SORT');
  expect(keysExamined, `keys of ${command}`).toBeLessThanOrEqual(most);
  expect(docsExamined, `documents of ${command}`).toBeLessThanOrEqual(most);
};

const find = async (act: () => Promise<unknown>): Promise<Plan> => {
  const found = (await plansOf(domain, act)).find(({ command }) => command === 'find');
  if (!found) throw new Error('Nothing was looked for');
  return found;
};

describe(`of ${count} documents, a page is read by an index and nothing besides`, () => {
  test.each([
    ['the newest', '', 'IXSCAN _id_'],
    ['those of nobody', 'author=none', 'IXSCAN author_1__id_1'],
    ['those of an author', 'author=author-7', 'IXSCAN author_1__id_1'],
    ['those of an author, oldest first', 'author=author-7&sort=_id:asc', 'IXSCAN author_1__id_1'],
    ['the one with a unique value', 'slug=post-500000', 'IXSCAN basalt_read_slug'],
    ['those with a number', 'likes=49999', 'IXSCAN likes_1__id_1'],
    ['the most liked', 'sort=likes:desc', 'IXSCAN likes_1__id_1'],
    ['the least liked', 'sort=likes:asc', 'IXSCAN likes_1__id_1'],
  ])('%s (%s)', async (_what, query, index) => {
    expectServed(await find(() => list(`${query}&limit=${limit}`)), index, limit + 2);
  });

  test('100 000 documents deep, by a cursor', async () => {
    const cursor = await cursorAfter(100, '');
    expectServed(await find(() => list(`limit=${limit}&cursor=${cursor}`)), 'IXSCAN _id_', limit + 1);
  });

  test('20 000 documents deep in another order, by a cursor', async () => {
    const cursor = await cursorAfter(20, 'sort=likes:desc');
    const plan = await find(() => list(`sort=likes:desc&limit=${limit}&cursor=${cursor}`));
    expectServed(plan, 'IXSCAN likes_1__id_1', 2 * limit + 10);
  });

  test('for the dashboard', async () => {
    const { token } = project.developer;
    const params = { projectId: project.id, collectionName };
    const plan = await find(async () => {
      expect((await invoke(browseDocuments, { token, params, query: `limit=${limit}` })).status).toBe(200);
    });
    expectServed(plan, 'IXSCAN _id_', limit + 1);
  });
});

test('one document is found by its id alone', async () => {
  const [first] = (await list('limit=1')).items;
  const id = first?._id ?? '';
  const plan = await find(() => invoke(getDocument, { key: project.secretKey, params: { collectionName, id } }));
  expect(plan).toMatchObject({ docsExamined: 1 });
});

test.each([
  ['an author', 'author=author-7', 'author_1__id_1', count / authors],
  ['more than are counted', 'likes_gte=1000', 'likes_1__id_1', counted],
])('the total of a filter by %s reads no more than it counts', async (_what, query, index, most) => {
  const plans = await plansOf(domain, () => list(`${query}&limit=${limit}`));
  const total = plans.find(({ command }) => command === 'aggregate');
  expect(total?.stages.join()).toContain(index);
  expect(total?.keysExamined).toBeLessThanOrEqual(most + 1);
});
