import { beforeEach, describe, expect, test } from 'vitest';
import type { RequestOptions } from '../support/clients/client.ts';
import { deliver, eventOf } from '../support/clients/webhook.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

// The stack of these tests runs both APIs in one process, as `npm start` does, and nothing here waits.
let project: TestProject;

beforeEach(async () => {
  project = await newProject([{ name: 'notes' }, { name: 'other' }]);
});

const change = async (method: string, rest: string, body?: unknown): Promise<Record<string, unknown>> => {
  const path = `/api/projects/${project.id}${rest}`;
  const answer = await project.developer.dashboard<{ data: Record<string, unknown> }>(method, path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer.body.data;
};

const statusOf = async (path: string, options: RequestOptions = {}, method = 'GET'): Promise<number> =>
  (await project.api(method, path, options)).status;
const insert = (collection: string, body: unknown) => statusOf(`/api/data/${collection}`, { body }, 'POST');
const union = (name: string) =>
  statusOf('/api/data/notes/aggregate', { body: { pipeline: [{ $unionWith: name }, { $count: 'n' }] } }, 'POST');

describe('changes by the dashboard take effect immediately when everything runs in one process:', () => {
  test('201 and 200 in a collection, and in its joins, that was requested before it was created', async () => {
    expect([await insert('later', { a: 1 }), await union('later')]).toEqual([404, 404]);
    expect(await statusOf('/api/schemas/later')).toBe(404);
    await project.addCollection({ name: 'later' });
    expect([await insert('later', { a: 1 }), await union('later')]).toEqual([201, 200]);
    expect(await statusOf('/api/schemas/later')).toBe(200);
  });

  test('404 in a deleted collection and in its joins', async () => {
    expect([await insert('other', { a: 1 }), await union('other')]).toEqual([201, 200]);
    await change('DELETE', '/collections/other');
    expect([await insert('other', { a: 1 }), await union('other')]).toEqual([404, 404]);
  });

  test('400 and 401 when schema and row security were edited', async () => {
    const read = { key: project.publishableKey };
    expect([await insert('notes', { n: 'text' }), await statusOf('/api/data/notes', read)]).toEqual([201, 200]);
    await change('PUT', '/collections/notes', {
      schema: [{ key: 'n', type: 'Number' }],
      rls: { enabled: true, mode: 'private' },
      force: true,
    });
    expect([await insert('notes', { n: 'text' }), await statusOf('/api/data/notes', read)]).toEqual([400, 401]);
  });

  test.each(['secret', 'publishable'] as const)('401 with a rotated %s key, 200 with the new one', async (type) => {
    const old = type === 'secret' ? project.secretKey : project.publishableKey;
    expect(await statusOf('/api/data/notes', { key: old })).toBe(200);
    const { key } = await change('POST', '/keys/rotate', { type, graceHours: 0 });
    expect(await statusOf('/api/data/notes', { key: old })).toBe(401);
    expect(await statusOf('/api/data/notes', { key: String(key) })).toBe(200);
  });

  test('403 when allowed domains were set, and when sign-ups were closed', async () => {
    await project.addCollection({
      name: 'users',
      schema: [
        { key: 'email', type: 'String', required: true },
        { key: 'password', type: 'String', required: true },
      ],
    });
    const key = project.publishableKey;
    const logIn = { key, body: { email: 'none@example.com', password: 'wrong password' } };
    expect(await statusOf('/api/userAuth/login', logIn, 'POST')).toBe(403);
    await change('PATCH', '', { authEnabled: true });
    expect(await statusOf('/api/userAuth/login', logIn, 'POST')).toBe(401);
    await change('PATCH', '', { allowedDomains: ['https://app.example.com'] });
    expect(await statusOf('/api/data/notes', { key })).toBe(403);
    await change('PATCH', '', { allowedDomains: ['*'] });
    expect(await statusOf('/api/data/notes', { key })).toBe(200);
  });

  test('200 when a signing key was rotated, and with a new webhook secret', async () => {
    const keyIds = async () => {
      const { body } = await project.api<{ keys: { kid: string }[] }>('GET', `/api/userAuth/jwks/${project.id}`);
      return body.keys.map(({ kid }) => kid);
    };
    const before = await keyIds();
    const { kid } = await change('POST', '/signing-keys/rotate');
    expect(await keyIds()).toEqual(expect.arrayContaining([...before, kid]));
    const secret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
    const path = `/api/mail/webhook/${project.id}`;
    const tell = async () => (await deliver(eventOf('email.opened', {}), { path, secret })).status;
    expect(await tell()).toBe(400);
    await change('PATCH', '', { providerWebhookSecret: secret });
    expect(await tell()).toBe(200);
  });

  test('401 with the keys of a deleted project, 404 for its signing keys', async () => {
    expect(await statusOf('/api/data/notes')).toBe(200);
    expect(await statusOf(`/api/userAuth/jwks/${project.id}`)).toBe(200);
    await change('DELETE', '');
    expect(await statusOf('/api/data/notes')).toBe(401);
    expect(await statusOf(`/api/userAuth/jwks/${project.id}`)).toBe(404);
  });
});
