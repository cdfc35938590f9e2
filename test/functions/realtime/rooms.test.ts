import { SignJWT } from 'jose';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as authorizeChannel } from '../../../functions/jobs/authorize-channel.ts';
import { handler as createTicket } from '../../../functions/realtime/create-ticket.ts';
import { clock } from '../../../shared/core/clock.ts';
import { derivedKey } from '../../../shared/projects/sealed.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { EventSocket } from '../../support/clients/event-socket.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { claimsOf, newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();
Object.assign(process.env, { RATE_LIMIT: '0' });

interface Of {
  readonly collection: string;
  readonly id: string;
}
interface Ticket {
  readonly url: string;
  readonly ticket: string;
  readonly expiresIn: number;
  readonly channels: Readonly<Record<string, string>>;
  readonly rooms: readonly { readonly of: Of; readonly channel: string }[];
}
interface Body {
  readonly code?: string;
  readonly data: Ticket;
}
type User = Required<Pick<RequestOptions, 'key' | 'token'>> & { readonly userId: string };

const inSpace = { space: { $in: { $from: 'members', select: 'space', where: { user: { $user: '_id' } } } } };

let project: UsersProject;
let ann: User;
let bob: User;
let guest: User;
let anyone: RequestOptions;
const open = new Set<EventSocket>();

const insert = async (collection: string, body: object, options: RequestOptions = {}): Promise<string> => {
  const { status, body: made } = await project.api<{ _id: string }>('POST', `/api/data/${collection}`, {
    ...options,
    body,
  });
  expect(status).toBe(201);
  return made._id;
};
const newBoard = async (space = 'a'): Promise<Of> => ({ collection: 'boards', id: await insert('boards', { space }) });

const signedIn = async (): Promise<User> => {
  const { accessToken, userId } = await project.newUser();
  return { key: project.publishableKey, token: accessToken, userId };
};

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { anonymous: true } } });
  await project.addCollection({ name: 'posts', changes: true });
  await project.addCollection({ name: 'todos', rls: { enabled: true, mode: 'private' } });
  await project.addCollection({
    name: 'members',
    schema: [
      { key: 'space', type: 'String', required: true },
      { key: 'user', type: 'Ref', ref: 'users', required: true },
    ],
  });
  await project.addCollection({
    name: 'boards',
    schema: [{ key: 'space', type: 'String', required: true }],
    rls: { enabled: true, mode: 'rules', ownerField: null, rules: { read: inSpace } },
  });
  [ann, bob] = await Promise.all([signedIn(), signedIn()]);
  for (const { userId } of [ann, bob]) await insert('members', { space: 'a', user: userId });
  anyone = { key: project.publishableKey };
  const { body } = await project.auth<{ accessToken: string; userId: string }>('POST', 'anonymous');
  guest = { key: project.publishableKey, token: body.accessToken, userId: body.userId };
});

afterEach(() => {
  vi.restoreAllMocks();
  for (const socket of open) socket.close();
  open.clear();
});

const ask = (body: object, options: RequestOptions = {}) =>
  project.api<Body>('POST', '/api/realtime/tickets', { ...options, body });
const ticketFor = async (of: Of, options: RequestOptions = {}): Promise<Ticket> => {
  const { status, body } = await ask({ rooms: [{ of }] }, options);
  expect([status, body.code]).toEqual([201, undefined]);
  return body.data;
};
/** The ticket that the service gives a user in some seconds. */
const laterTicket = async (of: Of, caller: { readonly key: string; readonly token?: string }, seconds: number) => {
  const now = Date.now();
  vi.spyOn(clock, 'now').mockReturnValue(now + seconds * 1000);
  const answer = await invoke(createTicket, { ...caller, method: 'POST', body: { rooms: [{ of }] } });
  vi.restoreAllMocks();
  return answer as unknown as { readonly status: number; readonly body: Body };
};
const connect = async ({ url, ticket }: Pick<Ticket, 'url' | 'ticket'>): Promise<EventSocket> => {
  const socket = await EventSocket.open(url, ticket);
  open.add(socket);
  return socket;
};
/** A user in a room, subscribed. */
const enter = async (of: Of, options: RequestOptions) => {
  const issued = await ticketFor(of, options);
  const channel = issued.rooms[0]?.channel ?? '';
  const socket = await connect(issued);
  expect(await socket.subscribe(channel)).toMatchObject({ type: 'subscribe_success' });
  return { socket, channel, ticket: issued.ticket, url: issued.url };
};
const refused = { type: 'publish_error', errors: [{ errorType: 'UnauthorizedException' }] };
const json = (event: unknown): string => JSON.stringify(event);

describe('a ticket for rooms', () => {
  test('201 with a channel for each room, without collections or a feed', async () => {
    const [board, todo] = [await newBoard(), { collection: 'todos', id: await insert('todos', {}, ann) }];
    const { status, body } = await ask({ rooms: [{ of: board }, { of: todo }, { of: board }] }, ann);
    expect(status).toBe(201);
    const { rooms, channels, expiresIn, ticket } = body.data;
    expect(channels).toEqual({});
    expect(rooms.map(({ of }) => of)).toEqual([board, todo, board]);
    for (const { channel } of rooms) expect(channel).toMatch(/^\/rooms\/[0-9a-f]{32}\/[0-9a-z]{1,9}$/);
    expect(rooms[0]).toEqual(rooms[2]);
    expect(expiresIn).toBeGreaterThan(0);
    expect(expiresIn).toBeLessThanOrEqual(900);
    const { exp, iat } = claimsOf(ticket) as { readonly exp: number; readonly iat: number };
    expect(exp - iat).toBe(expiresIn + 10);
    expect((await ticketFor(board, bob)).rooms).toEqual([rooms[0]]);
  });

  test('201 with collections as well, and none of the rooms without them', async () => {
    const board = await newBoard();
    const both = (await ask({ collections: ['posts'], rooms: [{ of: board }] }, ann)).body.data;
    expect([Object.keys(both.channels), both.rooms.length]).toEqual([['posts'], 1]);
    const socket = await connect(both);
    for (const channel of [both.channels.posts, both.rooms[0]?.channel]) {
      expect(await socket.subscribe(channel ?? '')).toMatchObject({ type: 'subscribe_success' });
    }
    expect((await ask({ collections: ['posts'] }, ann)).body.data).not.toHaveProperty('rooms');
    expect((await ask({ collections: [], rooms: [{ of: board }] }, ann)).status).toBe(201);
  });

  test('404 DOCUMENT_NOT_FOUND for the whole ticket if one document is hidden, missing or in the trash', async () => {
    const [board, hidden, trashed] = [await newBoard(), await newBoard('b'), await newBoard()];
    await project.api('DELETE', `/api/data/boards/${trashed.id}`);
    const todo = { collection: 'todos', id: await insert('todos', {}, bob) };
    for (const of of [hidden, trashed, todo, { collection: 'boards', id: 'f'.repeat(24) }]) {
      const { status, body } = await ask({ collections: ['posts'], rooms: [{ of: board }, { of }] }, ann);
      expect([status, body.code], json(of)).toEqual([404, 'DOCUMENT_NOT_FOUND']);
    }
  });

  const some = { collection: 'posts', id: 'a'.repeat(24) };
  test.each([
    ['400 without rooms and collections', {}, 400, 'VALIDATION_FAILED'],
    ['400 for empty rooms and collections', { collections: [], rooms: [] }, 400, 'VALIDATION_FAILED'],
    ['400 for 21 rooms', { rooms: Array.from({ length: 21 }, () => ({ of: some })) }, 400, 'VALIDATION_FAILED'],
    ['400 for a room without a document', { rooms: [{}] }, 400, 'VALIDATION_FAILED'],
    ['400 for an operator as id', { rooms: [{ of: { ...some, id: { $ne: '' } } }] }, 400, 'VALIDATION_FAILED'],
    ['400 for another member of a room', { rooms: [{ of: some, user: 'x' }] }, 400, 'VALIDATION_FAILED'],
    ['400 for a malformed id', { rooms: [{ of: { ...some, id: 'x' } }] }, 400, 'INVALID_ID'],
    ['403 for users', { rooms: [{ of: { ...some, collection: 'users' } }] }, 403, 'USERS_RESERVED'],
    ['404 for a missing collection', { rooms: [{ of: { ...some, collection: 'none' } }] }, 404, 'COLLECTION_NOT_FOUND'],
  ] as const)('%s', async (_title, body, status, code) => {
    expect(await ask(body)).toMatchObject({ status, body: { code } });
  });

  test('401 TOKEN_MISSING without a user if only a user could read the document', async () => {
    for (const of of [await newBoard(), { collection: 'todos', id: await insert('todos', {}, ann) }]) {
      const { status, body } = await ask({ rooms: [{ of }] }, anyone);
      expect([status, body.code]).toEqual([401, 'TOKEN_MISSING']);
    }
  });

  test('costs one query for each collection, those of its rule, and one for the user', async () => {
    const boards = await Promise.all(Array.from({ length: 20 }, () => newBoard()));
    const body = { rooms: boards.map((of) => ({ of })) };
    const run = () => invoke(createTicket, { key: ann.key, token: ann.token, method: 'POST', body });
    expect((await run()).status).toBe(201);
    expect(await commandsOf(run)).toHaveLength(3);
  });
});

describe('an event', () => {
  test('reaches everyone in the room, with the user of the ticket instead of the one that the client claims', async () => {
    const board = await newBoard();
    const [anns, bobs] = [await enter(board, ann), await enter(board, bob)];
    const event = { type: 'cursor', at: [1, 2], userId: ann.userId };
    expect(await bobs.socket.publish(bobs.channel, [json(event), json({ n: 2 })])).toMatchObject({
      type: 'publish_success',
    });
    await anns.socket.next(() => anns.socket.events.length === 2);
    expect(anns.socket.events).toEqual([
      { ...event, userId: bob.userId },
      { n: 2, userId: bob.userId },
    ]);
  });

  test('may have 1024 bytes of JSON; a larger one, and what is no JSON object, gets publish_error', async () => {
    const { socket, channel } = await enter(await newBoard(), ann);
    const sized = (bytes: number): string =>
      json({ t: 'ä'.repeat(Math.floor((bytes - 8) / 2)), ...(bytes % 2 && { a: 0 }) });
    expect(Buffer.byteLength(sized(1024))).toBe(1024);
    expect(await socket.publish(channel, [sized(1024)])).toMatchObject({ type: 'publish_success' });
    const bad = [sized(1026), sized(2048), '[]', 'null', '"x"', '1', '{'];
    for (const event of bad) {
      const { socket: own, channel: room } = await enter(await newBoard(), bob);
      expect(await own.publish(room, [json({}), event].slice(event === '{' ? 1 : 0)), event).toMatchObject({
        type: 'publish_error',
        errors: [{ errorType: 'BadRequestException' }],
      });
    }
    for (const events of [[], Array.from({ length: 6 }, () => '{}'), '{}', undefined]) {
      expect(await socket.publish(channel, events)).toMatchObject({ type: 'publish_error' });
    }
    expect(socket.events).toHaveLength(1);
  });

  test('above five a second gets publish_error: of 100 together at most those of the elapsed time arrive', async () => {
    const board = await newBoard();
    const [anns, bobs] = [await enter(board, ann), await enter(board, bob)];
    const begun = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => bobs.socket.publish(bobs.channel, [json({ n })])),
    );
    const most = 5 + Math.ceil((performance.now() - begun) / 200);
    const taken = answers.filter(({ type }) => type === 'publish_success').length;
    expect(taken).toBeGreaterThanOrEqual(5);
    expect(taken).toBeLessThanOrEqual(most);
    const others = answers.filter(({ type }) => type !== 'publish_success');
    for (const answer of others) expect(answer).toMatchObject({ errors: [{ errorType: 'LimitExceededError' }] });
    expect(await anns.socket.publish(anns.channel, ['{}'])).toMatchObject({ type: 'publish_success' });
    await anns.socket.next(() => anns.socket.events.some(({ userId }) => userId === ann.userId));
    expect(anns.socket.events).toHaveLength(taken + 1);
  });

  test('is taken over HTTP too, from the same tickets', async () => {
    const board = await newBoard();
    const [anns, bobs, guests] = [await enter(board, ann), await ticketFor(board, bob), await ticketFor(board)];
    const post = (ticket: string, channel: string) =>
      fetch(anns.url.replace('ws:', 'http:').replace('/realtime', ''), {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: ticket },
        body: json({ channel, events: [json({ userId: 'x' })] }),
      });
    expect((await post(guests.ticket, anns.channel)).status).toBe(401);
    expect((await post('x', anns.channel)).status).toBe(401);
    expect((await post(bobs.ticket, anns.channel)).status).toBe(200);
    await anns.socket.next(() => anns.socket.events.length > 0);
    expect(anns.socket.events).toEqual([{ userId: bob.userId }]);
  });
});

describe('publishing is rejected', () => {
  test('from anonymous users, from callers without a user, and from the secret key, who all listen', async () => {
    const post = { collection: 'posts', id: await insert('posts', {}) };
    const anns = await enter(post, ann);
    const sockets: EventSocket[] = [];
    for (const options of [guest, anyone, {}]) {
      const { socket, channel } = await enter(post, options);
      expect(await socket.publish(channel, ['{}'])).toMatchObject(refused);
      sockets.push(socket);
    }
    await anns.socket.publish(anns.channel, [json({ n: 1 })]);
    for (const socket of sockets) {
      await socket.next(() => socket.events.length > 0);
      expect(socket.events).toEqual([{ n: 1, userId: ann.userId }]);
    }
  });

  test('on channels of data, on other rooms, on wildcards and without a ticket', async () => {
    const [board, other] = [await newBoard(), await newBoard('b')];
    const post = { collection: 'posts', id: await insert('posts', {}) };
    const issued = (await ask({ collections: ['posts'], rooms: [{ of: board }] }, ann)).body.data;
    const [live, mine] = [issued.channels.posts ?? '', issued.rooms[0]?.channel ?? ''];
    const theirs = (await ticketFor(other)).rooms[0]?.channel ?? '';
    const publics = (await ticketFor(post, ann)).rooms[0]?.channel ?? '';
    const socket = await connect(issued);
    const listener = await connect((await ask({ collections: ['posts'], rooms: [{ of: other }] })).body.data);
    for (const channel of [live, theirs]) await listener.subscribe(channel);
    for (const channel of [live, theirs, publics, `${mine}/x`, '/rooms/x']) {
      expect(await socket.publish(channel, ['{}']), channel).toMatchObject(refused);
    }
    // In a deployment, this decision of the function protects the channels of data as well.
    const decide = (channel: string) =>
      authorizeChannel({
        authorizationToken: issued.ticket,
        requestContext: { operation: 'EVENT_PUBLISH', channel },
      });
    expect(await decide(live)).toEqual({ isAuthorized: false, ttlOverride: 0 });
    expect(await decide(mine)).toEqual({
      isAuthorized: true,
      ttlOverride: 0,
      handlerContext: { userId: ann.userId },
    });
    for (const channel of ['/rooms/*', '*', '']) {
      expect(await socket.publish(channel, ['{}']), channel).toMatchObject({ type: 'publish_error' });
    }
    for (const ticket of ['', 'x', ann.token ?? '', project.publishableKey]) {
      expect(await socket.publish(mine, ['{}'], ticket), ticket).toMatchObject(refused);
    }
    expect(await socket.subscribe(theirs)).toMatchObject({ type: 'subscribe_error' });
    const { _id } = (await project.api<{ _id: string }>('POST', '/api/data/posts', { body: {} })).body;
    await listener.nudgeOf(_id, 1);
    expect(listener.events).toHaveLength(1);
  });

  test('with an altered, foreign or expired ticket, also one of the room', async () => {
    const { socket, channel, ticket } = await enter(await newBoard(), ann);
    const [head = '', , signature = ''] = ticket.split('.');
    const wider = Buffer.from(json({ ...claimsOf(ticket), sub: bob.userId })).toString('base64url');
    const signed = async (claims: object, key: Parameters<SignJWT['sign']>[0], seconds: number) =>
      new SignJWT({ ...claimsOf(ticket), ...claims })
        .setProtectedHeader({ alg: 'HS256', typ: 'realtime+jwt' })
        .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
        .sign(key);
    const key = await derivedKey('realtime tickets');
    const bad = [
      `${head}.${wider}.${signature}`,
      await signed({}, await derivedKey('dashboard tokens'), 60),
      await signed({}, key, -1),
      await signed({ publishes: 'yes' }, key, 60),
      await signed({ sub: undefined }, key, 60),
    ];
    for (const each of bad) expect(await socket.publish(channel, ['{}'], each), each).toMatchObject(refused);
    expect(await socket.publish(channel, ['{}'], await signed({}, key, 60))).toMatchObject({ type: 'publish_success' });
  });
});

describe('access that ends', () => {
  test('ends what the user hears and says: the channel has another name after at most 15 minutes', async () => {
    const board = await newBoard();
    const eve = await signedIn();
    const membership = await insert('members', { space: 'a', user: eve.userId });
    const [eves, anns] = [await enter(board, eve), await enter(board, ann)];
    expect(eves.channel).toBe(anns.channel);
    await project.api('DELETE', `/api/data/members/${membership}?permanent=true`);
    const { expiresIn } = await ticketFor(board, ann);
    expect(await ask({ rooms: [{ of: board }] }, eve)).toMatchObject({
      status: 404,
      body: { code: 'DOCUMENT_NOT_FOUND' },
    });
    expect(await laterTicket(board, eve, expiresIn)).toMatchObject({ status: 404 });
    const next = (await laterTicket(board, ann, expiresIn + 1)).body.data;
    const channel = next.rooms[0]?.channel ?? '';
    expect(channel).not.toBe(anns.channel);
    expect(channel.split('/')[2]).toBe(anns.channel.split('/')[2]);
    const bobs = await connect((await laterTicket(board, bob, expiresIn + 1)).body.data);
    await bobs.subscribe(channel);
    const moved = await connect(next);
    expect(await moved.publish(channel, [json({ n: 1 })])).toMatchObject({ type: 'publish_success' });
    await bobs.next(() => bobs.events.length > 0);
    expect(await eves.socket.subscribe(channel)).toMatchObject({ type: 'subscribe_error' });
    expect(await eves.socket.publish(channel, ['{}'])).toMatchObject(refused);
    expect([bobs.events, eves.socket.events]).toEqual([[{ n: 1, userId: ann.userId }], []]);
  });

  test('is seen within the period: each room has one channel for 15 minutes, and then another', async () => {
    const board = await newBoard();
    const { expiresIn } = await ticketFor(board, ann);
    const after: (string | undefined)[] = [];
    for (const seconds of [expiresIn - 5, expiresIn + 5, expiresIn + 895, expiresIn + 905]) {
      after.push((await laterTicket(board, { key: project.secretKey }, seconds)).body.data.rooms[0]?.channel);
    }
    expect(after[1]).toBe(after[2]);
    expect(new Set(after).size).toBe(3);
  });

  test('of a deleted or disabled user ends publishing with the next ticket', async () => {
    const eve = await signedIn();
    const post = { collection: 'posts', id: await insert('posts', {}) };
    expect(claimsOf((await ticketFor(post, eve)).ticket)).toMatchObject({ publishes: true, sub: eve.userId });
    const path = `/api/projects/${project.id}/users/${eve.userId}`;
    expect((await project.developer.dashboard('DELETE', path)).status).toBe(200);
    expect(claimsOf((await ticketFor(post, eve)).ticket)).not.toHaveProperty('publishes');
  });
});
