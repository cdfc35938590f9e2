import { beforeAll, describe, expect, test } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as deleteFile } from '../../../functions/storage/delete-file.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newUsersProject, type SignIn, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();
process.env.RATE_LIMIT = '1000000';
process.env.RATE_BLOCK = '1';

type User = SignIn & { readonly refreshToken: string };

let strict: UsersProject;
let lenient: UsersProject;

beforeAll(async () => {
  const uploads = { users: true };
  [strict, lenient] = await Promise.all([
    newUsersProject({ settings: { uploads, strictSessions: true } }),
    newUsersProject({ settings: { uploads } }),
  ]);
  for (const project of [strict, lenient]) {
    await project.addCollection({ name: 'notes', rls: { enabled: true } });
    await project.addCollection({
      name: 'ruled',
      rls: { enabled: true, mode: 'rules', rules: { read: true, create: true } },
    });
  }
});

const as = ({ publishableKey: key }: UsersProject, { accessToken: token }: Pick<SignIn, 'accessToken'>) => ({
  key,
  token,
});

const make = async (project: UsersProject, user: User): Promise<string> => {
  const made = await project.api<{ _id: string }>('POST', '/api/data/notes', { ...as(project, user), body: {} });
  expect(made.status).toBe(201);
  return made.body._id;
};

/** Every write of a user's documents, files and profile. */
const writesOf = (id: string) =>
  [
    ['POST', '/api/data/notes', { a: 1 }],
    ['POST', '/api/data/notes/bulk', [{ a: 1 }]],
    ['POST', '/api/batch', { writes: [{ insert: 'notes', document: {} }] }],
    ['POST', '/api/data/ruled', { a: 1 }],
    ['PUT', `/api/data/notes/${id}`, { a: 2 }],
    ['PATCH', `/api/data/notes/${id}`, { a: 2 }],
    ['PATCH', '/api/data/notes', { where: { a: 2 }, update: { a: 3 } }],
    ['POST', '/api/data/notes/delete', { where: { a: 9 } }],
    ['DELETE', `/api/data/notes/${id}`, undefined],
    ['PATCH', `/api/data/notes/${id}/recover`, undefined],
    ['POST', '/api/storage/upload-request', { filename: 'a.txt', contentType: 'text/plain', size: 5 }],
    ['POST', '/api/storage/upload-parts', { filePath: 'a' }],
    ['POST', '/api/storage/upload-confirm', { filePath: 'a', size: 5 }],
    ['DELETE', '/api/storage/file', { path: 'a' }],
    ['PUT', '/api/userAuth/update-profile', { name: 'a' }],
  ] as const;

const ends: Readonly<Record<string, (project: UsersProject, user: User) => Promise<unknown>>> = {
  'is disabled': ({ id, developer }, { userId }) =>
    developer.dashboard('PATCH', `/api/projects/${id}/users/${userId}`, { disabled: true }),
  'has signed out': ({ auth }, { refreshToken }) =>
    auth('POST', 'logout', { headers: { 'x-refresh-token': refreshToken } }),
  'is deleted': ({ id, developer }, { userId }) => developer.dashboard('DELETE', `/api/projects/${id}/users/${userId}`),
};

describe('a project with strict sessions', () => {
  test.each(Object.keys(ends))('401 TOKEN_INVALID for every write when the user %s, and not before', async (way) => {
    const user = await strict.newUser();
    const id = await make(strict, user);
    const write = ([method, path, body]: ReturnType<typeof writesOf>[number]) =>
      strict.api<{ code?: string }>(method, path, { ...as(strict, user), ...(body === undefined ? {} : { body }) });
    for (const each of writesOf(id)) expect((await write(each)).body.code, each[1]).not.toBe('TOKEN_INVALID');
    const ended = (await ends[way]?.(strict, user)) as { status: number };
    expect(ended.status).toBe(200);
    for (const each of writesOf(id)) {
      expect(await write(each), `${each[0]} ${each[1]}`).toMatchObject({
        status: 401,
        body: { code: 'TOKEN_INVALID' },
      });
    }
    expect((await strict.api('GET', '/api/data/notes', as(strict, user))).status).toBe(200);
    expect((await strict.api('POST', '/api/data/notes', { body: {}, token: user.accessToken })).status).toBe(201);
  });

  test('401 TOKEN_INVALID with a valid token of no session', async () => {
    const { userId } = await strict.newUser();
    const token = await strict.tokenFor(userId);
    const write = { key: strict.publishableKey, token, body: {} };
    expect(await strict.api('POST', '/api/data/notes', write)).toMatchObject({
      status: 401,
      body: { code: 'TOKEN_INVALID' },
    });
  });

  test('another session of the user keeps writing', async () => {
    const { email, password, refreshToken } = await strict.newUser();
    const other = (await strict.logIn({ email, password })).body;
    await strict.auth('POST', 'logout', { headers: { 'x-refresh-token': refreshToken } });
    const answer = await strict.api('POST', '/api/data/notes', { ...as(strict, other), body: {} });
    expect(answer.status).toBe(201);
  });
});

test('a project without strict sessions lets an ended session write until its token expires', async () => {
  const user = await lenient.newUser();
  await ends['has signed out']?.(lenient, user);
  await make(lenient, user);
});

test('a strict write costs one look-up more, and a read none', async () => {
  const costs = async (project: UsersProject) => {
    const user = await project.newUser();
    const options = { ...as(project, user), params: { collectionName: 'notes' } };
    const create = () => invoke(createDocument, { ...options, method: 'POST', body: {} });
    const remove = () => invoke(deleteFile, { ...as(project, user), body: { path: 'a' } });
    const list = () => invoke(listDocuments, options);
    for (const act of [create, remove, list]) await act();
    return [await commandsOf(create), await commandsOf(remove), await commandsOf(list)];
  };
  const [written = [], removed = [], listed] = await costs(lenient);
  const get = 'dynamodb GetItemCommand';
  expect(await costs(strict)).toEqual([[get, ...written].sort(), [get, ...removed].sort(), listed]);
});
