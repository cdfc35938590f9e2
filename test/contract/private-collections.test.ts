import { beforeAll, describe, expect, test } from 'vitest';
import type { RequestOptions } from '../support/clients/client.ts';
import { publicCases, type RouteCase, sampleBodies, sampleParameters } from '../support/data/route-cases.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

const marker = 'only-for-ann';
const leak = 'shows documents of a private collection to others than their owner (shared/documents/access.ts)';
const unseen =
  'shows its owner nothing: it needs a sample body (route-cases.ts), a line in `queries`, or in `withoutDocuments`';

/** What reads documents of a collection, whatever its method. */
const reads = publicCases.filter(({ parameters, route }) => parameters.includes('collectionName') && !route.writes);

/** Rows whose answers hold nothing of a document, whoever asks. */
const withoutDocuments = ['get-schema'];

/** What is there, the trash besides, and the feed from its beginning; a row ignores or refuses what is another's. */
const queries = ['', '?include_deleted=true', '?since=0'];

let project: TestProject;
/** Of an active document and of a trashed one. */
let ids: readonly string[];
let ann: RequestOptions;
let others: readonly RequestOptions[];

beforeAll(async () => {
  const name = sampleParameters.collectionName;
  project = await newProject([{ name, rls: { enabled: true, mode: 'private' }, changes: true }]);
  const key = project.publishableKey;
  ann = { key, token: await project.tokenFor('a'.repeat(24)) };
  others = [{ key, token: await project.tokenFor('b'.repeat(24)) }, { key }];
  const create = async (secret: string): Promise<string> => {
    const body = { text: 'a', secret };
    const made = await project.api<{ _id: string }>('POST', `/api/data/${name}`, { ...ann, body });
    expect(made.status).toBe(201);
    return made.body._id;
  };
  ids = [await create(`active ${marker}`), await create(`trashed ${marker}`)];
  expect((await project.api('DELETE', `/api/data/${name}/${ids[1]}`, ann)).status).toBe(200);
});

/** All that a row answers to a caller, whatever its statuses. */
const answersOf = async ({ id, method, pathWith }: RouteCase, caller: RequestOptions): Promise<string> => {
  const sample = sampleBodies[id] ?? {};
  const bodies = method === 'GET' ? [{}] : [{ body: sample }, { body: { ...sample, include_deleted: true } }];
  const asked = ids.flatMap((document) =>
    queries.flatMap((query) =>
      bodies.map((body) =>
        project.api(method, pathWith({ ...sampleParameters, id: document }) + query, { ...caller, ...body }),
      ),
    ),
  );
  return JSON.stringify((await Promise.all(asked)).map(({ body }) => body));
};

describe('documents of a private collection, active and in the trash', () => {
  test.each(reads)('are hidden from another user, and without a user: $method $id', async (row) => {
    for (const caller of others) expect(await answersOf(row, caller), `${row.id} ${leak}`).not.toContain(marker);
  });

  test.each(reads.filter(({ id }) => !withoutDocuments.includes(id)))(
    'are shown to their owner: $method $id',
    async (row) => {
      expect(await answersOf(row, ann), `${row.id} ${unseen}`).toContain(marker);
    },
  );

  test('are both in the list of their owner', async () => {
    const list = await project.api('GET', `/api/data/${sampleParameters.collectionName}?include_deleted=true`, ann);
    for (const state of ['active', 'trashed']) expect(JSON.stringify(list.body)).toContain(`${state} ${marker}`);
  });
});
