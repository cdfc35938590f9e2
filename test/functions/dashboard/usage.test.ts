import { Db, MongoServerError } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as getUsage } from '../../../functions/dashboard/usage/get-usage.ts';
import { handler as createDocument } from '../../../functions/data/create-document.ts';
import { handler as getDocument } from '../../../functions/data/get-document.ts';
import { handler as listDocuments } from '../../../functions/data/list-documents.ts';
import { noRowSecurity } from '../../../shared/collections/collection.ts';
import { clock } from '../../../shared/core/clock.ts';
import { currentRequest } from '../../../shared/core/request.ts';
import { recordSlowList } from '../../../shared/usage/slow-lists.ts';
import { countUsage, flushTally } from '../../../shared/usage/tally.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newDeveloper, newProject, type TestProject } from '../../support/fixtures/project.ts';

listenToCommands();
process.env.USAGE_SECONDS = '3600';

let project: TestProject;

beforeAll(async () => {
  project = await newProject([{ name: 'notes' }]);
});

afterEach(() => {
  vi.restoreAllMocks();
});

const dayBefore = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const today = (): string => dayBefore(0);

interface Requests {
  readonly data: {
    readonly day: string;
    readonly requests: number;
    readonly routes: readonly {
      readonly route: string;
      readonly requests: number;
      readonly statuses: Record<string, number>;
      readonly p50: number;
      readonly p95: number;
    }[];
  };
}

const requests = async (query = '') => {
  const path = `/api/projects/${project.id}/usage/requests${query}`;
  return (await project.developer.dashboard<Requests>('GET', path)).body.data;
};

describe('the requests of a project', () => {
  test('are counted by route and status without a separate write', async () => {
    const options = { key: project.secretKey, params: { collectionName: 'notes', id: '0'.repeat(24) } };
    const commands = await commandsOf(async () => {
      for (let n = 0; n < 20; n++) await invoke(getDocument, options);
      for (let n = 0; n < 5; n++) await invoke(createDocument, { ...options, body: { n } });
    });
    // The first rejected request is logged by three writes.
    expect(commands.filter((command) => command.startsWith('dynamodb'))).toHaveLength(3);
    expect(await commandsOf(flushTally)).toEqual(['dynamodb UpdateItemCommand']);
    const { day, requests: total, routes } = await requests();
    expect(day).toBe(today());
    expect(total).toBe(25);
    expect(routes.map(({ route, requests: count, statuses }) => [route, count, statuses])).toEqual([
      ['get-document', 20, { 404: 20 }],
      ['create-document', 5, { 201: 5 }],
    ]);
    for (const { p50, p95 } of routes) {
      expect(p50).toBeGreaterThan(0);
      expect(p95).toBeGreaterThanOrEqual(p50);
    }
  });

  test('are zero for a day without requests', async () => {
    expect(await requests('?day=2026-01-31')).toEqual({ day: '2026-01-31', requests: 0, routes: [] });
  });

  test('have hours in UTC when asked for, which add up to the day', async () => {
    const own = await newProject([], project.developer);
    const day = dayBefore(2);
    for (const [time, statuses] of [
      ['05:59:59', [200, 404]],
      ['06:00:00', [200]],
    ] as const) {
      vi.spyOn(clock, 'now').mockReturnValue(Date.parse(`${day}T${time}Z`));
      for (const status of statuses) countUsage({ projectId: own.id, route: 'list-documents', status, ms: 12 });
      await flushTally();
      vi.restoreAllMocks();
    }
    const path = `/api/projects/${own.id}/usage/requests?day=${day}`;
    interface Hours {
      readonly data: { readonly routes: readonly unknown[]; readonly hours?: readonly { readonly requests: number }[] };
    }
    const { hours, routes } = (await project.developer.dashboard<Hours>('GET', `${path}&hours=true`)).body.data;
    expect(hours).toHaveLength(24);
    expect(hours?.[5]).toEqual({ hour: 5, requests: 2, statuses: { 200: 1, 404: 1 } });
    expect(hours?.[6]).toEqual({ hour: 6, requests: 1, statuses: { 200: 1 } });
    expect(hours?.reduce((sum, { requests: count }) => sum + count, 0)).toBe(3);
    expect(routes).toHaveLength(1);
    expect((await project.developer.dashboard<Hours>('GET', path)).body.data.hours).toBeUndefined();
    expect((await project.developer.dashboard('GET', `${path}&hours=yes`)).status).toBe(400);
  });

  test('add up across processes and writes', async () => {
    const before = (await requests()).requests;
    for (const status of [200, 200, 500]) {
      countUsage({ projectId: project.id, route: 'list-documents', status, ms: 12 });
      await flushTally();
    }
    const { requests: after, routes } = await requests();
    expect(after - before).toBe(3);
    expect(routes.find(({ route }) => route === 'list-documents')?.statuses).toEqual({ 200: 2, 500: 1 });
  });

  test('of several days are added up by day, oldest first, with days without requests', async () => {
    const own = await newProject([], project.developer);
    const yesterday = Date.now() - 86_400_000;
    const countAt = async (at: number, status: number) => {
      vi.spyOn(clock, 'now').mockReturnValue(at);
      countUsage({ projectId: own.id, route: 'list-documents', status, ms: 12 });
      countUsage({ projectId: own.id, route: 'send-mail', status: 200, ms: 40 });
      await flushTally();
    };
    await countAt(yesterday, 500);
    vi.restoreAllMocks();
    await countAt(Date.now(), 200);
    vi.restoreAllMocks();
    const { body } = await own.developer.dashboard<{ data: Requests['data'] & { days: readonly object[] } }>(
      'GET',
      `/api/projects/${own.id}/usage/requests?days=3`,
    );
    expect(body.data).toMatchObject({ day: today(), requests: 2 });
    const routes = { 'list-documents': 1, 'send-mail': 1 };
    expect(body.data.days).toEqual([
      { day: dayBefore(2), requests: 0, statuses: {}, routes: {}, p95: null },
      { day: dayBefore(1), requests: 2, statuses: { 200: 1, 500: 1 }, routes, p95: expect.any(Number) },
      { day: today(), requests: 2, statuses: { 200: 2 }, routes, p95: expect.any(Number) },
    ]);
  });

  test.each(['0', '32', '-1', '1.5', 'x'])('400 for %s days', async (days) => {
    const { status, body } = await project.developer.dashboard(
      'GET',
      `/api/projects/${project.id}/usage/requests?days=${days}`,
    );
    expect(status).toBe(400);
    expect(body).toMatchObject({ errors: [{ field: 'days' }] });
  });

  test.each(['today', '2026-02-30', '20261121', "2026-01-01'"])('400 for the day %s', async (day) => {
    const { status, body } = await project.developer.dashboard(
      'GET',
      `/api/projects/${project.id}/usage/requests?day=${day}`,
    );
    expect(status).toBe(400);
    expect(body).toMatchObject({ errors: [{ field: 'day' }] });
  });
});

describe('the usage of a project', () => {
  test('shows every counter with its limit', async () => {
    const { status, body } = await project.developer.dashboard('GET', `/api/projects/${project.id}/usage`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      success: true,
      data: {
        databaseUsed: expect.any(Number),
        databaseLimit: 5 * 1024 ** 3,
        storageUsed: 0,
        storageLimit: 10 * 1024 ** 3,
        imageSizesUsed: 0,
        imageSizesLimit: 5 * 1024 ** 3,
        mailUsed: 0,
        mailLimit: 1000,
        users: 0,
        usersLimit: null,
        collections: 1,
        collectionsLimit: null,
        requestsToday: expect.any(Number),
      },
    });
    expect((body.data as { databaseUsed: number }).databaseUsed).toBeGreaterThan(0);
  });

  test('404 for another developer', async () => {
    const { dashboard } = await newDeveloper();
    for (const path of ['usage', 'usage/requests', 'usage/missing-indexes']) {
      expect((await dashboard('GET', `/api/projects/${project.id}/${path}`)).status).toBe(404);
    }
  });

  test('costs a fixed number of commands', async () => {
    const options = { token: project.developer.token, params: { projectId: project.id } };
    vi.spyOn(clock, 'now').mockReturnValue(Date.now());
    await invoke(getUsage, options);
    const commands = await commandsOf(() => invoke(getUsage, options));
    expect(commands.filter((command) => command.startsWith('dynamodb'))).toEqual(
      Array(4).fill('dynamodb GetItemCommand'),
    );
    expect(commands.filter((command) => command.startsWith('mongodb'))).toHaveLength(4);
  });
});

describe('the missing indexes of a project', () => {
  const note = (shape: Parameters<typeof recordSlowList>[1], ms: number): void =>
    currentRequest.run({ requestId: 'r', route: 'list-documents', databaseMs: 0, projectId: project.id }, () =>
      recordSlowList({ name: 'notes', schema: null, rls: { ...noRowSecurity, enabled: true } }, shape, ms),
    );
  const missing = async () => {
    await flushTally();
    const path = `/api/projects/${project.id}/usage/missing-indexes`;
    return (await project.developer.dashboard<{ data: readonly Record<string, unknown>[] }>('GET', path)).body.data;
  };

  test('are listed with the request that builds them, until they are built', async () => {
    for (let n = 0; n < 3; n++) note({ equal: ['kind'], range: ['price'], sort: [['at', -1]] }, 400);
    note({ equal: [], range: ['score'], sort: [] }, 150);
    // Quick lists, and lists with an index of the service, miss no index.
    note({ equal: ['quick'], range: [], sort: [] }, 20);
    note({ equal: ['userId'], range: ['x'], sort: [] }, 900);
    note({ equal: ['_id'], range: [], sort: [] }, 900);
    const [first, second, ...others] = await missing();
    expect(others).toEqual([]);
    expect(first).toEqual({
      collection: 'notes',
      filters: ['kind', 'price'],
      sort: ['-at'],
      lists: 3,
      averageMs: 400,
      index: { keys: { kind: 1, at: -1, price: 1, _id: -1 } },
    });
    expect(second).toMatchObject({ filters: ['score'], index: { keys: { score: 1, _id: 1 } } });
    const indexes = `/api/projects/${project.id}/collections/notes/indexes`;
    expect((await project.developer.dashboard('POST', indexes, first?.index)).status).toBe(201);
    expect(await missing()).toEqual([second]);
  });

  test('are listed for each branch of an alternative, in the order of the list', async () => {
    const owned = await newProject([{ name: 'todos' }]);
    const find = vi
      .spyOn(Db.prototype, 'command')
      .mockRejectedValue(new MongoServerError({ message: 'given up', code: 50 }));
    const where = { kind: 'a', $or: [{ done: true }, { price: { $gt: 5 }, rank: 1 }, { $and: [{ done: false }] }] };
    await invoke(listDocuments, {
      ...{ key: owned.secretKey, params: { collectionName: 'todos' } },
      query: `sort=due&where=${encodeURIComponent(JSON.stringify(where))}`,
    }).finally(() => find.mockRestore());
    await flushTally();
    const path = `/api/projects/${owned.id}/usage/missing-indexes`;
    const { body } = await owned.developer.dashboard<{ data: readonly { index: unknown }[] }>('GET', path);
    expect(body.data.map(({ index }) => JSON.stringify(index)).sort()).toEqual([
      '{"keys":{"done":1,"kind":1,"due":1,"_id":1}}',
      '{"keys":{"kind":1,"rank":1,"due":1,"price":1,"_id":1}}',
    ]);
  });

  test.each<[string, number, string]>([
    ['took longer than 5 s', 50, 'QUERY_TIMEOUT'],
    ['needed too much memory to sort', 292, 'INVALID_QUERY'],
  ])('400 for a list that %s; it is counted, and its index begins with the owner', async (_what, code, answered) => {
    const owned = await newProject([{ name: 'todos', rls: { enabled: true, mode: 'private' } }]);
    const find = vi
      .spyOn(Db.prototype, 'command')
      .mockRejectedValue(new MongoServerError({ message: 'given up', code }));
    const { status, body } = await invoke(listDocuments, {
      key: owned.publishableKey,
      token: await owned.tokenFor('a'.repeat(24)),
      params: { collectionName: 'todos' },
      query: 'done=true&sort=-due',
    }).finally(() => find.mockRestore());
    expect({ status, code: body.code }).toEqual({ status: 400, code: answered });
    expect(body.message).toContain('/usage/missing-indexes');
    await flushTally();
    const path = `/api/projects/${owned.id}/usage/missing-indexes`;
    expect((await owned.developer.dashboard<{ data: unknown }>('GET', path)).body.data).toEqual([
      {
        collection: 'todos',
        filters: ['done'],
        sort: ['-due'],
        lists: 1,
        averageMs: expect.closeTo(5000, -3),
        index: { keys: { userId: 1, done: 1, due: -1, _id: -1 } },
      },
    ]);
  });
});
