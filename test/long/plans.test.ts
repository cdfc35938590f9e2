import { beforeAll, describe, expect, test } from 'vitest';
import { handler as listProjectDocuments } from '../../functions/dashboard/documents/list-project-documents.ts';
import { handler as getDocument } from '../../functions/data/get-document.ts';
import { handler as listDocuments } from '../../functions/data/list-documents.ts';
import type { Project } from '../../shared/projects/project.ts';
import type { RequestOptions } from '../support/clients/client.ts';
import { type Plan, plansOf } from '../support/clients/explain.ts';
import { invoke } from '../support/clients/invoke.ts';
import { listenToCommands } from '../support/command-notes.ts';
import { addMany } from '../support/fixtures/many-documents.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';
import { domainProject } from '../support/fixtures/stored-users.ts';
import { addTrashed } from '../support/fixtures/trash.ts';

/** Ten times the most that a page or a count may read, so that a plan that reads more is far above its limit. */
const count = 200_000;
const authors = 200;
const trashed = 5000;
const collectionName = 'posts';
const limit = 20;
const ofAuthor = count / authors + 2;
/**
 * Totals of filters are exact up to 10 000. Each number has 20 documents and one in the trash, which the count reads
 * and skips.
 */
const counted = Math.ceil(10_001 * (1 + 1 / 20));

let project: TestProject;
let domain: Project;

/** Returns the id of an author, who is a user. */
const authorOf = (n: number): string => (n % authors).toString(16).padStart(24, '0');
const author = authorOf(7);

const list = async (query: string, caller: RequestOptions = { key: project.secretKey }) => {
  const answer = await invoke(listDocuments, { ...caller, params: { collectionName }, query });
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
      rls: { enabled: true, mode: 'private', ownerField: 'author' },
      schema: [
        { key: 'slug', type: 'String', unique: true },
        { key: 'author', type: 'String' },
        { key: 'likes', type: 'Number' },
      ],
    },
  ]);
  domain = await domainProject(project);
  await addIndex({ likes: 1, _id: 1, author: 1 });
  const begin = performance.now();
  await addTrashed(domain, collectionName, trashed, 3, (n) => ({ slug: `gone-${n}`, author: 'nobody', likes: n }));
  await addMany(domain, collectionName, count, (n) => ({
    slug: `post-${n}`,
    author: authorOf(n),
    likes: n % (count / limit),
    title: `Post number ${n}`,
  }));
  process.stdout.write(`${count} documents in ${((performance.now() - begin) / 1000).toFixed(0)} s\n`);
}, 600_000);

/** Asserts that a plan reads by the index, in its order, and no more than `most` keys and documents. */
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

describe(`a page of ${count} documents is read by an index without other documents`, () => {
  test.each([
    ['the newest', '', 'IXSCAN _id_'],
    ['those of an unknown author', 'author=none', 'IXSCAN basalt_read_author'],
    ['those of an author', `author=${author}`, 'IXSCAN basalt_read_author'],
    ['those of an author, oldest first', `author=${author}&sort=_id:asc`, 'IXSCAN basalt_read_author'],
    ['the one with a unique value', 'slug=post-150000', 'IXSCAN basalt_read_slug'],
    ['those with a number', 'likes=9999', 'IXSCAN likes_1__id_1_author_1'],
    ['the most liked', 'sort=likes:desc', 'IXSCAN likes_1__id_1_author_1'],
    ['the least liked', 'sort=likes:asc', 'IXSCAN likes_1__id_1_author_1'],
    ['those with a common pattern', 'title_regex=%5Epost+number+1', 'IXSCAN _id_'],
  ])('%s (%s)', async (_what, query, index) => {
    expectServed(await find(() => list(`${query}&limit=${limit}`)), index, limit + 2);
  });

  test.each([
    ['those of two authors', `author_in=${author},${authorOf(8)}`, 'IXSCAN basalt_read_author', 2 * (limit + 2)],
    ['those with two values', `author=${author}&likes=7`, 'IXSCAN ', ofAuthor],
    ['those with a value and a range', `author=${author}&likes_gte=5000`, 'IXSCAN ', ofAuthor],
    ['those with a value and a rare pattern', `author=${author}&title_regex=00007%24`, 'IXSCAN ', ofAuthor],
    ['the thousandth page', 'page=1000', 'IXSCAN _id_', 1000 * limit + 2],
  ])('%s (%s), apart from documents that it must skip', async (_what, query, index, most) => {
    expectServed(await find(() => list(`${query}&limit=${limit}`)), index, most);
  });

  test.each([
    ['all', '', 'IXSCAN basalt_read_author', limit + 2],
    ['all, oldest first', 'sort=_id:asc', 'IXSCAN basalt_read_author', limit + 2],
    ['those with a value', 'likes=7', 'IXSCAN ', ofAuthor],
  ])('%s, when users see only their own (%s)', async (_what, query, index, most) => {
    const caller = { key: project.publishableKey, token: await project.tokenFor(author) };
    expectServed(await find(() => list(`${query}&limit=${limit}`, caller)), index, most);
  });

  test('100 000 documents deep by a cursor', async () => {
    const cursor = await cursorAfter(100, '');
    expectServed(await find(() => list(`limit=${limit}&cursor=${cursor}`)), 'IXSCAN _id_', limit + 1);
  });

  test('20 000 documents deep by a cursor in another order', async () => {
    const cursor = await cursorAfter(20, 'sort=likes:desc');
    const plan = await find(() => list(`sort=likes:desc&limit=${limit}&cursor=${cursor}`));
    expectServed(plan, 'IXSCAN likes_1__id_1_author_1', 2 * limit + 10);
  });

  test('on the dashboard', async () => {
    const { token } = project.developer;
    const params = { projectId: project.id, collectionName };
    const plan = await find(async () => {
      expect((await invoke(listProjectDocuments, { token, params, query: `limit=${limit}` })).status).toBe(200);
    });
    expectServed(plan, 'IXSCAN _id_', limit + 1);
  });
});

test('one document is read by its id without other documents', async () => {
  const [first] = (await list('limit=1')).items;
  const id = first?._id ?? '';
  const plan = await find(() => invoke(getDocument, { key: project.secretKey, params: { collectionName, id } }));
  expect(plan).toMatchObject({ docsExamined: 1 });
});

test.each([
  ['an author', `author=${author}`, 'basalt_read_author', ofAuthor],
  ['more than are counted', 'likes_gte=1000', 'likes_1__id_1_author_1', counted],
])('total of a filter by %s reads no more than it counts', async (_what, query, index, most) => {
  const plans = await plansOf(domain, () => list(`${query}&limit=${limit}`));
  const total = plans.find(({ command }) => command === 'count');
  expect(total?.stages.join()).toContain(index);
  expect(total?.keysExamined).toBeLessThanOrEqual(most + 1);
});
