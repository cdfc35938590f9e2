import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type Answer, call, type RequestOptions } from '../support/clients/client.ts';
import { eventually } from '../support/clients/eventually.ts';
import { publicCases, type RouteCase, sampleBodies, sampleParameters } from '../support/data/route-cases.ts';
import { read, request, uploadFile } from '../support/fixtures/files.ts';
import { newProviderKey } from '../support/fixtures/mail-project.ts';
import { newUsersProject, type SignIn, type UsersProject } from '../support/fixtures/users.ts';

const keyed = publicCases.filter(({ route }) => route.access !== 'public');
const forUsers = keyed.filter(({ route }) => route.access === 'publishableKey' || route.access === 'user');

const send = (
  { method, id, pathWith }: RouteCase,
  parameters: Readonly<Record<string, string>>,
  options: RequestOptions,
): Promise<Answer> => {
  const body = method === 'GET' ? {} : { body: sampleBodies[id] ?? {} };
  return call(inject('stack').baseUrl, method, pathWith(parameters), { ...body, ...options });
};

const newKeys = async ({ id, developer }: UsersProject): Promise<void> => {
  for (const type of ['secret', 'publishable']) {
    const { status } = await developer.dashboard('POST', `/api/projects/${id}/keys/rotate`, { type });
    expect(status).toBe(201);
  }
};

describe('every route that requires a key', () => {
  let revoked: readonly string[];

  beforeAll(async () => {
    const project = await newUsersProject();
    await project.addCollection({ name: 'notes', rls: { enabled: true } });
    revoked = [project.secretKey, project.publishableKey];
    const statusOf = async (key: string) => (await project.api('GET', '/api/data/notes', { key })).status;
    // The functions have cached these keys, so the cache must expire too.
    for (const key of revoked) expect(await statusOf(key)).toBe(200);
    await newKeys(project);
    for (const key of revoked) await eventually(async () => expect(await statusOf(key)).toBe(401));
  });

  test.each(keyed)('401 API_KEY_INVALID with a revoked key: $method $id', async (row) => {
    for (const key of revoked) {
      const answer = await send(row, sampleParameters, { key });
      expect(answer).toMatchObject({ status: 401, body: { success: false, code: 'API_KEY_INVALID' } });
    }
  });
});

test.each(forUsers)('403 PUBLISHABLE_KEY_REQUIRED with the secret key: $method $id', async (row) => {
  secretKey ??= (await newUsersProject()).secretKey;
  expect(await send(row, sampleParameters, { key: secretKey })).toMatchObject({
    status: 403,
    body: { success: false, code: 'PUBLISHABLE_KEY_REQUIRED' },
  });
});
let secretKey: string | undefined;

const marker = `only-of-mine-${randomUUID()}`;

/** The resources of a project, under the names of the route parameters. */
interface Things {
  readonly documentId: string;
  readonly broadcastId: string;
  readonly filePath: string;
  readonly fileUrl: string | null;
  readonly pendingPath: string;
  readonly user: SignIn & { readonly email: string; readonly password: string; readonly refreshToken: string };
  readonly sessionId: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const made = async (answer: Promise<Answer<{ data?: { id?: string }; _id?: string }>>): Promise<string> => {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(JSON.stringify(body));
  return body._id ?? body.data?.id ?? '';
};

const withMail = () =>
  newUsersProject({
    settings: {
      providerApiKey: newProviderKey(),
      signIn: { emailCode: true, anonymous: true, passkey: true, secondFactor: 'optional' },
    },
  });

const fill = async (project: UsersProject): Promise<Things> => {
  const post = (path: string, body: unknown) => made(project.api('POST', path, { body }));
  await project.addCollection({ name: 'notes' });
  const documentId = await post('/api/data/notes', { text: marker });
  const file = await uploadFile(project, marker);
  const audienceId = await post('/api/mail/audiences', { name: marker });
  const contactId = await post(`/api/mail/audiences/${audienceId}/contacts`, { email: 'ann@example.com' });
  const broadcast = { audienceId, subject: marker, html: '<p>a</p>', from: 'a@example.com' };
  const broadcastId = await post('/api/mail/broadcasts', broadcast);
  const mailId = await post('/api/mail/send', { to: 'ann@example.com', subject: marker, text: marker });
  const user = await project.newUser({ username: `ann${documentId}`, name: marker });
  const sessions = await project.auth<{ data: { _id: string }[] }>('GET', 'sessions', {
    token: user.accessToken,
  });
  const providerId = await eventually(async () => {
    const { body } = await project.api<{ data: { _id: string; providerEmailId: string | null }[] }>(
      'GET',
      '/api/mail/logs',
    );
    const found = body.data.find(({ _id }) => _id === mailId)?.providerEmailId;
    if (!found) throw new Error('The mail has not been sent yet');
    return found;
  });
  return {
    documentId,
    broadcastId,
    filePath: file.path,
    fileUrl: file.url,
    pendingPath: (await request(project, 6)).body.filePath,
    user,
    sessionId: sessions.body.data[0]?._id ?? '',
    parameters: { collectionName: 'notes', audienceId, contactId, providerId, username: `ann${documentId}` },
  };
};

describe('with the key of another project no route reaches resources of this one', () => {
  let mine: UsersProject;
  let other: UsersProject;
  let things: Things;

  beforeAll(async () => {
    [mine, other] = await Promise.all([withMail(), withMail()]);
    await other.addCollection({ name: 'notes' });
    things = await fill(mine);
  });

  /** Returns the value for `{id}` in a route’s path. */
  const idFor = ({ route: { path } }: RouteCase): string =>
    path.includes('/broadcasts/')
      ? things.broadcastId
      : path.includes('/sessions/')
        ? things.sessionId
        : things.documentId;

  const bodyFor = (id: string): RequestOptions => {
    const { user, filePath, pendingPath } = things;
    const bodies: Readonly<Record<string, unknown>> = {
      'sign-in': { email: user.email, password: user.password },
      'confirm-upload': { filePath: pendingPath, size: 6 },
      'delete-file': { path: filePath },
    };
    return bodies[id] === undefined ? {} : { body: bodies[id] };
  };

  /** True if a route names more of this project than a collection name, which the other project also has. */
  const names = ({ id, parameters, route }: RouteCase): boolean =>
    route.access === 'user' ||
    ['sign-in', 'refresh-token', 'confirm-upload', 'delete-file'].includes(id) ||
    parameters.some((name) => name !== 'collectionName' && name !== 'provider');

  test.each(keyed)('$method $id', async (row) => {
    const { access } = row.route;
    const answer = await send(
      row,
      { ...sampleParameters, ...things.parameters, id: idFor(row) },
      {
        key: access === 'secretKey' || access === 'anyKey' ? other.secretKey : other.publishableKey,
        headers: { 'x-refresh-token': things.user.refreshToken },
        ...(access === 'user' && { token: things.user.accessToken }),
        ...bodyFor(row.id),
      },
    );
    expect(answer.status).toBeLessThan(500);
    expect(JSON.stringify(answer.body)).not.toContain(marker);
    if (names(row)) expect([400, 401, 404]).toContain(answer.status);
  });

  test('leaves all resources unchanged', async () => {
    const { parameters, user, filePath, fileUrl, documentId, broadcastId } = things;
    const get = async (path: string) => (await mine.api('GET', path)).body;
    expect(await get(`/api/data/notes/${documentId}`)).toMatchObject({ text: marker, isDeleted: false });
    expect(await read(fileUrl)).toEqual({ status: 200, text: marker });
    expect(filePath).toContain(mine.id);
    expect(JSON.stringify(await get('/api/mail/audiences'))).toContain(parameters.audienceId);
    const contacts = await get(`/api/mail/audiences/${parameters.audienceId}/contacts`);
    expect(JSON.stringify(contacts)).toContain(parameters.contactId);
    expect(JSON.stringify(await get(`/api/mail/broadcasts/${broadcastId}`))).toContain(marker);
    expect((await mine.refresh(user.refreshToken)).status).toBe(200);
    const me = await mine.auth('GET', 'me', { token: user.accessToken });
    expect(me).toMatchObject({ status: 200 });
    expect(JSON.stringify(me.body)).toContain(marker);
  });
});
