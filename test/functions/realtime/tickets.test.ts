import { SignJWT } from 'jose';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { handler as createTicket } from '../../../functions/realtime/create-ticket.ts';
import { clock } from '../../../shared/core/clock.ts';
import { derivedKey } from '../../../shared/projects/sealed.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { EventSocket } from '../../support/clients/event-socket.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

Object.assign(process.env, { RATE_LIMIT: '0' });

const annId = 'a'.repeat(24);
const realNow = clock.now;
const isPrivate = { rls: { enabled: true, mode: 'private' } };

interface Ticket {
  readonly url: string;
  readonly ticket: string;
  readonly expiresIn: number;
  readonly channels: Readonly<Record<string, string>>;
}

let project: TestProject;
let other: TestProject;
let ann: RequestOptions;
const open = new Set<EventSocket>();

beforeAll(async () => {
  const collections = [
    { name: 'posts', changes: true },
    { name: 'todos', changes: true, ...isPrivate },
    { name: 'quiet' },
  ];
  [project, other] = await Promise.all([newProject(collections), newProject(collections)]);
  ann = { key: project.publishableKey, token: await project.tokenFor(annId) };
});

afterEach(() => {
  clock.now = realNow;
  for (const socket of open) socket.close();
  open.clear();
});

const ask = (collections: unknown, options: RequestOptions = {}, of = project) =>
  of.api<{ success: boolean; data: Ticket; code: string; message: string }>('POST', '/api/realtime/tickets', {
    ...options,
    body: { collections },
  });
const ticketFor = async (collections: readonly string[], options: RequestOptions = {}, of = project) =>
  (await ask(collections, options, of)).body.data;
const connect = async ({ url, ticket }: Pick<Ticket, 'url' | 'ticket'>): Promise<EventSocket> => {
  const socket = await EventSocket.open(url, ticket);
  open.add(socket);
  return socket;
};
const refused = { type: 'subscribe_error', errors: [{ errorType: 'UnauthorizedException' }] };

describe('a ticket', () => {
  test('201 with the URL and one channel per collection', async () => {
    const { status, body } = await ask(['posts', 'todos', 'posts'], ann);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      success: true,
      data: { url: expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+\/event\/realtime$/), expiresIn: 900 },
    });
    const { ticket, channels } = body.data;
    expect(Object.keys(channels).sort()).toEqual(['posts', 'todos']);
    for (const channel of Object.values(channels)) expect(channel).toMatch(/^\/live\/[0-9a-f]{24}\/[a-z0-9-]{1,50}$/);
    const claims = JSON.parse(Buffer.from(ticket.split('.')[1] ?? '', 'base64url').toString());
    expect(claims).toMatchObject({ project: project.id, caller: 'publishable', sub: annId });
    expect(claims.exp - claims.iat).toBe(900);
    const socket = await connect(body.data);
    for (const channel of Object.values(channels)) {
      expect(await socket.subscribe(channel)).toMatchObject({ type: 'subscribe_success' });
    }
  });

  test('names one shared channel for both keys when everyone may list, and a separate one each otherwise', async () => {
    const bob = { key: project.publishableKey, token: await project.tokenFor('b'.repeat(24)) };
    const [mine, bobs, secret] = [
      await ticketFor(['posts', 'todos'], ann),
      await ticketFor(['posts', 'todos'], bob),
      await ticketFor(['posts', 'todos']),
    ];
    expect(new Set([mine, bobs, secret].map(({ channels }) => channels.posts)).size).toBe(1);
    expect(new Set([mine, bobs, secret].map(({ channels }) => channels.todos)).size).toBe(3);
  });

  test.each([
    ['404 for a missing collection', ['posts', 'gone'], {}, 404, 'COLLECTION_NOT_FOUND'],
    ['403 for users', ['Users'], {}, 403, 'USERS_RESERVED'],
    ['409 for a collection without a feed', ['posts', 'quiet'], {}, 409, 'CHANGES_NOT_ENABLED'],
    ['400 for no collections', [], {}, 400, 'VALIDATION_FAILED'],
    ['400 for 21 collections', Array.from({ length: 21 }, () => 'posts'), {}, 400, 'VALIDATION_FAILED'],
    ['400 for a name that is not text', [{ $ne: '' }], {}, 400, 'VALIDATION_FAILED'],
    ['400 for a value that is not a list', 'posts', {}, 400, 'VALIDATION_FAILED'],
  ] as const)('%s', async (_title, collections, options, status, code) => {
    expect(await ask(collections, options)).toMatchObject({ status, body: { success: false, code } });
  });

  test('401 for a private collection without a user, like its list, and with a token of another project', async () => {
    const key = project.publishableKey;
    const foreign = { key, token: await other.tokenFor(annId) };
    for (const options of [{ key }, foreign, { key, token: 'x' }]) {
      const { status, body } = await ask(['posts', 'todos'], options);
      const list = await project.api<{ code: string }>('GET', '/api/data/todos', options);
      expect({ status, code: body.code }).toEqual({ status: 401, code: list.body.code });
    }
    expect((await ask(['posts'], foreign)).status).toBe(201);
  });

  test('200 without a ticket when live updates are not deployed; errors come first', async () => {
    delete process.env.REALTIME_URL;
    const asked = (collections: readonly string[], options: RequestOptions = { key: project.secretKey }) =>
      invoke(createTicket, { ...options, method: 'POST', body: { collections } });
    expect(await asked(['posts'])).toMatchObject({
      status: 200,
      body: { success: true, data: { url: null, ticket: null, expiresIn: 0, channels: {} } },
    });
    expect(await asked(['quiet'])).toMatchObject({ status: 409, body: { code: 'CHANGES_NOT_ENABLED' } });
    expect(await asked(['todos'], { key: project.publishableKey })).toMatchObject({ status: 401 });
    const { _id: id } = (await project.api<{ _id: string }>('POST', '/api/data/posts', { body: {} })).body;
    const room = (of: object) =>
      invoke(createTicket, { key: project.secretKey, method: 'POST', body: { rooms: [{ of }] } });
    expect(await room({ collection: 'posts', id })).toMatchObject({ status: 200, body: { data: { rooms: [] } } });
    expect(await room({ collection: 'todos', id })).toMatchObject({
      status: 404,
      body: { code: 'DOCUMENT_NOT_FOUND' },
    });
  });
});

describe('the connection rejects', () => {
  test('a missing, altered or expired ticket, and one of another kind', async () => {
    const { url, ticket } = await ticketFor(['posts']);
    const [head = '', claims = '', signature = ''] = ticket.split('.');
    const wider = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(claims, 'base64url').toString()), exp: 9_999_999_999 }),
    ).toString('base64url');
    const key = await derivedKey('realtime tickets');
    const signed = (typ: string, audience: string, exp: number, alg = 'HS256') =>
      new SignJWT({ channels: [] })
        .setProtectedHeader({ alg, typ })
        .setAudience(audience)
        .setIssuedAt()
        .setExpirationTime(exp);
    const soon = Math.floor(Date.now() / 1000) + 60;
    const none = `${Buffer.from('{"alg":"none","typ":"realtime+jwt"}').toString('base64url')}.${claims}.`;
    const bad = [
      '',
      'x',
      none,
      `${head}.${wider}.${signature}`,
      `${head}.${claims}.${signature.slice(0, -4)}AAAA`,
      await signed('realtime+jwt', 'realtime', soon - 120).sign(key),
      await signed('access+jwt', 'realtime', soon).sign(key),
      await signed('realtime+jwt', 'dashboard', soon).sign(key),
      await signed('realtime+jwt', 'realtime', soon).sign(await derivedKey('dashboard tokens')),
      ann.token ?? '',
      project.secretKey,
    ];
    for (const wrong of bad) await expect(EventSocket.open(url, wrong), wrong).rejects.toThrow('not let in');
    await connect({ url, ticket: await signed('realtime+jwt', 'realtime', soon).sign(key) });
  });

  test('channels that the ticket does not contain: of other users, other projects, wildcards and invalid ones', async () => {
    const mine = await ticketFor(['posts', 'todos'], ann);
    const secret = await ticketFor(['posts', 'todos']);
    const foreign = await ticketFor(['posts', 'todos'], {}, other);
    const socket = await connect(mine);
    const [, , collection = ''] = mine.channels.posts?.split('/') ?? [];
    const wrong = [
      secret.channels.todos ?? '',
      foreign.channels.posts ?? '',
      foreign.channels.todos ?? '',
      '/live/*',
      `/live/${collection}/*`,
      `/live/${collection}`,
      `/live/${collection}/all/more`,
      '/other/all',
    ];
    for (const channel of wrong) expect(await socket.subscribe(channel), channel).toMatchObject(refused);
    for (const channel of ['*', '', '/live/a b', `/live/${'x'.repeat(51)}`]) {
      expect(await socket.subscribe(channel, `bad ${channel}`)).toMatchObject({ type: 'subscribe_error' });
    }
    expect(await socket.subscribe(mine.channels.posts ?? '')).toMatchObject({ type: 'subscribe_success' });
    expect(await socket.subscribe(mine.channels.todos ?? '', 'expired', 'x')).toMatchObject(refused);
    expect(await socket.subscribe(foreign.channels.posts ?? '', 'theirs', foreign.ticket)).toMatchObject({
      type: 'subscribe_success',
    });
  });

  test('publishing over the socket and over HTTP, with any ticket or key', async () => {
    const { url, ticket, channels } = await ticketFor(['posts']);
    const [socket, listener] = [await connect({ url, ticket }), await connect({ url, ticket })];
    const channel = channels.posts ?? '';
    await listener.subscribe(channel);
    socket.send({ type: 'publish', id: 'p', channel, events: ['{}'], authorization: { Authorization: ticket } });
    expect(await socket.next(({ id }) => id === 'p')).toMatchObject({
      type: 'publish_error',
      errors: [{ errorType: 'UnauthorizedException' }],
    });
    const address = url.replace('ws:', 'http:').replace('/realtime', '');
    const body = JSON.stringify({ channel, events: ['{}'] });
    const credential = 'AWS4-HMAC-SHA256 Credential=local/20260101/eu-west-1/appsync/aws4_request';
    for (const authorization of [
      undefined,
      ticket,
      `Bearer ${ticket}`,
      `${credential}, SignedHeaders=host, Signature=0`,
    ]) {
      const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
      expect((await fetch(address, { method: 'POST', headers, body })).status).toBe(401);
    }
    const { _id } = (await project.api<{ _id: string }>('POST', '/api/data/posts', { body: { n: 1 } })).body;
    await listener.nudgeOf(_id, 1);
    expect(listener.nudges).toHaveLength(1);
  });

  test('messages outside the protocol, and stays open', async () => {
    const socket = await connect(await ticketFor(['posts']));
    for (const message of [
      {},
      { type: 'subscribe' },
      { type: 'stop', id: '1' },
      { type: 'unsubscribe', id: '2' },
      [],
    ]) {
      socket.send(message);
    }
    await socket.next(({ type }) => type === 'unsubscribe_error');
    socket.send({ type: 'connection_init' });
    await socket.next(() => socket.received.filter(({ type }) => type === 'connection_ack').length === 2);
    expect(socket.received.filter(({ type }) => type === 'error')).toHaveLength(4);
  });
});
