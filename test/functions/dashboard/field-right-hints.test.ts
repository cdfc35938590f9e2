import { expect, test } from 'vitest';
import { newUsersProject, users } from '../../support/fixtures/users.ts';

test('saving users returns hints while fields that suggest a right or a secret have no rights', async () => {
  const project = await newUsersProject();
  const path = `/api/projects/${project.id}/collections/users`;
  const save = (rights: Readonly<Record<string, object>>) =>
    project.developer.dashboard('PUT', path, {
      schema: (users.schema ?? []).map((field) => ({ ...field, ...rights[String(field.key)] })),
    });
  expect(await save({})).toMatchObject({
    status: 200,
    body: { hints: [expect.stringContaining('"role"'), expect.stringContaining('"address"')] },
  });
  const saved = await save({ role: { write: 'server' }, address: { read: 'owner' } });
  expect(saved).toMatchObject({ status: 200 });
  expect(saved.body).not.toHaveProperty('hints');
});

test('each kind of key has separate types with a separate ETag', async () => {
  const project = await newUsersProject();
  await project.addCollection({
    name: 'things',
    schema: [
      { key: 'open', type: 'String' },
      { key: 'hidden', type: 'String', read: 'server', write: 'server' },
      { key: 'fixed', type: 'String', write: 'server' },
    ],
  });
  const typesOf = (key: string) => project.api<string>('GET', '/api/types.ts', { key });
  const [publishable, secret] = [await typesOf(project.publishableKey), await typesOf(project.secretKey)];
  expect(publishable.headers.get('etag')).not.toBe(secret.headers.get('etag'));
  expect(String(publishable.body)).not.toContain('hidden');
  expect(String(secret.body)).toContain('hidden');
  const openapi = async (key: string) => JSON.stringify((await project.api('GET', '/api/openapi.json', { key })).body);
  expect((await openapi(project.publishableKey)).includes('"hidden"')).toBe(false);
  expect((await openapi(project.secretKey)).includes('"hidden"')).toBe(true);
});
