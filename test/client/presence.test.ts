import { afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { type AnyShape, type Basalt, basalt, type Options } from '../../client/src/index.ts';
import { type Member, type Presence, presence, type RoomEvent } from '../../client/src/presence.ts';
import { eventually } from '../support/clients/eventually.ts';
import { newCredentials, newUsersProject, type UsersProject } from '../support/fixtures/users.ts';

type App = Basalt<Record<string, AnyShape>>;

let project: UsersProject;
const rooms = new Set<Presence>();

beforeAll(async () => {
  project = await newUsersProject({ settings: { signIn: { anonymous: true } } });
  await project.addCollection({ name: 'posts', changes: true, rls: { enabled: true } });
  await project.addCollection({ name: 'todos', rls: { enabled: true, mode: 'private' } });
});

afterEach(() => {
  for (const room of rooms) room.close();
  rooms.clear();
  vi.unstubAllGlobals();
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const appOf = (options: Options = {}): App => basalt(inject('stack').baseUrl, project.publishableKey, options);
const signedIn = async (options: Options = {}) => {
  const app = appOf(options);
  const { user } = await app.auth.signup(newCredentials());
  return { app, userId: user._id };
};
const newPost = async () => {
  const server = basalt(inject('stack').baseUrl, project.secretKey);
  return { collection: 'posts', id: (await server.collection('posts').insert({}))._id };
};

interface Entered {
  readonly room: Presence;
  readonly shown: (readonly Member[])[];
  readonly events: RoomEvent[];
  readonly here: () => readonly string[];
}

const enter = (app: App, of: { readonly collection: string; readonly id: string }, state?: object): Entered => {
  const shown: (readonly Member[])[] = [];
  const events: RoomEvent[] = [];
  const onEvent = (event: RoomEvent) => events.push(event);
  const room = presence(app, { of, onEvent, ...(state && { state }) }, (members) => shown.push(members));
  rooms.add(room);
  return { room, shown, events, here: () => (shown.at(-1) ?? []).map(({ userId }) => userId).sort() };
};

describe('presence', () => {
  test('shows members and their state when they enter, change it and leave', async () => {
    const of = await newPost();
    const [ann, bob] = [await signedIn(), await signedIn()];
    const anns = enter(ann.app, of, { name: 'Ann' });
    await eventually(() => expect(anns.shown.at(-1)).toEqual([{ userId: ann.userId, state: { name: 'Ann' } }]));
    const bobs = enter(bob.app, of, { name: 'Bob' });
    const both = [ann.userId, bob.userId].sort();
    await eventually(() => expect([anns.here(), bobs.here()]).toEqual([both, both]));
    bobs.room.set({ name: 'Bob', typing: true });
    const stateOf = () => anns.shown.at(-1)?.find(({ userId }) => userId === bob.userId)?.state;
    await eventually(() => expect(stateOf()).toEqual({ name: 'Bob', typing: true }));
    bobs.room.close();
    await eventually(() => expect(anns.here()).toEqual([ann.userId]));
    const last = bobs.shown.length;
    anns.room.set({ name: 'Ada' });
    await eventually(() => expect(anns.shown.at(-1)).toEqual([{ userId: ann.userId, state: { name: 'Ada' } }]));
    expect(bobs.shown).toHaveLength(last);
  });

  test('shows a user with two pages as one member, until the last page leaves', async () => {
    const of = await newPost();
    const [ann, bob] = [await signedIn(), await signedIn()];
    const anns = enter(ann.app, of);
    const [first, second] = [enter(bob.app, of), enter(bob.app, of)];
    const both = [ann.userId, bob.userId].sort();
    await eventually(() => expect([anns.here(), first.here(), second.here()]).toEqual([both, both, both]));
    first.room.close();
    second.room.send({ n: 1 });
    await eventually(() => expect(anns.events).toEqual([{ n: 1, userId: bob.userId }]));
    expect(anns.here()).toEqual(both);
    second.room.close();
    await eventually(() => expect(anns.here()).toEqual([ann.userId]));
  });

  test('sends events to the others with the user of the session, and the newest of many', async () => {
    const of = await newPost();
    const [ann, bob] = [await signedIn(), await signedIn()];
    const [anns, bobs] = [enter(ann.app, of), enter(bob.app, of)];
    await eventually(() => expect([anns.here().length, bobs.here().length]).toEqual([2, 2]));
    const told = vi.spyOn(WebSocket.prototype, 'send');
    for (let n = 0; n < 100; n += 1) bobs.room.send({ n, userId: ann.userId, $is: 'left' });
    await eventually(() => expect(anns.events.at(-1)).toEqual({ n: 99, userId: bob.userId }));
    expect(anns.events.every(({ userId }) => userId === bob.userId)).toBe(true);
    expect(told.mock.calls.length).toBeLessThan(10);
    expect(bobs.events).toEqual([]);
    expect(anns.here()).toHaveLength(2);
  });

  test('lets anonymous users and pages without a user listen only, and reports what they send', async () => {
    const of = await newPost();
    const reported = vi.fn();
    vi.stubGlobal('reportError', reported);
    const [ann, guest] = [await signedIn(), appOf()];
    await guest.auth.anonymous();
    const anns = enter(ann.app, of);
    const listeners = [enter(guest, of), enter(appOf(), of)];
    for (const { here } of listeners) await eventually(() => expect(here()).toEqual([ann.userId]));
    expect(reported).not.toHaveBeenCalled();
    for (const { room } of listeners) room.send({ n: 1 });
    await eventually(() => expect(reported).toHaveBeenCalledTimes(2));
    expect(String(reported.mock.calls[0])).toContain('UnauthorizedException');
    anns.room.send({ n: 2 });
    for (const { events } of listeners) await eventually(() => expect(events).toEqual([{ n: 2, userId: ann.userId }]));
    expect([anns.here(), anns.events]).toEqual([[ann.userId], []]);
  });

  test('shares the socket of live lists', async () => {
    const sockets: unknown[] = [];
    const Real = WebSocket;
    vi.stubGlobal(
      'WebSocket',
      class extends Real {
        constructor(url: string, protocols: string[]) {
          super(url, protocols);
          sockets.push(this);
        }
      },
    );
    const of = await newPost();
    const { app, userId } = await signedIn();
    const lists: unknown[][] = [];
    const end = app.collection('posts').live({}, (documents) => lists.push(documents));
    await eventually(() => expect(lists.length).toBeGreaterThan(0));
    await eventually(() => expect(sockets).toHaveLength(1));
    const { here } = enter(app, of);
    await eventually(() => expect(here()).toEqual([userId]));
    expect(sockets).toHaveLength(1);
    end();
  });

  test.each([
    [
      '404 DOCUMENT_NOT_FOUND for a missing document',
      { collection: 'posts', id: 'f'.repeat(24) },
      'DOCUMENT_NOT_FOUND',
    ],
    ['401 TOKEN_MISSING for a private one', { collection: 'todos', id: 'f'.repeat(24) }, 'TOKEN_MISSING'],
  ])('%s is reported and ends it', async (_title, of, code) => {
    const reported = Promise.withResolvers<unknown>();
    vi.stubGlobal('reportError', reported.resolve);
    const { shown } = enter(appOf(), of);
    expect(await reported.promise).toMatchObject({ name: 'BasaltError', code });
    expect(shown).toEqual([]);
  });

  test('rejects events and states of more than 950 bytes, and continues when a callback throws', async () => {
    const of = await newPost();
    const reported = vi.fn();
    vi.stubGlobal('reportError', reported);
    const [ann, bob] = [await signedIn(), await signedIn()];
    const throwing = presence(ann.app, { of }, () => {
      throw new Error('of the app');
    });
    rooms.add(throwing);
    await eventually(() => expect(reported).toHaveBeenCalled());
    const sized = (bytes: number) => ({ t: 'x'.repeat(bytes - 8) });
    const bobs = enter(bob.app, of, sized(950));
    await eventually(() => expect(bobs.here()).toHaveLength(2));
    for (const act of [bobs.room.send, bobs.room.set]) expect(() => act(sized(951))).toThrow(RangeError);
    expect(() => presence(bob.app, { of, state: sized(951) }, () => 0)).toThrow(RangeError);
    const anns = enter(ann.app, of);
    await eventually(() => expect(anns.here()).toHaveLength(2));
    bobs.room.send(sized(950));
    await eventually(() => expect(anns.events).toEqual([{ ...sized(950), userId: bob.userId }]));
  });

  test('moves to the new channel when the old one ends, and keeps the members', async () => {
    const of = await newPost();
    let tickets = 0;
    const soon: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      if (!String(input).endsWith('/tickets')) return answer;
      tickets += 1;
      const body = (await answer.json()) as { readonly data: object };
      return Response.json({ ...body, data: { ...body.data, expiresIn: tickets === 1 ? 1 : 900 } });
    };
    const [ann, bob] = [await signedIn({ fetch: soon }), await signedIn()];
    const [anns, bobs] = [enter(ann.app, of), enter(bob.app, of)];
    await eventually(() => expect([anns.here().length, bobs.here().length, tickets]).toEqual([2, 2, 2]));
    await eventually(() => {
      bobs.room.send({ n: 1 });
      expect(anns.events.length).toBeGreaterThan(0);
    });
    anns.room.send({ n: 2 });
    await eventually(() => expect(bobs.events).toEqual([{ n: 2, userId: ann.userId }]));
    expect([anns.shown, bobs.shown].flat().filter(({ length }) => length === 0).length).toBeLessThanOrEqual(2);
  });

  test('removes a member that has not been heard of for 75 seconds', async () => {
    const of = await newPost();
    const [ann, bob] = [await signedIn(), await signedIn()];
    vi.useFakeTimers({ toFake: ['setInterval', 'performance'] });
    const anns = enter(ann.app, of);
    const bobs = enter(bob.app, of);
    await eventually(() => expect([anns.here().length, bobs.here().length]).toEqual([2, 2]));
    // Bob's page is gone without a word.
    const closed = vi.spyOn(WebSocket.prototype, 'send').mockImplementation(() => undefined);
    bobs.room.close();
    closed.mockRestore();
    for (let beats = 0; beats < 3; beats += 1) {
      vi.advanceTimersByTime(25_000);
      expect(anns.here()).toContain(bob.userId);
    }
    await eventually(() => {
      vi.advanceTimersByTime(25_000);
      expect(anns.here()).toEqual([ann.userId]);
    });
  });
});
