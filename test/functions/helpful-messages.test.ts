import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call, type RequestOptions } from '../support/clients/client.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

const own = 'https://app.example.com';
let project: TestProject;

/** A project whose settings are stored before its keys are used, so that no process caches others. */
const projectWith = async (
  settings: object,
  collections: readonly { readonly name: string }[],
): Promise<TestProject> => {
  const made = await newProject(collections);
  const answer = await made.developer.dashboard('PATCH', `/api/projects/${made.id}`, settings);
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return made;
};

beforeAll(async () => {
  project = await projectWith({ allowedDomains: [own] }, [{ name: 'notes' }]);
});

const send = (method: string, path: string, options: RequestOptions) =>
  call<{ code: string; message: string }>(inject('stack').baseUrl, method, path, options);

const refusal = (status: number, code: string, message: RegExp) => ({
  status,
  body: { code, message: expect.stringMatching(message) },
});

describe('an error says what to do:', () => {
  test('404 names the route that creates a collection when the collection is missing', async () => {
    const answer = await send('GET', '/api/data/Notes', { key: project.secretKey });
    expect(answer).toMatchObject(
      refusal(404, 'COLLECTION_NOT_FOUND', /"Notes".*POST \/api\/projects\/:projectId\/coll/),
    );
  });

  test.each([
    ['of another page', { origin: 'https://evil.example' }, /^https:\/\/evil\.example is not .*allowedDomains/],
    ['of no page at all', {}, /^This request has no Origin.*secret key/],
    ['with a long origin', { origin: `https://${'a'.repeat(300)}.example` }, /^https:\/\/a{92} is not/],
  ] as const)('403 for a request %s', async (_what, headers, message) => {
    const answer = await send('GET', '/api/data/notes', { key: project.publishableKey, headers });
    expect(answer).toMatchObject(refusal(403, 'ORIGIN_NOT_ALLOWED', message));
  });

  test('403 asks for the publishable key when a page sends the secret key', async () => {
    const headers = { origin: 'https://evil.example' };
    const answer = await send('GET', '/api/data/notes', { key: project.secretKey, headers });
    const message = /^https:\/\/evil\.example is not .*secret key.*into a page.*publishable key.*rotate/;
    expect(answer).toMatchObject(refusal(403, 'ORIGIN_NOT_ALLOWED', message));
  });

  test('403 names the setting, in the same words for one document and many, when row security is off', async () => {
    const options = { key: project.publishableKey, headers: { origin: own } };
    const message = /row-level security.*off in "notes".*secret key.*rls\.enabled.*sign a user in.*token/;
    for (const [path, body] of [
      ['/api/data/notes', { text: 'a' }],
      ['/api/data/notes/bulk', [{ text: 'a' }]],
    ] as const) {
      expect(await send('POST', path, { ...options, body })).toMatchObject(refusal(403, 'RLS_REQUIRED', message));
    }
  });

  test('403 names the cause when accounts are off or the collection users is missing', async () => {
    const body = { email: 'ada@example.com', password: 'correct horse' };
    const options = { key: project.publishableKey, headers: { origin: own }, body };
    const logIn = () => send('POST', '/api/userAuth/login', options);
    expect(await logIn()).toMatchObject(refusal(403, 'AUTH_DISABLED', /not enabled.*authEnabled/));
    const users = await projectWith({ allowedDomains: [own], authEnabled: true }, []);
    const without = await send('POST', '/api/userAuth/login', { ...options, key: users.publishableKey });
    expect(without).toMatchObject(refusal(403, 'AUTH_DISABLED', /need the collection users/));
  });

  test('404 asks for the path when a file is named by its URL', async () => {
    const body = { path: 'https://files.example.com/x/y.txt' };
    const answer = await send('DELETE', '/api/storage/file', { key: project.secretKey, body });
    expect(answer).toMatchObject(refusal(404, 'FILE_NOT_FOUND', /Send the path .*not the URL/));
  });

  test('404 mentions membership when the project belongs to another developer', async () => {
    const path = `/api/projects/${'0'.repeat(24)}`;
    expect(await project.developer.dashboard('GET', path)).toMatchObject(
      refusal(404, 'PROJECT_NOT_FOUND', /you are not a member/),
    );
  });
});
