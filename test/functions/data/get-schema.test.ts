import { beforeAll, describe, expect, test } from 'vitest';
import { everyType, notes, todos } from '../../support/fixtures/collections.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

let project: TestProject;

const users = {
  name: 'users',
  schema: [
    { key: 'email', type: 'String', required: true, unique: true },
    { key: 'password', type: 'String', required: true },
  ],
};

beforeAll(async () => {
  project = await newProject([everyType, notes, todos, users]);
});

interface Schema {
  readonly data: {
    readonly collection: { readonly name: string; readonly model: readonly { readonly key: string }[] };
  };
}

describe('reading a schema', () => {
  test('200 for any key with the fields in order and their rules', async () => {
    for (const key of [project.secretKey, project.publishableKey]) {
      const answer = await project.api<Schema>('GET', '/api/schemas/posts', { key });
      expect(answer.status).toBe(200);
      const { name, model } = answer.body.data.collection;
      expect(name).toBe('posts');
      expect(model.map((field) => field.key)).toEqual(everyType.schema?.map((field) => field.key));
      expect(model[0]).toEqual({ key: 'title', type: 'String', required: true, unique: false });
      expect(model).toContainEqual({ key: 'views', type: 'Number', required: false, unique: false, default: 0 });
      expect(model).toContainEqual({ key: 'author', type: 'Ref', required: false, unique: false, ref: 'people' });
      expect(model).toContainEqual(expect.objectContaining({ key: 'tags', items: { type: 'String' } }));
    }
  });

  test('200 with the row security', async () => {
    expect((await project.api('GET', '/api/schemas/todos')).body).toMatchObject({
      success: true,
      data: { collection: { name: 'todos', rls: { enabled: true, mode: 'private', ownerField: 'userId' } } },
    });
  });

  test('200 with an empty model for a collection without a schema', async () => {
    expect((await project.api('GET', '/api/schemas/notes')).body).toEqual({
      success: true,
      data: {
        collection: {
          name: 'notes',
          model: [],
          rls: { enabled: false, mode: 'public-read', ownerField: 'userId', trash: 'everyone', requires: 'none' },
        },
      },
    });
  });

  test('200 for users with the secret key, 403 with the publishable one', async () => {
    expect((await project.api('GET', '/api/schemas/users')).status).toBe(200);
    expect(await project.api('GET', '/api/schemas/users', { key: project.publishableKey })).toMatchObject({
      status: 403,
      body: { code: 'SECRET_KEY_REQUIRED' },
    });
  });

  test('404 for a collection that is not registered', async () => {
    expect(await project.api('GET', '/api/schemas/nothing')).toMatchObject({
      status: 404,
      body: { code: 'COLLECTION_NOT_FOUND' },
    });
  });
});
