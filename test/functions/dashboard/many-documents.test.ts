import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from '../../support/clients/client.ts';
import { newMember, newPersonalToken } from '../../support/fixtures/members.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

let project: TestProject;

const users = ['email', 'password'].map((key) => ({ key, type: 'String', required: true }));

beforeAll(async () => {
  const schema = [
    { key: 'status', type: 'String', enum: ['open', 'paid'] },
    { key: 'n', type: 'Number' },
  ];
  project = await newProject([
    { name: 'orders', schema },
    { name: 'users', schema: users },
  ]);
  const orders = Array.from({ length: 5 }, (_, n) => ({ status: 'open', n }));
  await project.api('POST', '/api/data/orders/bulk', { body: orders });
});

interface Answer {
  readonly code?: string;
  readonly data: { readonly matched: number; readonly changed: number; readonly cursor: string | null };
}

const send = (what: 'update' | 'delete', body: object, collection = 'orders', token = project.developer.token) =>
  call<Answer>(
    inject('stack').dashboardUrl,
    what === 'update' ? 'PATCH' : 'POST',
    `/api/projects/${project.id}/collections/${collection}/documents${what === 'update' ? '' : '/delete'}`,
    { token, body },
  );

const countOf = async (query: string): Promise<unknown> =>
  (await project.api<{ data: unknown }>('GET', `/api/data/orders?count=true&${query}`)).body.data;

describe('writes of many documents in the dashboard', () => {
  test('200 with every matching document changed', async () => {
    const answer = await send('update', { where: { n: { $lt: 3 } }, changes: { status: 'paid' } });
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { matched: 3, changed: 3, more: false, cursor: null } },
    });
    expect(await countOf('status=paid')).toEqual({ count: 3 });
  });

  test('200 with every matching document in the trash', async () => {
    expect(await send('delete', { where: { status: 'paid' } })).toMatchObject({
      status: 200,
      body: { data: { matched: 3, changed: 3 } },
    });
    expect(await countOf('')).toEqual({ count: 2 });
    expect(await countOf('include_deleted=true')).toEqual({ count: 5 });
  });

  test('403 ROLE_REQUIRED for a viewer, and SCOPE_REQUIRED for a token that only reads', async () => {
    const viewer = await newMember(project, 'viewer');
    const { token } = await newPersonalToken(project.developer, ['documents:read']);
    for (const what of ['update', 'delete'] as const) {
      const body = { where: { n: 4 }, ...(what === 'update' && { changes: { n: 5 } }) };
      expect(await send(what, body, 'orders', viewer.token)).toMatchObject({
        status: 403,
        body: { code: 'ROLE_REQUIRED' },
      });
      expect(await send(what, body, 'orders', token)).toMatchObject({ status: 403, body: { code: 'SCOPE_REQUIRED' } });
    }
    expect(await countOf('n=4')).toEqual({ count: 1 });
  });

  test.each<[number, string, string, string]>([
    [400, 'INVALID_FILTER', 'without a condition', 'orders'],
    [404, 'COLLECTION_NOT_FOUND', 'for an unknown collection', 'nowhere'],
  ])('%i %s %s', async (status, code, _when, collection) => {
    const where = status === 400 ? {} : { n: 1 };
    expect(await send('update', { where, changes: { n: 1 } }, collection)).toMatchObject({ status, body: { code } });
    expect(await send('delete', { where }, collection)).toMatchObject({ status, body: { code } });
  });

  test('400 VALIDATION_FAILED for a value that no document may have', async () => {
    const answer = await send('update', { where: { n: 4 }, changes: { status: 'lost' } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });

  test('403 USERS_RESERVED for users', async () => {
    const where = { email: 'a@example.com' };
    for (const answer of [
      await send('update', { where, changes: { email: 'b' } }, 'users'),
      await send('delete', { where }, 'users'),
    ]) {
      expect(answer).toMatchObject({ status: 403, body: { code: 'USERS_RESERVED' } });
    }
  });
});
