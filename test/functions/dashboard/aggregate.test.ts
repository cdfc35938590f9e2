import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from '../../support/clients/client.ts';
import { newMember, newPersonalToken } from '../../support/fixtures/members.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

let project: TestProject;

const users = ['email', 'password'].map((key) => ({ key, type: 'String', required: true }));

beforeAll(async () => {
  project = await newProject([
    { name: 'orders' },
    { name: 'todos', rls: { enabled: true, mode: 'private' } },
    { name: 'users', schema: users },
  ]);
  for (const order of [
    { city: 'Rome', n: 1 },
    { city: 'Rome', n: 2 },
    { city: 'Oslo', n: 4 },
  ]) {
    await project.api('POST', '/api/data/orders', { body: order });
  }
  await project.api('POST', '/api/data/todos', { body: { task: 'paint', userId: 'a'.repeat(24) } });
  const trashed = await project.api<{ _id: string }>('POST', '/api/data/orders', { body: { city: 'Bern', n: 8 } });
  await project.api('DELETE', `/api/data/orders/${trashed.body._id}`);
});

const pathOf = (collection: string): string => `/api/projects/${project.id}/collections/${collection}/aggregate`;

const run = (collection: string, pipeline: unknown, query = '', token = project.developer.token) =>
  call<{ data: unknown; code: string }>(inject('stack').dashboardUrl, 'POST', pathOf(collection) + query, {
    token,
    body: { pipeline },
  });

const sumByCity = [{ $group: { _id: '$city', n: { $sum: '$n' } } }, { $sort: { _id: 1 } }];

describe('an aggregation of the dashboard', () => {
  test('200 with what the secret key gets', async () => {
    const answer = await run('orders', sumByCity);
    expect(answer).toMatchObject({ status: 200 });
    expect(answer.body).toEqual({
      success: true,
      data: [
        { _id: 'Oslo', n: 4 },
        { _id: 'Rome', n: 3 },
      ],
      message: 'Aggregation executed successfully.',
    });
    const body = { pipeline: sumByCity };
    expect((await project.api('POST', '/api/data/orders/aggregate', { body })).body).toEqual(answer.body);
  });

  test('200 with documents that row security hides from users, and with the trash only if asked', async () => {
    expect((await run('todos', [{ $project: { _id: 0, task: 1 } }])).body.data).toEqual([{ task: 'paint' }]);
    expect((await run('orders', [{ $count: 'n' }])).body.data).toEqual([{ n: 3 }]);
    expect((await run('orders', [{ $count: 'n' }], '?include_deleted=true')).body.data).toEqual([{ n: 4 }]);
  });

  test('200 for a viewer, and for a token that only reads documents', async () => {
    const viewer = await newMember(project, 'viewer');
    expect((await run('orders', sumByCity, '', viewer.token)).status).toBe(200);
    const { token } = await newPersonalToken(project.developer, ['documents:read']);
    expect((await run('orders', sumByCity, '', token)).status).toBe(200);
  });

  test('403 SCOPE_REQUIRED for a token that does not read documents', async () => {
    const { token } = await newPersonalToken(project.developer, ['documents:write', 'collections:read']);
    expect(await run('orders', sumByCity, '', token)).toMatchObject({ status: 403, body: { code: 'SCOPE_REQUIRED' } });
  });

  test.each<[number, string, string, string, unknown]>([
    [400, 'INVALID_PIPELINE', 'without a stage', 'orders', []],
    [400, 'BLOCKED_STAGE', 'for a stage that writes', 'orders', [{ $out: 'copy' }]],
    [403, 'USERS_RESERVED', 'for users', 'users', sumByCity],
    [
      403,
      'USERS_RESERVED',
      'for a join of users',
      'orders',
      [{ $lookup: { from: 'users', localField: 'a', foreignField: '_id', as: 'b' } }],
    ],
    [404, 'COLLECTION_NOT_FOUND', 'for an unknown collection', 'nowhere', sumByCity],
  ])('%i %s %s', async (status, code, _when, collection, pipeline) => {
    expect(await run(collection, pipeline)).toMatchObject({ status, body: { code } });
  });
});
