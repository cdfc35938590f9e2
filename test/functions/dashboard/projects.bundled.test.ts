import { ObjectId } from 'mongodb';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { onControl } from '../../../shared/persistence/mongo.ts';
import type { ProjectRecord } from '../../../shared/projects/project.ts';
import { forEachProvider } from '../../../shared/projects/social/providers.ts';
import { call, inParallel, tally } from '../../support/clients/client.ts';
import { type Developer, newDeveloper } from '../../support/fixtures/project.ts';

interface ProjectBody {
  readonly data: Readonly<Record<string, unknown>> & { readonly _id: string };
  readonly message: string;
}

let developer: Developer;
/** A project for rejected requests, which change nothing; the plan limits the number of projects. */
let refusing: string;

beforeAll(async () => {
  developer = await newDeveloper();
  refusing = (await create()).body.data._id;
});

const create = (body: unknown = { name: 'mine' }, owner = developer) =>
  owner.dashboard<ProjectBody & { data: { publishableKey: string; secretKey: string } }>('POST', '/api/projects', body);
const read = (id: string, owner = developer) => owner.dashboard<ProjectBody>('GET', `/api/projects/${id}`);
const update = (id: string, body: unknown) => developer.dashboard<ProjectBody>('PATCH', `/api/projects/${id}`, body);
const rotate = (id: string, body: unknown) =>
  developer.dashboard<{ data: { type: string; key: string } }>('POST', `/api/projects/${id}/keys/rotate`, body);
const remove = (id: string, owner = developer) => owner.dashboard<ProjectBody>('DELETE', `/api/projects/${id}`);

/** Returns the public API’s error code for a key: of a missing collection, or of the key. */
const codeWith = async (key: string): Promise<unknown> =>
  (await call(inject('stack').baseUrl, 'GET', '/api/schemas/nothing', { key })).body.code;

const recordOf = (id: string) =>
  onControl((db) => db.collection<ProjectRecord>('projects').findOne({ _id: new ObjectId(id) }));

describe('creating a project', () => {
  test('201 with the complete record and both keys, which work', async () => {
    const { status, headers, body } = await create({ name: '  Shop ' });
    expect({ status, body }).toEqual({
      status: 201,
      body: {
        success: true,
        message: expect.any(String),
        data: {
          _id: expect.stringMatching(/^[0-9a-f]{24}$/),
          name: 'Shop',
          siteUrl: null,
          plan: 'pro',
          apiUrl: inject('stack').baseUrl,
          publishableKey: expect.stringMatching(/^pk_live_[0-9A-Za-z]{32}$/),
          secretKey: expect.stringMatching(/^sk_live_[0-9A-Za-z]{32}$/),
          secretKeyHint: `sk_live_…${body.data.secretKey.slice(-4)}`,
          allowedDomains: ['*'],
          allowPublicSignup: true,
          authEnabled: false,
          signIn: { password: true, emailCode: false, anonymous: false, passkey: false, secondFactor: 'off' },
          uploads: { users: false, maxBytes: 10_485_760, types: ['*/*'] },
          directory: null,
          socialProviders: {
            ...forEachProvider(() => ({ enabled: false, clientId: null, hasClientSecret: false })),
            apple: { enabled: false, clientId: null, teamId: null, keyId: null, hasPrivateKey: false },
          },
          hasProviderApiKey: false,
          hasProviderWebhookSecret: false,
          providerFromEmail: null,
          database: { external: false },
          storage: { external: false },
          strictSessions: false,
          createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
          updatedAt: expect.stringMatching(/^\d{4}-.*Z$/),
          role: 'owner',
        },
      },
    });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(await codeWith(body.data.publishableKey)).toBe('COLLECTION_NOT_FOUND');
    expect(await codeWith(body.data.secretKey)).toBe('COLLECTION_NOT_FOUND');
  });

  test('the secret key is shown only this time and stored as a hash', async () => {
    const { _id, secretKey, ...shown } = (await create()).body.data;
    expect((await read(_id)).body.data).toEqual({ _id, ...shown });
    expect(JSON.stringify(await recordOf(_id))).not.toContain(secretKey);
    expect(JSON.stringify((await developer.dashboard('GET', '/api/projects')).body)).not.toContain(secretKey);
  });

  test.each<[string, unknown, string]>([
    ['no name', {}, 'name is required'],
    ['an empty name', { name: '  ' }, 'name must not be empty'],
    ['a name of 101 characters', { name: 'n'.repeat(101) }, 'name must have at most 100'],
    ['a name with a line break', { name: 'a\nb' }, 'name must not contain control'],
    ['a name that is an object', { name: { $ne: null } }, 'name must be a String'],
    ['an unknown field', { name: 'a', plan: 'pro' }, 'plan is not a known field'],
    ['a list', [{ name: 'a' }], 'must be a JSON object'],
  ])('400 for %s', async (_what, body, message) => {
    const answer = await create(body);
    expect(answer.status).toBe(400);
    expect(answer.body.message).toContain(message);
  });

  test('403 PLAN_LIMIT: of 50 concurrent requests exactly as many as the plan allows succeed; a deletion makes room', async () => {
    const free = await newDeveloper('free');
    const answers = await inParallel(50, (index) => create({ name: `p${index}` }, free));
    expect(tally(answers)).toEqual({ 201: 3, 403: 47 });
    expect(answers.find(({ status }) => status === 403)?.body).toMatchObject({
      code: 'PLAN_LIMIT',
      message: expect.stringMatching(/free plan allows 3 projects/),
    });
    const id = answers.find(({ status }) => status === 201)?.body.data._id ?? '';
    expect((await remove(id, free)).status).toBe(202);
    expect(tally(await inParallel(10, () => create({ name: 'again' }, free)))).toEqual({ 201: 1, 403: 9 });
  });

  test('403 PLAN_LIMIT: of 50 concurrent requests as many as there is room for succeed, next to those of a larger plan', async () => {
    const free = await newDeveloper('free');
    for (const slot of [7, 12]) {
      const _id = new ObjectId((await create({ name: 'kept' }, free)).body.data._id);
      await onControl((db) => db.collection('projects').updateOne({ _id }, { $set: { slot } }));
    }
    const answers = await inParallel(50, (index) => create({ name: `p${index}` }, free));
    expect(tally(answers)).toEqual({ 201: 1, 403: 49 });
  });
});

describe('listing projects', () => {
  test('200 newest first, in pages, without projects of other developers', async () => {
    const owner = await newDeveloper();
    const ids: string[] = [];
    for (let index = 0; index < 3; index++) ids.push((await create({ name: `p${index}` }, owner)).body.data._id);
    // Ids that several processes create within one second have no time order.
    ids.sort().reverse();
    const page = async (query: string) => {
      const { body } = await owner.dashboard<{ data: { items: { _id: string }[] } }>('GET', `/api/projects${query}`);
      return { ...body.data, items: body.data.items.map(({ _id }) => _id) };
    };
    expect(await page('')).toEqual({ items: ids, total: 3, page: 1, limit: 100 });
    expect(await page('?page=2&limit=2')).toEqual({ items: ids.slice(2), total: 3, page: 2, limit: 2 });
    expect(await page('?limit=1000')).toEqual({ items: ids, total: 3, page: 1, limit: 100 });
  });

  test.each(['limit=0', 'limit=-1', 'limit=x', 'limit=1.5', 'page=0', 'page='])('400 for %s', async (query) => {
    expect(await developer.dashboard('GET', `/api/projects?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_QUERY' },
    });
  });

  test.each([
    ['email=ann@example.com', 'email is not a known parameter'],
    ['page=1&page=2', 'page was given more than once.'],
  ])('400 for %s, which would return another list than requested', async (query, message) => {
    expect(await developer.dashboard('GET', `/api/projects?${query}`)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_QUERY', message },
    });
  });
});

describe('changing a project', () => {
  test('200 changes the given settings and keeps the others', async () => {
    const { secretKey: _secret, ...made } = (await create()).body.data;
    const changes = {
      name: 'renamed',
      siteUrl: 'https://shop.example.com',
      allowedDomains: ['https://shop.example.com', '*.example.com', 'localhost:3000'],
      allowPublicSignup: false,
      authEnabled: true,
    };
    const answer = await update(made._id, changes);
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { ...made, ...changes, updatedAt: expect.any(String) } },
    });
    expect((await update(made._id, { siteUrl: null })).body.data).toMatchObject({ ...changes, siteUrl: null });
    expect((await read(made._id)).body.data).toMatchObject({ ...changes, siteUrl: null });
  });

  test('200 for sign-in methods: missing ones stay, also with parallel changes', async () => {
    const made = { name: 'ways', signIn: { anonymous: true } };
    const { _id, signIn } = (await create(made)).body.data;
    expect(signIn).toMatchObject({ password: true, anonymous: true, emailCode: false });
    const ways = [{ emailCode: true }, { passkey: true }, { secondFactor: 'optional' }, { password: false }];
    expect(tally(await Promise.all(ways.map((way) => update(_id, { signIn: way }))))).toEqual({ 200: 4 });
    const all = { password: false, emailCode: true, anonymous: true, passkey: true, secondFactor: 'optional' };
    expect((await read(_id)).body.data.signIn).toEqual(all);
  });

  test.each<[unknown, string]>([
    [{}, 'NOTHING_TO_UPDATE'],
    [{ name: '' }, 'VALIDATION_FAILED'],
    [{ name: null }, 'VALIDATION_FAILED'],
    [{ siteUrl: 'javascript:alert(1)' }, 'VALIDATION_FAILED'],
    [{ siteUrl: 'https://user:pass@example.com' }, 'VALIDATION_FAILED'],
    [{ siteUrl: { $ne: 1 } }, 'VALIDATION_FAILED'],
    [{ allowedDomains: '*' }, 'VALIDATION_FAILED'],
    [{ allowedDomains: ['https://example.com/path'] }, 'VALIDATION_FAILED'],
    [{ allowedDomains: Array.from({ length: 101 }, () => '*') }, 'VALIDATION_FAILED'],
    [{ allowPublicSignup: 'true' }, 'VALIDATION_FAILED'],
    [{ authEnabled: 1 }, 'VALIDATION_FAILED'],
    [{ uploads: {} }, 'NOTHING_TO_UPDATE'],
    [{ uploads: { users: 'yes' } }, 'VALIDATION_FAILED'],
    [{ uploads: { maxBytes: 0 } }, 'VALIDATION_FAILED'],
    [{ uploads: { maxBytes: 1.5 } }, 'VALIDATION_FAILED'],
    [{ uploads: { types: [] } }, 'VALIDATION_FAILED'],
    [{ uploads: { types: ['image'] } }, 'VALIDATION_FAILED'],
    [{ uploads: { types: 'image/png' } }, 'VALIDATION_FAILED'],
    [{ uploads: { folder: 'x' } }, 'VALIDATION_FAILED'],
    [{ signIn: {} }, 'NOTHING_TO_UPDATE'],
    [{ signIn: { emailCode: 'true' } }, 'VALIDATION_FAILED'],
    [{ signIn: { secondFactor: 'required' } }, 'VALIDATION_FAILED'],
    [{ signIn: { secondFactor: true } }, 'VALIDATION_FAILED'],
    [{ signIn: { magic: true } }, 'VALIDATION_FAILED'],
    [{ signIn: ['password'] }, 'VALIDATION_FAILED'],
    [{ signIn: null }, 'VALIDATION_FAILED'],
    [{ name: 'x', ownerId: 'y' }, 'VALIDATION_FAILED'],
    [{ name: 'x', keys: [] }, 'VALIDATION_FAILED'],
  ])('400 for %j', async (body, code) => {
    expect(await update(refusing, body)).toMatchObject({ status: 400, body: { code } });
  });
});

describe('rotating a key', () => {
  test('201 with a new key; the old one stops working', async () => {
    const { _id, secretKey, publishableKey } = (await create()).body.data;
    const answer = await rotate(_id, { type: 'secret' });
    expect(answer).toMatchObject({
      status: 201,
      body: { data: { type: 'secret', key: expect.stringMatching(/^sk_live_[0-9A-Za-z]{32}$/) } },
    });
    expect(await codeWith(answer.body.data.key)).toBe('COLLECTION_NOT_FOUND');
    expect(await codeWith(secretKey)).toBe('API_KEY_INVALID');
    expect(await codeWith(publishableKey)).toBe('COLLECTION_NOT_FOUND');
    expect((await read(_id)).body.data.secretKeyHint).toBe(`sk_live_…${answer.body.data.key.slice(-4)}`);
  });

  test('201 with a grace period: both keys work until it ends', async () => {
    const { _id, publishableKey } = (await create()).body.data;
    const { key } = (await rotate(_id, { type: 'publishable', graceHours: 1 })).body.data;
    expect(await codeWith(publishableKey)).toBe('COLLECTION_NOT_FOUND');
    expect(await codeWith(key)).toBe('COLLECTION_NOT_FOUND');
    expect((await read(_id)).body.data.publishableKey).toBe(key);
    const ends = (await recordOf(_id))?.keys.find(({ expiresAt }) => expiresAt)?.expiresAt?.getTime() ?? 0;
    expect(Math.abs(ends - Date.now() - 3_600_000)).toBeLessThan(60_000);
    await rotate(_id, { type: 'publishable', graceHours: 0 });
    expect((await recordOf(_id))?.keys.filter(({ kind }) => kind === 'publishable')).toHaveLength(1);
  });

  test('201 with another grace period never extends that of an older key, but may shorten it', async () => {
    const { _id } = (await create()).body.data;
    const ends = async () =>
      ((await recordOf(_id))?.keys ?? [])
        .filter(({ kind }) => kind === 'publishable')
        .map(({ expiresAt }) =>
          expiresAt === null ? null : Math.round((expiresAt.getTime() - Date.now()) / 3_600_000),
        );
    const withGrace = (graceHours: number) => rotate(_id, { type: 'publishable', graceHours });
    await withGrace(2);
    await withGrace(168);
    expect(await ends()).toEqual([2, 168, null]);
    await withGrace(24);
    expect(await ends()).toEqual([2, 24, 24, null]);
  });

  test('201 for 50 concurrent requests: one key stays current, and only a few stay in their grace period', async () => {
    const { _id } = (await create()).body.data;
    expect(tally(await inParallel(50, () => rotate(_id, { type: 'secret', graceHours: 168 })))).toEqual({ 201: 50 });
    const keys = (await recordOf(_id))?.keys.filter(({ kind }) => kind === 'secret') ?? [];
    expect(keys.filter(({ expiresAt }) => expiresAt === null)).toHaveLength(1);
    expect(keys.length).toBeLessThanOrEqual(5);
  });

  test.each([
    {},
    { type: 'both' },
    { type: ['secret'] },
    { type: 'secret', graceHours: -1 },
    { type: 'secret', graceHours: 169 },
    { type: 'secret', graceHours: '1' },
    { type: 'secret', key: 'sk_live_mine' },
  ])('400 for %j', async (body) => {
    expect(await rotate(refusing, body)).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } });
  });
});

describe('another developer’s project, or a missing one', () => {
  test.each(['another developer’s', 'f'.repeat(24), 'nonsense', '%24ne'])('404 for %s', async (which) => {
    const id = which.startsWith('another') ? (await create({ name: 'x' }, await newDeveloper())).body.data._id : which;
    for (const answer of [
      await read(id),
      await update(id, { name: 'taken' }),
      await rotate(id, { type: 'secret' }),
      await remove(id),
      await developer.dashboard('GET', `/api/projects/${id}/collections`),
      await developer.dashboard('POST', `/api/projects/${id}/collections`, { name: 'a', schema: null }),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { code: 'PROJECT_NOT_FOUND' } });
    }
  });
});
