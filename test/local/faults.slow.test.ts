import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Permission } from '../../infra/stacks/grants.ts';
import { routePermissions } from '../infra/all-permissions.ts';
import { inParallel, tally } from '../support/clients/client.ts';
import { promisedMs } from '../support/data/promised.ts';
import { dashboardCases, publicCases } from '../support/data/route-cases.ts';
import { type FaultyStack, startFaultyStack } from '../support/faults/faulty-stack.ts';
import { expectErrorLanding, expectUnavailable, observe, type Swept, sweep } from '../support/faults/sweep.ts';

let stack: FaultyStack;

beforeAll(async () => {
  stack = await startFaultyStack();
});

afterEach(() => Promise.all([stack.mongo.heal(), stack.dynamo.heal()]));

afterAll(() => stack.stop());

/** A correct response of a service without a language model. */
const withoutModel = 'NOT_SET_UP';

const newName = (): string => `late-${randomBytes(6).toString('hex')}`;

const insert = (body: unknown) => stack.api('POST', '/api/data/notes', { body });
const list = (query: string) =>
  stack.api<{ data: { items: { n: number }[]; total: number } }>('GET', `/api/data/notes?${query}`);

/** Checks that both databases serve a read and a write immediately, without a restart. */
const expectRecovered = async (): Promise<void> => {
  expect((await insert({ after: 'recovery' })).status).toBe(201);
  expect((await list('limit=1')).status).toBe(200);
};

/** Fifty callers more at the same time as the sweep: there are fewer connections than that. */
const crowd = (): Promise<Swept[]> =>
  inParallel(50, (index) =>
    index % 2 === 0
      ? observe({ id: `crowd ${index}`, method: 'GET' }, stack.api, '/api/data/notes', {})
      : observe({ id: `crowd ${index}`, method: 'POST' }, stack.api, '/api/data/notes', { body: { index } }),
  );

/**
 * Allowed responses of routes that need MongoDB only for the project, which is cached for 5 s: sessions, email
 * tokens, social sign-ins and records of files are in the table.
 */
const withoutMongo: ReadonlyMap<string, number> = new Map([
  ['get-schema', 200],
  // The collection has none.
  ['list-changes', 409],
  // The document of its room does not exist.
  ['create-ticket', 404],
  ['sign-out-developer', 200],
  ['refresh-token', 200],
  ['sign-out', 200],
  ['list-sessions', 200],
  ['revoke-session', 404],
  ['get-jwks', 200],
  // The project has none.
  ['list-directory', 403],
  ['verify-email', 400],
  ['change-email', 400],
  ['reset-password', 400],
  ['exchange-code', 400],
  ['sign-in-by-code', 400],
  ['sign-in-with-factor', 401],
  ['start-passkey-sign-in', 200],
  ['sign-in-with-passkey', 400],
  ['request-upload', 200],
  ['request-parts', 404],
  ['confirm-upload', 404],
  ['delete-file', 404],
  ['change-visibility', 404],
  ['sign-links', 200],
  // The secret key lists the files of a document only.
  ['list-own-files', 403],
  ['start-sign-in', 302],
  ['begin-sign-in', 200],
  ['finish-sign-in', 302],
  ['forward-sign-in', 303],
  ['verify-developer-email', 400],
  ['reset-developer-password', 400],
  ['sign-in-developer-by-code', 400],
  ['sign-in-developer-with-factor', 401],
  ['start-developer-passkey-sign-in', 200],
  ['sign-in-developer-with-passkey', 400],
  ['list-developer-sessions', 200],
  ['revoke-developer-session', 404],
  ['exchange-developer-code', 400],
  ['start-developer-sign-in', 302],
  ['finish-developer-sign-in', 302],
  ['receive-webhook', 400],
  ['receive-project-webhook', 400],
  ['get-openapi', 200],
  ['get-dashboard-openapi', 200],
  // The project has no mail provider of its own.
  ...publicCases
    .filter(({ route }) => /^\/api\/mail\/(audiences|broadcasts)/.test(route.path))
    .map(({ id }): [string, number] => [id, 403]),
]);

/**
 * Routes that browsers open. If the project cannot be read, there is no site to return to: 503 with the error body.
 * Later failures redirect to the project's site with `error`, like any failure of a social sign-in.
 */
const navigations: ReadonlySet<string> = new Set([
  'start-sign-in',
  'finish-sign-in',
  'start-developer-sign-in',
  'finish-developer-sign-in',
]);

/** A redirect to the provider if only the table was needed, otherwise back to the site. */
const expectGoodRedirect = (answer: Swept): void => {
  const onwards = answer.id.startsWith('start-') && answer.location?.includes('/login/oauth/authorize?');
  if (!onwards) expectErrorLanding(answer);
};

const expectNothingWithoutMongo = (answers: readonly Swept[]): void => {
  for (const answer of answers) {
    if (answer.status !== withoutMongo.get(answer.id)) expectUnavailable(answer);
    else if (navigations.has(answer.id)) expectGoodRedirect(answer);
    expect(answer.ms, answer.name).toBeLessThan(promisedMs);
  }
};

/** Some calls find a new connection; the others fail in time. */
const expectAnsweredInTime = (answers: readonly Swept[]): void => {
  for (const answer of answers) {
    if (answer.status >= 500) expectUnavailable(answer);
    expect(answer.ms, answer.name).toBeLessThan(promisedMs);
  }
};

test('no route returns 5xx when nothing fails', async () => {
  // One by one: each loads its function first, and ninety at a time keep a process so busy that nothing else in it is
  // in time.
  for (const { name, status, body } of await sweep(stack, { atOnce: 1 })) {
    if (body.code !== withoutModel) expect(status, `${name}: ${JSON.stringify(body)}`).toBeLessThan(500);
  }
});

const refresh = (token: string) =>
  stack.userAuth<{ refreshToken: string }>('POST', 'refresh-token', { headers: { 'x-refresh-token': token } });

/** Refreshes while the project is cached. Returns the token whose refresh returned 503. */
const refreshUntilRefused = async (first: string): Promise<string> => {
  for (let token = first; ; ) {
    const { status, body } = await refresh(token);
    if (status !== 200) {
      expect(status).toBe(503);
      return token;
    }
    token = body.refreshToken;
    await pause(500);
  }
};

describe('503 within 6 s and recovery without a restart when MongoDB', () => {
  test('is stopped, on every route with 50 more callers, for known and unknown collections', async () => {
    await list('limit=1');
    await stack.mongo.freeze();
    const answers = await Promise.all([sweep(stack, { another: 'others' }), crowd()]);
    expectNothingWithoutMongo(answers.flat());
    await stack.mongo.heal();
    await expectRecovered();
  });

  test('rejects connections; a token whose refresh failed is valid afterwards', async () => {
    const token = (await refresh(stack.unusedRefreshToken())).body.refreshToken;
    await stack.mongo.proxy.refuse();
    const [refused, ...answers] = await Promise.all([refreshUntilRefused(token), sweep(stack), crowd()]);
    expectNothingWithoutMongo(answers.flat());
    await stack.mongo.heal();
    await expectRecovered();
    expect((await refresh(refused)).status).toBe(200);
  });

  test('is killed and restarts with all acknowledged writes', async () => {
    const kept = newName();
    const acknowledged = await inParallel(10, () => insert({ kept }));
    expect(tally(acknowledged)).toEqual({ 201: 10 });
    await stack.mongo.kill();
    expectNothingWithoutMongo(await sweep(stack));
    await stack.mongo.restart();
    await expectRecovered();
    expect((await list(`kept=${kept}`)).body.data.total).toBe(10);
  });

  test('stops responding on open connections, as behind a firewall', async () => {
    await crowd();
    const lost = stack.mongo.proxy.loseConnections();
    expectAnsweredInTime((await Promise.all([sweep(stack), crowd()])).flat());
    await expectRecovered();
    // The driver's monitor notices after 15 s and then interrupts the requests of the next test.
    await expect.poll(lost).toBe(0);
  });

  test('stops responding while an index is built', async () => {
    const path = `/api/projects/${stack.projectId}/collections`;
    stack.mongo.proxy.meet('fall silent', { of: 'createIndexes' });
    const begin = performance.now();
    const answers = await Promise.all([
      stack.dashboard('POST', path, { body: { name: newName(), schema: null } }),
      stack.dashboard('POST', `${path}/notes/indexes`, { body: { keys: { n: 1 } } }),
    ]);
    expect(performance.now() - begin).toBeLessThan(promisedMs);
    expect(tally(answers)).toEqual({ 503: 2 });
    await stack.mongo.heal();
    await expectRecovered();
    expect((await stack.dashboard('POST', path, { body: { name: newName(), schema: null } })).status).toBe(201);
  });
});

/** The table permissions of a route, except counting. */
const tableUses: ReadonlySet<Permission> = new Set([
  'sessions',
  'user-sessions',
  'developer-sessions',
  'session-check',
  'uploads',
  'usage',
  'mail-quota',
]);
const ofTheTable: ReadonlySet<string> = new Set(
  routePermissions
    .filter(({ permissions }) => permissions.some((permission) => tableUses.has(permission)))
    .map(({ id }) => id),
);
const queries: ReadonlySet<string> = new Set(dashboardCases.filter(({ route }) => route.reads).map(({ id }) => id));
const reads = ({ id, method, status }: Swept): boolean =>
  (method === 'GET' || queries.has(id)) && !(ofTheTable.has(id) && status >= 500);

/** Reads continue without the headers of a count; everything else returns 503. */
const expectOnlyReads = (answers: readonly Swept[]): void => {
  for (const answer of answers) {
    if (!reads(answer)) expectUnavailable(answer);
    else if (navigations.has(answer.id)) expectErrorLanding(answer);
    else expect([200, 403, 404, 409], `${answer.name}: ${JSON.stringify(answer.body)}`).toContain(answer.status);
    expect(answer.ms, answer.name).toBeLessThan(promisedMs);
  }
};

describe('503 except for reads, and recovery without a restart when DynamoDB', () => {
  test('is stopped, on every route with 50 more callers', async () => {
    await stack.dynamo.freeze();
    expectOnlyReads((await Promise.all([sweep(stack), crowd()])).flat());
    await stack.dynamo.heal();
    await expectRecovered();
    expect((await insert({})).headers.get('ratelimit-remaining')).toMatch(/^\d+$/);
  });

  test('is killed and restarts', async () => {
    await stack.dynamo.kill();
    expectOnlyReads((await Promise.all([sweep(stack), crowd()])).flat());
    await stack.dynamo.restart();
    await expectRecovered();
  });

  test('stops responding on open connections', async () => {
    await crowd();
    stack.dynamo.proxy.loseConnections();
    expectAnsweredInTime(await crowd());
    await expectRecovered();
  });
});

describe('queue that stops responding', () => {
  afterEach(() => stack.signalQueue('SIGCONT'));

  test('201 for a sign-up and 503 for sending an email within 6 s, and recovery without a restart', async () => {
    const sender = (id: string, path: string, body: unknown): Promise<Swept> =>
      observe({ id, method: 'POST' }, stack.userAuth, path, { body });
    const { email } = stack.credentials;
    const silent = `${newName()}@example.com`;
    await stack.signalQueue('SIGSTOP');
    const [signedUp, ...others] = await Promise.all([
      sender('sign-up', 'signup', { email: silent, password: 'sample-password' }),
      sender('request-password-reset', 'request-password-reset', { email }),
      sender('request-password-reset for nobody', 'request-password-reset', { email: 'nobody@example.com' }),
      sender('resend-verification-otp', 'resend-verification-otp', { email }),
    ]);
    expect(signedUp).toMatchObject({ status: 201, body: { user: { email: silent } } });
    expect(signedUp.ms).toBeLessThan(promisedMs);
    for (const answer of others) expectUnavailable(answer);
    await stack.signalQueue('SIGCONT');
    expect((await sender('again', 'request-password-reset', { email })).status).toBe(200);
  });
});

test('503 within 6 s when both databases are stopped', async () => {
  await list('limit=1');
  await Promise.all([stack.mongo.freeze(), stack.dynamo.freeze()]);
  for (const answer of await crowd()) expectUnavailable(answer);
  await Promise.all([stack.mongo.heal(), stack.dynamo.heal()]);
  await expectRecovered();
});

describe('connection that is cut during a request', () => {
  test.each([
    ['cut halfway', 0],
    ['lose the answer', 1],
  ] as const)('(%s) 503 for the insert, which happened %i times, and the next one works', async (fault, times) => {
    const mark = `${fault} ${newName()}`;
    const cuts = stack.mongo.proxy.meet(fault, { of: mark, times: 1 });
    const answer = await insert({ mark });
    expect(cuts()).toBe(1);
    expect(answer).toMatchObject({ status: 503, body: { code: 'DATABASE_UNAVAILABLE' } });
    await stack.mongo.heal();
    expect((await list(`mark=${encodeURIComponent(mark)}`)).body.data.total).toBe(times);
    await expectRecovered();
  });

  test('200 for a read, which is retried', async () => {
    const cuts = stack.mongo.proxy.meet('lose the answer', { of: 'needle', times: 1 });
    expect((await list('mark=needle')).status).toBe(200);
    expect(cuts()).toBe(1);
  });

  test('stores each acknowledged insert one time and no other twice', async () => {
    const answers = [];
    const of = newName();
    for (const wave of [0, 1, 2, 3, 4]) {
      if (wave % 2 === 1)
        stack.mongo.proxy.meet(wave === 1 ? 'cut halfway' : 'lose the answer', { of: `${of} ${wave}`, times: 1 });
      answers.push(...(await inParallel(10, (n) => insert({ n: 10 * wave + n, of, wave: `${of} ${wave}` }))));
    }
    const stored = (await list(`of=${of}&limit=1000`)).body.data.items.map(({ n }) => n);
    expect(new Set(stored).size).toBe(stored.length);
    const acknowledged = answers.flatMap(({ status }, n) => (status === 201 ? [n] : []));
    expect(acknowledged.length).toBeGreaterThanOrEqual(20);
    expect(stored).toEqual(expect.arrayContaining(acknowledged));
    for (const { status } of answers) expect([201, 503]).toContain(status);
  });

  test('200 with the same rotation when the response of the table to a refresh was lost', async () => {
    const signedIn = await stack.dashboard('POST', '/api/auth/login', { body: stack.credentials });
    const cookie = signedIn.cookies[0]?.split(';')[0] ?? '';
    const cuts = stack.dynamo.proxy.meet('lose the answer', { of: 'TransactWriteItems', times: 1 });
    const refreshed = await stack.dashboard('POST', '/api/auth/refresh', { headers: { cookie } });
    expect(cuts()).toBe(1);
    expect(refreshed.status).toBe(200);
    const next = refreshed.cookies[0]?.split(';')[0] ?? '';
    expect((await stack.dashboard('POST', '/api/auth/refresh', { headers: { cookie: next } })).status).toBe(200);
    expect((await stack.dashboard('POST', '/api/auth/refresh', { headers: { cookie } })).status).toBe(401);
  });
});
