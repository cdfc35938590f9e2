import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { AppError } from '../../../shared/core/errors.ts';
import { type AuditRecord, audited, entriesOf } from '../../../shared/members/audit.ts';
import { onControl } from '../../../shared/persistence/mongo.ts';
import { call } from '../../support/clients/client.ts';
import { idOf, newMember, newPersonalToken } from '../../support/fixtures/members.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

interface Entry {
  readonly _id: string;
  readonly at: string;
  readonly action: string;
  readonly email: string | null;
  readonly tokenId: string | null;
  readonly fields: readonly string[];
  readonly values: readonly unknown[];
  readonly outcome: string;
}

interface Trail {
  readonly data: { readonly items: readonly Entry[]; readonly total: number };
}

let project: TestProject;

beforeAll(async () => {
  project = await newProject();
});

afterEach(() => {
  vi.restoreAllMocks();
});

const trailOf = async (of: TestProject, query = ''): Promise<Trail['data']> =>
  (await of.developer.dashboard<Trail>('GET', `/api/projects/${of.id}/audit${query}`)).body.data;

const entries = (of: TestProject) =>
  onControl((db) =>
    db
      .collection<AuditRecord>('auditEntries')
      .find({ projectId: new ObjectId(of.id) })
      .toArray(),
  );

describe('a change of settings', () => {
  test('is logged with actor, time, action, and values before and after unless they are secret', async () => {
    const of = await newProject();
    const changes = {
      name: 'renamed',
      siteUrl: 'https://app.example.com',
      socialProviders: { github: { enabled: true, clientId: 'an-id', clientSecret: 'the-client-secret' } },
      providerApiKey: 're_the_provider_key',
    };
    expect((await of.developer.dashboard('PATCH', `/api/projects/${of.id}`, changes)).status).toBe(200);
    const { items, total } = await trailOf(of);
    expect(total).toBe(1);
    expect(items).toEqual([
      {
        _id: expect.stringMatching(/^[0-9a-f]{24}$/),
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        developerId: await idOf(of.developer),
        email: of.developer.email,
        tokenId: null,
        action: 'update-project',
        target: {},
        fields: [
          'name',
          'siteUrl',
          'socialProviders.github.enabled',
          'socialProviders.github.clientId',
          'socialProviders.github.clientSecret',
          'providerApiKey',
        ],
        values: [
          { field: 'name', before: 'test project', after: 'renamed' },
          { field: 'siteUrl', before: null, after: 'https://app.example.com' },
        ],
        outcome: 'done',
      },
    ]);
    const stored = JSON.stringify([items, await entries(of)]);
    for (const secret of ['the-client-secret', 're_the_provider_key']) expect(stored).not.toContain(secret);
  });

  test('of a long list is logged with removed and added items, in at most a few KiB', async () => {
    const of = await newProject();
    const set = (allowedDomains: readonly string[]) =>
      of.developer.dashboard('PATCH', `/api/projects/${of.id}`, { allowedDomains });
    const domains = Array.from(
      { length: 99 },
      (_, index) => `${'a'.repeat(60)}.${'b'.repeat(60)}.site${index}.example`,
    );
    expect((await set([...domains, 'old.example'])).status).toBe(200);
    expect((await set([...domains, 'new.example'])).status).toBe(200);
    const [second, first] = (await trailOf(of)).items;
    expect(second?.values).toEqual([{ field: 'allowedDomains', before: ['old.example'], after: ['new.example'] }]);
    expect(first?.values).toEqual([{ field: 'allowedDomains', before: ['*'], after: domains.slice(0, 10) }]);
    for (const entry of await entries(of)) expect(JSON.stringify(entry).length).toBeLessThan(4096);
  });

  test('of parts of a setting is logged by part, with the effective earlier values', async () => {
    const of = await newProject();
    const set = (changes: object) => of.developer.dashboard('PATCH', `/api/projects/${of.id}`, changes);
    expect((await set({ signIn: { emailCode: true } })).status).toBe(200);
    expect((await set({ signIn: { password: false, passkey: true }, uploads: { users: true } })).status).toBe(200);
    const [second, first] = (await trailOf(of)).items;
    expect(first?.values).toEqual([{ field: 'signIn.emailCode', before: false, after: true }]);
    expect(second?.values).toEqual([
      { field: 'signIn.password', before: true, after: false },
      { field: 'signIn.passkey', before: false, after: true },
      { field: 'uploads.users', before: false, after: true },
    ]);
  });

  test('of a key is logged with the kind of key and the grace period', async () => {
    const of = await newProject();
    const path = `/api/projects/${of.id}/keys/rotate`;
    const body = { type: 'secret', graceHours: 24 };
    const rotated = await of.developer.dashboard<{ data: { key: string } }>('POST', path, body);
    const [entry] = (await trailOf(of)).items;
    expect(entry?.values).toEqual([
      { field: 'type', before: null, after: 'secret' },
      { field: 'graceHours', before: null, after: 24 },
    ]);
    expect(JSON.stringify(entry)).not.toContain(rotated.body.data.key);
  });

  test('is logged with the personal access token that made it', async () => {
    const { token, _id } = await newPersonalToken(project.developer, ['collections:write']);
    const path = `/api/projects/${project.id}/collections`;
    const made = await call(inject('stack').dashboardUrl, 'POST', path, {
      token,
      body: { name: 'scripted', schema: null },
    });
    expect(made.status).toBe(201);
    const [latest] = (await trailOf(project)).items;
    expect(latest).toMatchObject({ action: 'create-collection', tokenId: _id, email: project.developer.email });
    expect(latest?.values).toEqual([{ field: 'name', before: null, after: 'scripted' }]);
  });

  test('of members is logged with the roles, from the invitation on', async () => {
    const of = await newProject();
    const member = await newMember(of, 'viewer');
    const id = await idOf(member);
    await of.developer.dashboard('PATCH', `/api/projects/${of.id}/members/${id}`, { role: 'admin' });
    await member.dashboard('DELETE', `/api/projects/${of.id}/members/${id}`);
    const { items } = await trailOf(of);
    expect(items).toMatchObject([
      { action: 'delete-member', email: member.email, target: { developerId: id } },
      {
        action: 'update-member',
        target: { developerId: id },
        values: [{ field: 'role', before: 'viewer', after: 'admin' }],
      },
      { action: 'accept-invitation', email: member.email, values: [{ field: 'role', before: null, after: 'viewer' }] },
      { action: 'create-invitation', fields: ['email', 'role'], values: [{ field: 'role', after: 'viewer' }] },
    ]);
  });

  test('is not logged when it is rejected; document writes are not logged', async () => {
    const of = await newProject([{ name: 'notes' }]);
    const path = `/api/projects/${of.id}`;
    expect((await of.developer.dashboard('PATCH', path, {})).status).toBe(400);
    expect((await of.developer.dashboard('POST', `${path}/collections`, { name: 'notes', schema: null })).status).toBe(
      409,
    );
    expect((await of.developer.dashboard('DELETE', `${path}/collections/none`)).status).toBe(404);
    expect((await of.developer.dashboard('POST', `${path}/collections/notes/documents`, { a: 1 })).status).toBe(201);
    expect((await entries(of)).map(({ action }) => action)).toEqual(['create-collection']);
  });

  const change = (of: TestProject) => ({
    projectId: of.id,
    developerId: 'f'.repeat(24),
    tokenId: null,
    action: 'sample',
    target: {},
    fields: [],
    values: [],
  });

  test('503 without a change when no entry can be written', async () => {
    const act = vi.fn(() => Promise.resolve('done'));
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const unwritable = { ...change(project), values: [{ field: 'a', before: null, after: circular }] };
    await expect(audited(unwritable, act)).rejects.toThrow();
    expect(act).not.toHaveBeenCalled();
  });

  test('stays in the trail as unknown when its outcome is unclear; the entry of a rejected one is removed', async () => {
    const of = await newProject();
    const failing = (code: 'SERVICE_UNAVAILABLE' | 'NOT_FOUND') =>
      audited(change(of), () => Promise.reject(new AppError(code, 'no')));
    await expect(failing('SERVICE_UNAVAILABLE')).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await expect(failing('NOT_FOUND')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await trailOf(of)).items).toMatchObject([{ action: 'sample', outcome: 'unknown', email: null }]);
  });
});

describe('the list', () => {
  test('200, newest first, paged, without entries older than a year', async () => {
    const of = await newProject();
    for (const name of ['a', 'b', 'c']) await of.developer.dashboard('PATCH', `/api/projects/${of.id}`, { name });
    const all = await trailOf(of);
    expect(all.items.map(({ values }) => values)).toMatchObject([[{ after: 'c' }], [{ after: 'b' }], [{ after: 'a' }]]);
    const second = await trailOf(of, '?page=2&limit=2');
    expect(second).toMatchObject({ items: [{ _id: all.items[2]?._id }], total: 3, page: 2, limit: 2 });
    await onControl((db) =>
      db
        .collection<AuditRecord>('auditEntries')
        .updateOne(
          { _id: new ObjectId(all.items[2]?._id) },
          { $set: { at: new Date(Date.now() - 365 * 86_400_000 - 1000) } },
        ),
    );
    expect((await trailOf(of)).total).toBe(2);
  });

  test('is served only by its index, sort included', async () => {
    const { filter, sort } = entriesOf(new ObjectId(), Date.now());
    const plan = await onControl((db) => db.collection('auditEntries').find(filter).sort(sort).explain('queryPlanner'));
    const text = JSON.stringify((plan as { queryPlanner: { winningPlan: unknown } }).queryPlanner.winningPlan);
    expect(text).toContain('"indexName":"project"');
    expect(text).not.toMatch(/"stage":"(SORT|COLLSCAN)"/);
  });
});
