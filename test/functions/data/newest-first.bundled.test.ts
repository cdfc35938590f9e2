import { beforeAll, describe, expect, test } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

interface Page {
  readonly data: { readonly items: readonly { readonly n: number }[]; readonly nextCursor: string | null };
}

/** Several documents a second, in insertion order. */
const count = 60;
const newestFirst = Array.from({ length: count }, (_, n) => count - 1 - n);

let project: TestProject;

/** Waits for the next millisecond, because ids that two processes create within one have no order. */
const laterMoment = async (): Promise<void> => {
  const before = clock.now();
  while (clock.now() === before) await new Promise(setImmediate);
};

/** Inserts through one function of the stack, another one (two documents), or this process. */
const insertFrom = (n: number): Promise<{ readonly status: number }> => {
  const { api, secretKey: key } = project;
  if (n % 4 === 0) return api('POST', '/api/data/notes', { body: { n } });
  if (n % 4 === 1) return api('POST', '/api/data/notes/bulk', { body: [{ n }, { n: n + 1 }] });
  return invoke(createDocument, { key, params: { collectionName: 'notes' }, body: { n } });
};

beforeAll(async () => {
  project = await newProject([{ name: 'notes' }]);
  for (const n of Array.from({ length: count }, (_, index) => index).filter((index) => index % 4 !== 2)) {
    await laterMoment();
    expect((await insertFrom(n)).status).toBe(201);
  }
});

const numbersIn = ({ data }: Page): number[] => data.items.map(({ n }) => n);
const list = async (query: string): Promise<Page> => (await project.api<Page>('GET', `/api/data/notes?${query}`)).body;

describe('documents that several processes insert one after another', () => {
  test('are listed in time order', async () => {
    expect(numbersIn(await list(''))).toEqual(newestFirst);
    expect(numbersIn(await list('sort=_id'))).toEqual(newestFirst.toReversed());
  });

  test('are in that order across the pages of a cursor', async () => {
    const seen: number[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await list(`limit=7&cursor=${cursor}`);
      seen.push(...numbersIn(page));
      cursor = page.data.nextCursor;
    }
    expect(seen).toEqual(newestFirst);
  });

  test('are in that order in the data browser', async () => {
    const path = `/api/projects/${project.id}/collections/notes/documents`;
    expect(numbersIn((await project.developer.dashboard<Page>('GET', path)).body)).toEqual(newestFirst);
  });
});
