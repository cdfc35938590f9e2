import { randomBytes } from 'node:crypto';
import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { handler as getProject } from '../../../functions/dashboard/projects/get-project.ts';
import { scopes, scopesOfRole } from '../../../shared/accounts/developers/scopes.ts';
import { type TokenRecord, verifyPersonalToken } from '../../../shared/accounts/developers/tokens.ts';
import { clock } from '../../../shared/core/clock.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { call, inParallel, tally } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { idOf, newMember, newPersonalToken } from '../../support/fixtures/members.ts';
import { type Developer, newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';

listenToCommands();

let project: TestProject;
let developer: Developer;

beforeAll(async () => {
  project = await newProject([{ name: 'notes' }]);
  developer = project.developer;
});

afterEach(() => {
  vi.restoreAllMocks();
});

const newAddress = (): string => `invited-${randomBytes(8).toString('hex')}@example.com`;

const later = (ms: number): void => {
  vi.spyOn(clock, 'now').mockImplementation(() => Date.now() + ms);
};

const create = (body: object, by = developer) =>
  by.dashboard<{ data: { _id: string; token: string; expiresAt: string; createdAt: string } }>(
    'POST',
    '/api/auth/tokens',
    { name: 'script', scopes: ['projects:read'], expiresInDays: 30, ...body },
  );

const as = (token: string, method: string, path: string, body?: unknown) =>
  call<{ data: { items: { _id: string }[]; total: number }; code?: string; message: string }>(
    inject('stack').dashboardUrl,
    method,
    path,
    { token, ...(body === undefined ? {} : { body }) },
  );

const storedToken = (id: string) =>
  onControl((db) => db.collection<TokenRecord>('personalTokens').findOne({ _id: new ObjectId(id) }));

describe('creating a token', () => {
  test('201 with the token, which is shown only this time and stored as a hash', async () => {
    const answer = await create({ name: ' deploy ', scopes: ['projects:read', 'projects:read', 'mail:write'] });
    expect(answer.status).toBe(201);
    const { token, ...shown } = answer.body.data;
    expect(token).toMatch(/^bslt_pat_[\w-]{43}$/);
    expect(shown).toEqual({
      _id: expect.stringMatching(/^[0-9a-f]{24}$/),
      name: 'deploy',
      scopes: ['projects:read', 'mail:write'],
      projectIds: null,
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
      lastUsedAt: null,
    });
    expect(Date.parse(shown.expiresAt) - Date.parse(shown.createdAt)).toBe(30 * 86_400_000);
    const list = await developer.dashboard<{ data: { items: unknown[] } }>('GET', '/api/auth/tokens?limit=1');
    expect(list).toMatchObject({ status: 200, body: { data: { items: [shown], page: 1, limit: 1 } } });
    expect(JSON.stringify([list.body, await storedToken(shown._id)])).not.toContain(token.slice(9));
  });

  test.each<[string, object]>([
    ['no scopes', { scopes: [] }],
    ['an unknown scope', { scopes: ['projects:admin'] }],
    ['writing to the account', { scopes: ['account:write'] }],
    ['a prototype as scope', { scopes: ['__proto__'] }],
    ['no days', { expiresInDays: 0 }],
    ['more than a year', { expiresInDays: 366 }],
    ['half a day', { expiresInDays: 0.5 }],
    ['text as days', { expiresInDays: '1' }],
    ['no name', { name: ' ' }],
    ['a line break in the name', { name: 'a\nb' }],
    ['no projects', { projectIds: [] }],
    ['a malformed project', { projectIds: ['x'] }],
    ['an unknown field', { developerId: 'f'.repeat(24) }],
  ])('400 for %s', async (_name, body) => {
    expect(await create(body)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });

  test('403 LIMIT_REACHED: exactly 50 of 60 concurrent requests succeed; a revoked or expired token makes room', async () => {
    const other = await newDeveloper();
    const answers = await inParallel(60, () => create({}, other));
    expect(tally(answers)).toEqual({ 201: 50, 403: 10 });
    expect(answers.find(({ status }) => status === 403)?.body).toMatchObject({ code: 'LIMIT_REACHED' });
    const [first, second] = answers.filter(({ status }) => status === 201).map(({ body }) => body.data._id);
    expect((await other.dashboard('DELETE', `/api/auth/tokens/${first}`)).status).toBe(200);
    expect((await create({}, other)).status).toBe(201);
    expect((await create({}, other)).status).toBe(403);
    await onControl((db) =>
      db
        .collection<TokenRecord>('personalTokens')
        .updateOne({ _id: new ObjectId(second) }, { $set: { expiresAt: new Date() } }),
    );
    expect((await create({}, other)).status).toBe(201);
  });

  test('401 TOKEN_INVALID when the session has ended meanwhile', async () => {
    const other = await newDeveloper();
    const sessions = await other.dashboard<{ data: { items: { _id: string }[] } }>('GET', '/api/auth/sessions');
    await other.dashboard('DELETE', `/api/auth/sessions/${sessions.body.data.items[0]?._id}`);
    expect(await create({}, other)).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
  });
});

describe('a token', () => {
  test('200 with its scope, 403 SCOPE_REQUIRED with the missing scope', async () => {
    const { token } = await newPersonalToken(developer, ['documents:read', 'collections:write']);
    const collections = `/api/projects/${project.id}/collections`;
    expect((await as(token, 'POST', collections, { name: 'made', schema: null })).status).toBe(201);
    expect(await as(token, 'GET', collections)).toMatchObject({
      status: 403,
      body: {
        code: 'SCOPE_REQUIRED',
        message:
          'This personal access token lacks the scope collections:read, which is needed for this. Sign in to the dashboard, or create a token with more scopes.',
      },
    });
    expect((await as(token, 'GET', `${collections}/notes/documents`)).status).toBe(200);
    expect(await as(token, 'POST', `${collections}/notes/documents`, { a: 1 })).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('documents:write') },
    });
  });

  test('403 SCOPE_REQUIRED for account routes with any scopes', async () => {
    const { token, _id } = await newPersonalToken(developer, scopes);
    const acts: [string, string, unknown?][] = [
      ['GET', '/api/auth/tokens'],
      ['POST', '/api/auth/tokens', { name: 'more', scopes: ['projects:read'] }],
      ['DELETE', `/api/auth/tokens/${_id}`],
      ['PUT', '/api/auth/change-password', { currentPassword: developer.password, newPassword: 'another password' }],
      ['DELETE', '/api/auth/account', { password: developer.password }],
      ['GET', '/api/auth/sessions'],
      ['POST', '/api/invitations/accept', { token: 'A'.repeat(43) }],
    ];
    for (const [method, path, body] of acts) {
      expect(await as(token, method, path, body), path).toMatchObject({
        status: 403,
        body: { code: 'SCOPE_REQUIRED' },
      });
    }
    expect(await as(token, 'GET', '/api/auth/me')).toMatchObject({
      status: 200,
      body: { data: { email: developer.email } },
    });
  });

  test('404 for projects outside its restriction, and 403 for creating one', async () => {
    const other = await newProject([], developer);
    const { token } = await newPersonalToken(developer, ['projects:read', 'projects:write', 'keys:write'], {
      projectIds: [project.id],
    });
    expect((await as(token, 'GET', `/api/projects/${project.id}`)).status).toBe(200);
    expect(await as(token, 'GET', `/api/projects/${other.id}`)).toMatchObject({
      status: 404,
      body: { code: 'PROJECT_NOT_FOUND' },
    });
    const list = await as(token, 'GET', '/api/projects');
    expect(list.body.data.items.map(({ _id }) => _id)).toEqual([project.id]);
    expect(list.body.data.total).toBe(1);
    expect(await as(token, 'POST', '/api/projects', { name: 'new' })).toMatchObject({
      status: 403,
      body: { code: 'SCOPE_REQUIRED' },
    });
  });

  test('403 SCOPE_REQUIRED for an invitation or role beyond its own scopes; 201 and 200 with all of them', async () => {
    const owned = await newProject();
    const path = `/api/projects/${owned.id}/members`;
    const member = await newMember(owned, 'viewer');
    const promote = { role: 'admin' };
    const id = await idOf(member);
    const ask = async (scopes: readonly string[], role: string) => {
      const { token } = await newPersonalToken(owned.developer, scopes);
      return [
        await as(token, 'POST', `${path}/invitations`, { email: newAddress(), role }),
        await as(token, 'PATCH', `${path}/${id}`, { role }),
      ];
    };
    const refused = { status: 403, body: { code: 'SCOPE_REQUIRED' } };
    expect(await ask(['members:write'], 'admin')).toMatchObject([refused, refused]);
    const [invited, lowered] = await ask(['members:write'], 'viewer');
    expect(invited).toMatchObject(refused);
    expect(invited?.body.message).toContain('documents:read, users:read');
    expect(lowered?.status).toBe(200);
    for (const missing of scopesOfRole('admin').filter((scope) => scope !== 'members:write')) {
      const others = scopes.filter((scope) => scope !== missing);
      const answers = await ask(others, promote.role);
      expect(answers).toMatchObject([refused, refused]);
      expect(answers[0]?.body.message).toContain(missing);
    }
    expect(tally(await ask([...scopesOfRole('viewer'), 'members:write'], 'viewer'))).toEqual({ 200: 1, 201: 1 });
    expect(tally(await ask(scopes, 'admin'))).toEqual({ 200: 1, 201: 1 });
  });

  test('403 SCOPE_REQUIRED for a webhook with events or extra fields beyond its read scopes; 200 to disable it', async () => {
    const owned = await newProject([{ name: 'notes', changes: true }]);
    const path = `/api/projects/${owned.id}/webhooks`;
    const url = 'https://93.184.215.14/hook';
    const writer = await newPersonalToken(owned.developer, ['webhooks:write']);
    const refused = { status: 403, body: { code: 'SCOPE_REQUIRED' } };
    const kinds = [
      ['document.created', 'documents:read'],
      ['user.created', 'users:read'],
      ['file.confirmed', 'storage:read'],
    ] as const;
    for (const [event, scope] of kinds) {
      const answer = await as(writer.token, 'POST', path, { url, events: [event] });
      expect(answer).toMatchObject(refused);
      expect(answer.body.message).toContain(scope);
      const reader = await newPersonalToken(owned.developer, ['webhooks:write', scope]);
      const made = await call<{ data: { _id: string } }>(inject('stack').dashboardUrl, 'POST', path, {
        token: reader.token,
        body: { url, events: [event] },
      });
      expect(made.status).toBe(201);
      const change = (body: object, token = writer.token) => as(token, 'PATCH', `${path}/${made.body.data._id}`, body);
      for (const body of [{ url }, { events: [event] }, { enabled: true }, { enabled: false, url }]) {
        expect(await change(body)).toMatchObject(refused);
      }
      const other = event === 'user.created' ? 'file.deleted' : 'user.deleted';
      expect(await change({ events: [event, other] }, reader.token)).toMatchObject(refused);
      expect((await change({ enabled: false })).status).toBe(200);
      expect((await change({ enabled: true }, reader.token)).status).toBe(200);
    }
  });

  test('401 immediately after it is revoked; 404 for a second revocation, or one by another developer', async () => {
    const stranger = await newDeveloper();
    const { token, _id } = await newPersonalToken(developer, ['projects:read']);
    const path = `/api/auth/tokens/${_id}`;
    const notFound = { status: 404, body: { code: 'TOKEN_NOT_FOUND' } };
    expect((await as(token, 'GET', '/api/projects')).status).toBe(200);
    expect(await stranger.dashboard('DELETE', path)).toMatchObject(notFound);
    expect((await as(token, 'GET', '/api/projects')).status).toBe(200);
    expect(await developer.dashboard('DELETE', path)).toMatchObject({ status: 200, body: { data: { _id } } });
    expect(await as(token, 'GET', '/api/projects')).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
    expect(await developer.dashboard('DELETE', path)).toMatchObject(notFound);
    expect(await developer.dashboard('DELETE', '/api/auth/tokens/$ne')).toMatchObject(notFound);
  });

  test('401 TOKEN_INVALID when it has expired, even if it is still stored', async () => {
    const { token } = await newPersonalToken(developer, ['projects:read'], { expiresInDays: 1 });
    const read = () => invoke(getProject, { token, params: { projectId: project.id } });
    later(86_400_000 - 60_000);
    expect((await read()).status).toBe(200);
    later(86_400_000 + 1000);
    expect(await read()).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
  });

  test.each(['bslt_pat_', `bslt_pat_${'A'.repeat(43)}`, `bslt_pat_${'A'.repeat(4000)}`, 'bslt_pat_$ne'])(
    '401 TOKEN_INVALID for %s',
    async (token) => {
      expect(await as(token, 'GET', '/api/projects')).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
    },
  );

  test('its use is recorded at most once an hour; other uses cost one lookup', async () => {
    const fresh = await newProject();
    const { token, _id } = await newPersonalToken(fresh.developer, ['projects:read']);
    const use = () => commandsOf(() => invoke(getProject, { token, params: { projectId: fresh.id } }));
    // A stopped clock keeps cached lookups from being repeated in between.
    vi.spyOn(clock, 'now').mockReturnValue(Date.now());
    expect(await use()).toEqual(['mongodb find', 'mongodb find', 'mongodb find', 'mongodb update']);
    const first = (await storedToken(_id))?.lastUsedAt;
    expect(first).toBeInstanceOf(Date);
    expect(await use()).toEqual(['mongodb find', 'mongodb find']);
    later(3_600_001);
    expect(await use()).toEqual(['mongodb find', 'mongodb find', 'mongodb find', 'mongodb update']);
    const second = (await storedToken(_id))?.lastUsedAt;
    expect(Number(second) - Number(first)).toBeGreaterThan(3_600_000);
  });

  test('is found by an index', async () => {
    const plan = await onControl((db) => db.collection('personalTokens').find({ hash: 'x' }).explain('queryPlanner'));
    expect(JSON.stringify(plan)).toContain('"indexName":"hash"');
    await expect(verifyPersonalToken('bslt_pat_x')).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });
});
