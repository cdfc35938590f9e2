import { beforeAll, describe, expect, test } from 'vitest';
import type { RequestOptions } from '../support/clients/client.ts';
import { publicCases, type RouteCase, sampleBodies, sampleParameters } from '../support/data/route-cases.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

const marker = 'only-for-ann';
const leak = 'shows documents of a private collection to others than their owner (shared/documents/access.ts)';
const unseen =
  'shows its owner nothing: it needs a sample body (route-cases.ts), a line in `queries`, or in `withoutDocuments`';

/** The routes that read documents of a collection. */
const reads = publicCases.filter(({ parameters, route }) => parameters.includes('collectionName') && !route.writes);

/** Routes whose responses contain no document. */
const withoutDocuments = ['get-schema'];

/**
 * Queries for active documents, for the trash, and for the changes feed. Routes ignore or reject the queries of others.
 */
const queries = ['', '?include_deleted=true', '?since=0'];

let project: TestProject;
/** The ids of an active and a trashed document. */
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

/** Returns all responses of a route to a caller, with any status. */
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
  test.each(reads)('are hidden from other users and from requests without a user: $method $id', async (row) => {
    for (const caller of others) expect(await answersOf(row, caller), `${row.id} ${leak}`).not.toContain(marker);
  });

  test.each(reads.filter(({ id }) => !withoutDocuments.includes(id)))(
    'are shown to their owner: $method $id',
    async (row) => {
      expect(await answersOf(row, ann), `${row.id} ${unseen}`).toContain(marker);
    },
  );

  test('are both listed for their owner', async () => {
    const list = await project.api('GET', `/api/data/${sampleParameters.collectionName}?include_deleted=true`, ann);
    for (const state of ['active', 'trashed']) expect(JSON.stringify(list.body)).toContain(`${state} ${marker}`);
  });
});
