import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as getDocument } from '../../../functions/data/get-document.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { handler as listMails } from '../../../functions/mail/list-mail-logs.ts';
import { clock } from '../../../shared/core/clock.ts';
import { AppError } from '../../../shared/core/errors.ts';
import { newId } from '../../../shared/core/ids.ts';
import { listRefusals } from '../../../shared/usage/list-rejected.ts';
import { flushRefusals, logRejected, networkOf } from '../../../shared/usage/rejected-requests.ts';
import { flushTally } from '../../../shared/usage/tally.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

listenToCommands();
process.env.USAGE_SECONDS = '10';

let project: TestProject;

const missing = { key: () => project.secretKey, id: '0'.repeat(24) };

beforeAll(async () => {
  const schema = [
    { key: 'title', type: 'String', maxLength: 5 },
    { key: 'n', type: 'Number' },
  ];
  project = await newProject([
    { name: 'notes', schema },
    { name: 'diaries', rls: { enabled: true, mode: 'private' } },
    {
      name: 'sales',
      rls: { enabled: true, mode: 'private' },
      effects: [{ on: 'create', writes: [{ op: 'delete', collection: 'diaries', id: missing.id }], trusted: true }],
    },
  ]);
});

beforeEach(flushRefusals);

afterEach(async () => {
  vi.restoreAllMocks();
  await flushRefusals();
});

const refusals = async (query = '') => {
  await flushRefusals();
  const path = `/api/projects/${project.id}/refusals${query}`;
  return (await project.developer.dashboard<{ data: Awaited<ReturnType<typeof listRefusals>> }>('GET', path)).body.data;
};

const getMissing = () =>
  invoke(getDocument, { key: missing.key(), params: { collectionName: 'notes', id: missing.id } });

describe('the rejected requests of a project', () => {
  test('have route, code, message, fields, key, user, network and request id, newest first', async () => {
    const userId = newId().toHexString();
    const token = await project.tokenFor(userId);
    const { status } = await invoke(getDocument, {
      key: project.publishableKey,
      token,
      headers: { origin: 'http://localhost:3000' },
      params: { collectionName: 'diaries', id: missing.id },
      sourceIp: '203.0.113.77',
    });
    expect(status).toBe(404);
    const invalid = await invoke(createDocument, {
      key: project.secretKey,
      method: 'POST',
      params: { collectionName: 'notes' },
      body: { title: 'a secret text', n: 'seven' },
    });
    expect(invalid.status).toBe(400);
    const { items, total, notKept } = await refusals();
    expect({ total, notKept }).toEqual({ total: 2, notKept: 0 });
    expect(items[0]).toMatchObject({
      route: 'POST /api/data/:collection',
      status: 400,
      code: 'VALIDATION_FAILED',
      fields: ['title', 'n'],
      key: 'secret',
      userId: null,
      address: '192.0.2.0/24',
    });
    expect(items[1]).toEqual({
      _id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      at: expect.any(String),
      route: 'GET /api/data/:collection/:id',
      status: 404,
      code: 'DOCUMENT_NOT_FOUND',
      message: expect.any(String),
      fields: [],
      key: 'publishable',
      userId,
      address: '203.0.113.0/24',
      requestId: expect.any(String),
      collection: 'diaries',
    });
  });

  test('contain no value that was sent, and keep the names of collection and fields', async () => {
    const where = { key: project.secretKey, params: { collectionName: 'notes' } };
    await invoke(createDocument, { ...where, method: 'POST', body: { title: 'hunter22', n: 'title' } });
    await invoke(listDocuments, { ...where, query: 'n_gt=hunter33&sort=hunter44' });
    await invoke(listDocuments, { ...where, query: 'title_regex=hunter55(' });
    await invoke(createDocument, {
      ...where,
      method: 'POST',
      body: Array.from({ length: 150_000 }, () => 'hunter'),
    });
    const { items } = await refusals('?limit=4');
    expect(JSON.stringify(items)).not.toContain('hunter');
    expect(items[3]?.message).toContain('title');
    expect(items).toHaveLength(4);
  });

  test('are filtered by code, route, user and time, a page at a time', async () => {
    await getMissing();
    const all = await refusals();
    expect((await refusals('?code=DOCUMENT_NOT_FOUND')).items.every(({ code }) => code === 'DOCUMENT_NOT_FOUND')).toBe(
      true,
    );
    const route = encodeURIComponent('GET /api/data/:collection/:id');
    expect((await refusals(`?route=${route}&code=DOCUMENT_NOT_FOUND`)).total).toBeGreaterThan(0);
    expect((await refusals('?user=nobody')).items).toEqual([]);
    expect((await refusals('?requestId=test-request')).total).toBe(all.total);
    expect((await refusals('?requestId=another')).total).toBe(0);
    expect((await refusals(`?since=${new Date(Date.now() + 60_000).toISOString()}`)).total).toBe(0);
    const second = await refusals('?page=2&limit=1');
    expect(second.items.map(({ _id }) => _id)).toEqual([all.items[1]?._id]);
    expect(second.total).toBe(all.total);
  });

  test('400 for an invalid time', async () => {
    const path = `/api/projects/${project.id}/refusals?since=yesterday`;
    const { status, body } = await project.developer.dashboard('GET', path);
    expect(status).toBe(400);
    expect(body).toMatchObject({ errors: [{ field: 'since' }] });
  });

  test('include requests with the wrong kind of key, but not unknown keys', async () => {
    const before = (await refusals()).total;
    await invoke(getDocument, { key: 'sk_live_unknown', params: { collectionName: 'notes', id: missing.id } });
    expect((await refusals()).total).toBe(before);
    await invoke(listMails, { key: project.publishableKey });
    expect((await refusals()).items[0]?.code).toBe('SECRET_KEY_REQUIRED');
  });

  test('are written immediately after a pause, and then together', async () => {
    const start = Date.now() + 100_000;
    const now = vi.spyOn(clock, 'now').mockReturnValue(start);
    await flushTally();
    const writes = async (act: () => Promise<unknown>) =>
      (await commandsOf(act)).filter((command) => command.startsWith('dynamodb'));
    expect(await writes(getMissing)).toHaveLength(3);
    for (let n = 0; n < 5; n++) expect(await writes(getMissing)).toEqual([]);
    now.mockReturnValue(start + 5000);
    expect((await writes(getMissing)).length).toBeGreaterThan(5);
  });
});

describe('the log of rejected requests', () => {
  const log = (projectId: string) =>
    logRejected({
      projectId,
      error: new AppError('RULE_DENIED', 'The rules do not allow it.'),
      method: 'GET',
      path: '/api/data/{collectionName}',
      key: 'publishable',
      userId: undefined,
      address: '192.0.2.1',
      requestId: 'test',
      collection: undefined,
      sent: () => [],
    });
  const page = { page: 1, limit: 2000 };

  test('keeps ten of a second and counts the others', async () => {
    const id = newId().toHexString();
    vi.spyOn(clock, 'now').mockReturnValue(Date.now());
    await Promise.all(Array.from({ length: 50 }, () => Promise.resolve(log(id)).then(flushRefusals)));
    expect(await listRefusals(id, page)).toMatchObject({ total: 10, notKept: 40 });
  });

  test('keeps the newest thousand, for seven days', async () => {
    const id = newId().toHexString();
    const start = Date.now();
    const now = vi.spyOn(clock, 'now');
    for (let n = 0; n < 1010; n++) {
      now.mockReturnValue(start + n * 100);
      await log(id);
      if (n % 100 === 99) await flushRefusals();
    }
    await flushRefusals();
    const { items, total, notKept } = await listRefusals(id, page);
    expect({ total, notKept }).toEqual({ total: 1000, notKept: 0 });
    expect(items.at(-1)?.at).toEqual(new Date(start + 1000));
    now.mockReturnValue(start + 7 * 24 * 3_600_000 + 100_950);
    expect((await listRefusals(id, page)).total).toBe(0);
  });

  test.each([
    ['203.0.113.77', '203.0.113.0/24'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:85a3:8d3:1319:8a2e:370:7348', '2001:db8:85a3::/48'],
    ['2001:db8::1', '2001:db8::/48'],
    ['::1', '::/48'],
  ])('shows %s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

test('the log has what an effect did in full, although the caller sees neither field nor message', async () => {
  const token = await project.tokenFor(newId().toHexString());
  const sale = { key: project.publishableKey, token, params: { collectionName: 'sales' }, method: 'POST', body: {} };
  const { status, body } = await invoke(createDocument, sale);
  const place = { index: 0, effect: 0, write: 0 };
  expect([status, body.code, body.errors]).toEqual([409, 'EFFECT_REFUSED', [place]]);
  const [found] = (await refusals('?code=EFFECT_REFUSED')).items;
  expect(found?.effect).toEqual([{ ...place, message: 'Document not found' }]);
});
