import { randomBytes, randomInt } from 'node:crypto';
import path from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { handler as logIn } from '../../functions/dashboard/auth/sign-in-developer.ts';
import { handler as register } from '../../functions/dashboard/auth/sign-up-developer.ts';
import { handler as askForPasskey } from '../../functions/dashboard/auth/start-developer-passkey-sign-in.ts';
import { handler as listProjects } from '../../functions/dashboard/projects/list-projects.ts';
import { handler as createDocument } from '../../functions/data/create-document.ts';
import { handler as getDocument } from '../../functions/data/get-document.ts';
import { handler as listDocuments } from '../../functions/data/list-documents.ts';
import { handler as notFound } from '../../functions/default/not-found.ts';
import { handler as receiveProjectWebhook } from '../../functions/mail/webhook/receive-project-webhook.ts';
import { routes } from '../../functions/routes.ts';
import { handler as refresh } from '../../functions/user-auth/refresh-token.ts';
import { handler as reset } from '../../functions/user-auth/reset-password.ts';
import { handler as signUp } from '../../functions/user-auth/sign-up.ts';
import { clock } from '../../shared/core/clock.ts';
import { log } from '../../shared/core/log.ts';
import type { NamedRoute } from '../../shared/http/route.ts';
import type { LambdaHandler } from '../../shared/http/stack.ts';
import { onTable } from '../../shared/persistence/dynamo.ts';
import { itemKey, partitionKey } from '../../shared/persistence/item-keys.ts';
import { commandChannel, type DatabaseCommand } from '../../shared/persistence/mongo-commands.ts';
import { write } from '../../shared/persistence/table.ts';
import * as kinds from '../../shared/persistence/table-keys.ts';
import { deliveriesPerWindow, windowSeconds } from '../../shared/rate-limit/rate-limit.ts';
import { inParallel, tally } from '../support/clients/client.ts';
import { type InvokeOptions, invoke } from '../support/clients/invoke.ts';
import { send, startGateway } from '../support/clients/local-gateway.ts';
import { eventOf, signedHeaders } from '../support/clients/webhook.ts';
import { commandsOf, listenToCommands } from '../support/command-notes.ts';
import { sampleParameters } from '../support/data/route-cases.ts';
import { answerForAws, tableError } from '../support/faults/aws-answers.ts';
import { newMailProject } from '../support/fixtures/mail-project.ts';
import { newProject, type TestProject } from '../support/fixtures/project.ts';

listenToCommands();
Object.assign(process.env, { RATE_LIMIT: '5', AUTH_RATE_LIMIT: '3', CREDENTIAL_RATE_LIMIT: '2' });

const windowMs = 900_000;
const realNow = clock.now;
/** One time for all tests: processes that were begun earlier keep the clock that they were given. */
const begunAt = realNow();
let project: TestProject;

/** Stops the clock `secondsLeft` before the end of a window. */
const stopClock = (secondsLeft: number, windows = 0): void => {
  const now = (Math.floor(begunAt / windowMs) + 1 + windows) * windowMs - secondsLeft * 1000;
  clock.now = () => now;
};

beforeAll(async () => {
  project = await newProject([{ name: 'notes' }]);
});

beforeEach(() => {
  stopClock(600);
});
afterEach(() => {
  clock.now = realNow;
});

/**
 * An unused address, random from a range so large that none occurs twice. Private networks are too small.
 */
const newAddress = (): string => [randomInt(1, 224), randomInt(256), randomInt(256), randomInt(256)].join('.');

const params = { collectionName: 'notes' };
const list = (options: InvokeOptions = {}) => invoke(listDocuments, { key: project.secretKey, params, ...options });

const useUp = async (sourceIp: string): Promise<void> => {
  for (let n = 0; n < 6; n++) await list({ sourceIp });
};

/** `limit/remaining` from the headers. */
const standing = ({ headers }: { headers: Headers }): string =>
  `${headers.get('ratelimit-limit')}/${headers.get('ratelimit-remaining')}`;

describe('the window of all routes', () => {
  test('exactly 5 of 50 concurrent requests are admitted when the limit is 5, and each response has the rest', async () => {
    const sourceIp = newAddress();
    const answers = await inParallel(50, () => list({ sourceIp }));
    expect(tally(answers)).toEqual({ 200: 5, 429: 45 });
    expect(
      answers
        .filter(({ status }) => status === 200)
        .map(standing)
        .sort(),
    ).toEqual(['5/0', '5/1', '5/2', '5/3', '5/4']);
    for (const { status, headers, body } of answers) {
      expect(headers.get('ratelimit-reset')).toBe('600');
      if (status === 200) {
        expect(headers.has('retry-after')).toBe(false);
        continue;
      }
      expect(headers.get('ratelimit-limit')).toBe('5');
      expect(headers.get('ratelimit-remaining')).toBe('0');
      expect(headers.get('retry-after')).toBe('600');
      expect(headers.get('x-request-id')).toBe('test-request');
      expect(headers.get('content-type')).toBe('application/json');
      expect(body).toEqual({
        success: false,
        message: 'Too many requests. Retry in 600 seconds.',
        code: 'RATE_LIMITED',
        requestId: 'test-request',
        docUrl: `${inject('stack').env.DOCS_URL}/reference/errors#rate_limited`,
      });
    }
  });

  test('the limit admits no more requests when several processes count', async () => {
    const sourceIp = newAddress();
    const handlers: LambdaHandler[] = [listDocuments];
    for (let n = 0; n < 2; n++) {
      vi.resetModules();
      handlers.push((await import('../../functions/data/list-documents.ts')).handler);
      (await import('../../shared/core/clock.ts')).clock.now = clock.now;
    }
    const answers = await inParallel(30, (n) =>
      invoke(handlers[n % 3] as LambdaHandler, { key: project.secretKey, params, sourceIp }),
    );
    expect(tally(answers)).toEqual({ 200: 5, 429: 25 });
  });

  test('the limit starts over when the next quarter of an hour begins', async () => {
    const sourceIp = newAddress();
    stopClock(1);
    await useUp(sourceIp);
    const refused = await list({ sourceIp });
    expect(refused).toMatchObject({ status: 429 });
    expect(refused.headers.get('retry-after')).toBe('1');
    stopClock(900, 1);
    const answer = await list({ sourceIp });
    expect([answer.status, standing(answer), answer.headers.get('ratelimit-reset')]).toEqual([200, '5/4', '900']);
    stopClock(1, 1);
    expect(standing(await list({ sourceIp }))).toBe('5/3');
  });

  test('a request costs no write to the table when the limit is exceeded', async () => {
    const sourceIp = newAddress();
    stopClock(300);
    await useUp(sourceIp);
    const commands = await commandsOf(() => inParallel(10, () => list({ sourceIp })));
    expect(commands.filter((command) => command.startsWith('dynamodb'))).toEqual([]);
  });

  test('a request costs no key look-up when the limit is exceeded', async () => {
    const sourceIp = newAddress();
    stopClock(300);
    await useUp(sourceIp);
    const commands = await commandsOf(() =>
      inParallel(10, (n) => list({ sourceIp, key: `sk_live_${String(n).padStart(32, 'x')}` })),
    );
    expect(commands).toEqual([]);
  });

  test('an address has its own limit when another exceeds its limit', async () => {
    const [first, second] = [newAddress(), newAddress()];
    await useUp(first);
    expect((await list({ sourceIp: first })).status).toBe(429);
    expect(standing(await list({ sourceIp: second }))).toBe('5/4');
  });

  test('the limit is shared by a /64 of IPv6 in any spelling, and separate for other networks', async () => {
    const network = `2001:db8:${randomInt(65_536).toString(16)}:${randomInt(4096, 65_536).toString(16)}`;
    for (const [n, tail] of ['::1', '::ffff:1', ':1:2:3:4', '::a:0:1', ':ffff:ffff:ffff:ffff'].entries()) {
      expect(standing(await list({ sourceIp: network + tail }))).toBe(`5/${4 - n}`);
    }
    expect((await list({ sourceIp: `${network}:9:9:9:9` })).status).toBe(429);
    expect((await list({ sourceIp: `2001:db8:${randomInt(65_536).toString(16)}:1::1` })).status).toBe(200);
  });

  test.each([
    'x-forwarded-for',
    'X-Forwarded-For',
    'forwarded',
    'x-real-ip',
    'x-client-ip',
    'true-client-ip',
    'cf-connecting-ip',
    'x-forwarded-host',
    'via',
  ])('the limit ignores the header %s', async (header) => {
    const sourceIp = newAddress();
    await useUp(sourceIp);
    for (const value of [newAddress(), `${newAddress()}, ${newAddress()}`, `for=${newAddress()}`, '127.0.0.1', '']) {
      expect((await list({ sourceIp, headers: { [header]: value } })).status).toBe(429);
    }
  });

  test('reads and writes share one limit when they use any key or none', async () => {
    const sourceIp = newAddress();
    const id = 'f'.repeat(24);
    const key = project.secretKey;
    const requests: [LambdaHandler, InvokeOptions, number][] = [
      [createDocument, { key, params, body: { a: 1 } }, 201],
      [getDocument, { key: project.publishableKey, params: { ...params, id } }, 404],
      [listDocuments, { params }, 401],
      [listProjects, {}, 401],
      [notFound, {}, 404],
    ];
    for (const [n, [handler, options, status]] of requests.entries()) {
      const answer = await invoke(handler, { ...options, sourceIp });
      expect([answer.status, standing(answer)]).toEqual([status, `5/${4 - n}`]);
    }
    expect((await list({ sourceIp })).status).toBe(429);
  });
});

const areas = Object.entries(routes).flatMap(([area, table]) =>
  Object.values(table as Readonly<Record<string, NamedRoute>>).map((route): [string, string, NamedRoute] => [
    area,
    route.id,
    route,
  ]),
);

const handlerOf = async (area: string, id: string): Promise<LambdaHandler> => {
  const file = path.resolve(import.meta.dirname, '../../functions', area, `${id}.ts`);
  return ((await import(file)) as { handler: LambdaHandler }).handler;
};

describe('every route', () => {
  const named = { ...sampleParameters, collectionName: 'users' };
  /** The window with the least left after the first request. */
  const narrowest = ({ credential, path: at }: NamedRoute): string =>
    credential ? '2/1' : at.startsWith('/api/userAuth/') ? '3/2' : '5/4';

  test.each(areas)('429 before any other check when the limit is exceeded: %s/%s', async (area, id, route) => {
    const handler = await handlerOf(area, id);
    const sourceIp = newAddress();
    const first = await invoke(handler, { sourceIp, params: named });
    const isOpen = area === 'dashboard/auth' || area.endsWith('service') || id === 'forward-sign-in';
    expect(first.status).toBeGreaterThanOrEqual(isOpen ? 200 : 400);
    expect(standing(first)).toBe(narrowest(route));
    await useUp(sourceIp);
    for (const options of [
      {},
      { key: 'garbage' },
      { key: project.publishableKey, params: { ...named, id: 'x' } },
      { key: project.secretKey, params: { ...named, collectionName: 'nothing', provider: 'x' }, query: 'limit=x&$a=1' },
      { token: 'garbage', params: { ...named, projectId: 'x' }, body: [] },
      {
        token: project.developer.token,
        params: { ...named, projectId: project.id },
        body: { a: 'x'.repeat(2_000_000) },
      },
    ]) {
      const refused = await invoke(handler, { ...options, sourceIp });
      expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
      expect(standing(refused)).toBe('5/0');
    }
  });

  test('a missing route counts, and a preflight request does not', async () => {
    const gateway = await startGateway((event) => notFound(event as Parameters<LambdaHandler>[0], {} as never));
    try {
      const headers = ['origin', 'https://app.example.com', 'access-control-request-method', 'POST'];
      const ask = () => send(gateway.port, { path: '/nowhere', headers: ['x-forwarded-for', newAddress()] });
      stopClock(900, 5 + randomInt(1_000_000));
      const before = await ask();
      expect(before).toMatchObject({ status: 404, headers: { 'ratelimit-remaining': '4' } });
      for (let n = 0; n < 20; n++) {
        const preflight = await send(gateway.port, { method: 'OPTIONS', path: '/nowhere', headers });
        expect(preflight.status).toBe(204);
        expect(preflight.headers).not.toHaveProperty('ratelimit-limit');
      }
      expect(await ask()).toMatchObject({ status: 404, headers: { 'ratelimit-remaining': '3' } });
    } finally {
      await gateway.close();
    }
  });
});

describe('the narrow windows', () => {
  test('admit 3 requests to user-auth routes, and the headers describe the narrowest window', async () => {
    const sourceIp = newAddress();
    const answers = await inParallel(20, () => invoke(refresh, { sourceIp }));
    expect(tally(answers)).toEqual({ 401: 3, 429: 17 });
    expect(answers.map(standing).filter((text) => text.startsWith('3/')).length).toBe(20);
  });

  test('admit 2 of 50 concurrent requests to all credential routes together', async () => {
    const sourceIp = newAddress();
    const answers = await inParallel(50, (n) => invoke(n % 2 ? signUp : reset, { sourceIp }));
    expect(tally(answers)).toEqual({ 401: 2, 429: 48 });
    expect(new Set(answers.map(standing))).toEqual(new Set(['2/1', '2/0']));
  });

  test('are not in the headers while the window of all routes has fewer requests left', async () => {
    const sourceIp = newAddress();
    for (let n = 0; n < 3; n++) await list({ sourceIp });
    expect(standing(await invoke(refresh, { sourceIp }))).toBe('5/1');
    expect(standing(await invoke(signUp, { sourceIp }))).toBe('5/0');
  });

  test('do not block reads of the address when they are exceeded', async () => {
    const sourceIp = newAddress();
    for (let n = 0; n < 3; n++) await invoke(signUp, { sourceIp });
    expect((await invoke(signUp, { sourceIp })).status).toBe(429);
    const answer = await list({ sourceIp });
    expect([answer.status, standing(answer)]).toEqual([200, '5/1']);
  });

  test('count dashboard credentials separately', async () => {
    const sourceIp = newAddress();
    const wrong = { email: 'nobody@example.com', password: 'wrong-password' };
    const first = await invoke(logIn, { sourceIp, body: wrong });
    expect([first.status, standing(first)]).toEqual([401, '2/1']);
    const second = await invoke(register, { sourceIp, body: {} });
    expect([second.status, standing(second)]).toEqual([400, '2/0']);
    expect((await invoke(logIn, { sourceIp, body: wrong })).status).toBe(429);
    expect(standing(await invoke(signUp, { sourceIp }))).toBe('5/1');
  });

  test('do not count passkey challenges as dashboard credentials', async () => {
    const sourceIp = newAddress();
    for (let n = 0; n < 3; n++) {
      const asked = await invoke(askForPasskey, { sourceIp });
      expect([asked.status, standing(asked)]).toEqual([200, `5/${4 - n}`]);
    }
    const wrong = { email: 'nobody@example.com', password: 'wrong-password' };
    expect((await invoke(logIn, { sourceIp, body: wrong })).status).toBe(401);
  });

  test('admit 2 of 50 concurrent sign-ins with wrong passwords', async () => {
    const sourceIp = newAddress();
    const answers = await inParallel(50, (n) =>
      invoke(logIn, { sourceIp, body: { email: `nobody${n}@example.com`, password: 'wrong-password' } }),
    );
    expect(tally(answers)).toEqual({ 401: 2, 429: 48 });
  });
});

describe('a read that runs in parallel with its count', () => {
  const missing = { ...params, id: 'f'.repeat(24) };
  const readers = {
    list: (options: InvokeOptions) => list(options),
    'a read of one': (options: InvokeOptions) =>
      invoke(getDocument, { key: project.publishableKey, params: missing, ...options }),
    'a read without a key': (options: InvokeOptions) => invoke(listDocuments, { params, ...options }),
    'a read of a collection that there is not': (options: InvokeOptions) =>
      list({ params: { collectionName: 'nothing' }, ...options }),
  };

  /** Uses up the limit as if another process had counted. */
  const useUpElsewhere = async (sourceIp: string): Promise<void> => {
    const key = itemKey(kinds.rateWindow, partitionKey('rate', { source: sourceIp }), {
      start: String(Math.floor(clock.now() / windowMs) * (windowMs / 1000)),
    });
    await write({ update: key, change: 'SET n_all = :n', values: { n: 5 } });
  };

  afterEach(() => {
    vi.restoreAllMocks();
  });

  test('responds after the count when the count is late', async () => {
    const found = Promise.withResolvers<void>();
    const note = (message: unknown): void => {
      if (Object.values((message as DatabaseCommand).command ?? {}).includes('notes')) found.resolve();
    };
    commandChannel.subscribe(note);
    let isCounted = false;
    answerForAws(async (asked, send) => {
      await found.promise;
      const counted = await send(asked);
      isCounted = true;
      return counted;
    });
    const answer = await list({ sourceIp: newAddress() });
    commandChannel.unsubscribe(note);
    expect([answer.status, standing(answer), isCounted]).toEqual([200, '5/4', true]);
  });

  test.each(Object.entries(readers))(
    '429 for %s when the read ends before the count rejects it',
    async (_what, read) => {
      const sourceIp = newAddress();
      await useUpElsewhere(sourceIp);
      const told = vi.spyOn(log, 'info');
      const answer = await read({ sourceIp });
      expect(answer).toMatchObject({
        status: 429,
        body: {
          success: false,
          message: 'Too many requests. Retry in 600 seconds.',
          code: 'RATE_LIMITED',
          requestId: 'test-request',
        },
      });
      expect(Object.keys(answer.body as object)).toHaveLength(5);
      expect([standing(answer), answer.headers.get('retry-after')]).toEqual(['5/0', '600']);
      expect(told).toHaveBeenCalledWith(expect.objectContaining({ status: 429, project: undefined }));
      expect(await commandsOf(() => inParallel(10, () => read({ sourceIp })))).toEqual([]);
    },
  );

  test('200 and 404, uncounted, when the count fails', async () => {
    answerForAws(() => {
      throw tableError('InternalServerError');
    });
    stopClock(700, 1 + randomInt(1_000_000));
    expect((await list({ sourceIp: newAddress() })).status).toBe(200);
    stopClock(600, 1 + randomInt(1_000_000));
    expect((await readers['a read of one']({ sourceIp: newAddress() })).status).toBe(404);
    vi.restoreAllMocks();
    stopClock(900, 1_000_002);
    expect((await list({ sourceIp: newAddress() })).status).toBe(200);
  });

  test('429 for a write that sends only the key look-up to MongoDB when the limit is exceeded', async () => {
    const sourceIp = newAddress();
    await useUpElsewhere(sourceIp);
    const body = { a: 1 };
    const commands = await commandsOf(async () => {
      const answer = await invoke(createDocument, { key: project.secretKey, params, body, sourceIp });
      expect(answer.status).toBe(429);
    });
    expect(commands.filter((command) => !/ (UpdateItemCommand|find|aggregate)$/.test(command))).toEqual([]);
  });
});

describe('deliveries to the webhook of a project', () => {
  const secret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
  const body = eventOf('email.opened', {});
  const deliver = (projectId: string, by = secret, sourceIp = newAddress()) => {
    const timestamp = Math.floor(clock.now() / 1000);
    const headers = by === '' ? {} : signedHeaders(Buffer.from(JSON.stringify(body)), { secret: by, timestamp });
    return invoke(receiveProjectWebhook, { method: 'POST', body, headers, sourceIp, params: { projectId } });
  };
  const newId = (): string => randomBytes(12).toString('hex');

  test('400 before any look-up when the signature is missing', async () => {
    expect((await deliver(newId(), '')).status).toBe(400);
    expect(await commandsOf(() => deliver(newId(), ''))).toEqual(['dynamodb UpdateItemCommand']);
  });

  test('429 when the address is over its limit; at most one project per tenth of a second is looked up', async () => {
    const owned = await newMailProject('free', undefined, { providerWebhookSecret: secret });
    const sourceIp = newAddress();
    await useUp(sourceIp);
    const commands = await commandsOf(async () => {
      for (let n = 0; n < 20; n++) expect((await deliver(newId(), secret, sourceIp)).status).toBe(429);
    });
    expect(commands).toEqual(['mongodb find']);
    expect((await deliver(owned.id, secret, sourceIp)).status).toBe(429);
    stopClock(599);
    expect((await deliver(owned.id, secret, sourceIp)).status).toBe(200);
  });

  test('429 only for this project when its own account has signed more than 10 000, from any address', async () => {
    const [owned, other] = await Promise.all(
      [1, 2].map(() => newMailProject('free', undefined, { providerWebhookSecret: secret })),
    );
    if (!owned || !other) throw new Error('There are no projects');
    const start = Math.floor(clock.now() / 1000 / windowSeconds) * windowSeconds;
    await onTable((dynamo, table) =>
      dynamo.send('UpdateItem', {
        TableName: table,
        Key: { pk: { S: `rate#p#${owned.id}` }, sk: { S: String(start) } },
        UpdateExpression: 'SET n_deliveries = :most',
        ExpressionAttributeValues: { ':most': { N: String(deliveriesPerWindow - 1) } },
      }),
    );
    const last = await deliver(owned.id);
    expect([last.status, standing(last)]).toEqual([200, '10000/0']);
    const over = await inParallel(50, () => deliver(owned.id));
    expect(tally(over)).toEqual({ 429: 50 });
    expect(over[0]?.headers.get('retry-after')).toBe('600');
    expect((await deliver(other.id)).status).toBe(200);
  });
});
