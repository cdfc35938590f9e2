import { SignJWT } from 'jose';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Collection, RowSecurity } from '../../../shared/collections/collection.ts';
import { log } from '../../../shared/core/log.ts';
import { SignedClient } from '../../../shared/persistence/aws-client.ts';
import type { Caller, Project } from '../../../shared/projects/project.ts';
import { derivedKey } from '../../../shared/projects/sealed.ts';
import {
  authorizeChannel,
  channelFor,
  channelOf,
  issueTicket,
  partitionOf,
  publishEvents,
  roomChannelOf,
} from '../../../shared/realtime/channels.ts';
import { useMemoryTable } from '../../support/fixtures/memory-table.ts';
import { projectWithKey } from '../accounts/project.ts';
import { collectionOf } from '../documents/collections.ts';

const { time } = useMemoryTable();
const user: Caller = { kind: 'publishable', userId: 'ann' };
const secret: Caller = { kind: 'secret' };
let project: Project;

beforeEach(async () => {
  project = await projectWithKey('a'.repeat(24));
});

const collection = (rls: Partial<RowSecurity> = {}, rest: Partial<Collection> = {}): Collection => ({
  ...collectionOf(null, rls),
  id: 'c',
  ...rest,
});

describe('a channel', () => {
  const readSince = new Date(1000);
  test.each<[Partial<RowSecurity>, Partial<Collection>, Caller, unknown, string]>([
    [{}, {}, user, undefined, '/live/c/all'],
    [{}, {}, secret, 'any', '/live/c/all'],
    [{ mode: 'private', enabled: true }, {}, user, undefined, `/live/c/user-${'[0-9a-f]'.repeat(32)}`],
    [{ mode: 'private', enabled: true }, {}, secret, undefined, '/live/c/secret'],
    [{ mode: 'private' }, {}, user, undefined, '/live/c/all'],
    [{}, { partition: 'shop' }, user, undefined, '/live/c/secret'],
    [{}, { partition: 'shop' }, user, 'x', `/live/c/in-${'[0-9a-f]'.repeat(30)}`],
    [{ requires: 'mfa', enabled: true }, {}, user, undefined, '/live/c/mfa-all'],
    [{ requires: 'mfa' }, {}, user, undefined, '/live/c/all'],
    [{ readSince }, {}, user, undefined, '/live/c/prs-all'],
    [{ mode: 'signed-in', enabled: true }, {}, user, undefined, '/live/c/s0-all'],
    [{ mode: 'signed-in' }, {}, user, undefined, '/live/c/all'],
    [{ mode: 'signed-in', enabled: true, readSince }, {}, user, undefined, '/live/c/srs-all'],
    [{ mode: 'rules', enabled: true }, {}, user, undefined, '/live/c/all'],
  ])('of %j %j for %j and the partition %j', (rls, rest, caller, value, expected) => {
    expect(channelFor(collection(rls, rest), caller, value)).toMatch(new RegExp(`^${expected}$`));
  });

  test('differs for each user, partition, field and collection', () => {
    const own = collection({ mode: 'private', enabled: true });
    const parts = collection({}, { partition: 'shop' });
    const names = [
      channelOf(own, { userId: 'ann' }),
      channelOf(own, { userId: 'bob' }),
      channelOf(parts, partitionOf(parts, 'ann')),
      channelOf(parts, partitionOf(parts, 'bob')),
      channelOf(parts, partitionOf({ ...parts, partition: 'other' }, 'ann')),
      channelOf({ ...parts, id: 'd' }, partitionOf(parts, 'ann')),
    ];
    expect(new Set(names).size).toBe(names.length);
  });

  test('of a room has another name after 15 minutes', () => {
    const { channel, secondsLeft } = roomChannelOf(project, 'c', 'd');
    expect(channel).toMatch(/^\/rooms\/[0-9a-f]{32}\//);
    time.now += secondsLeft * 1000 - 1;
    expect(roomChannelOf(project, 'c', 'd')).toEqual({ channel, secondsLeft: 1 });
    time.now += 1;
    const next = roomChannelOf(project, 'c', 'd');
    expect([next.channel === channel, next.secondsLeft]).toEqual([false, 900]);
    expect(roomChannelOf(project, 'c', 'e').channel).not.toBe(next.channel);
  });
});

describe('a ticket', () => {
  const channels = ['/live/c/all', '/rooms/r'];
  const issue = (publishes = true, caller = user, list = channels) => issueTicket(project, caller, list, { publishes });
  const ask = (ticket: string, operation: string, channel?: string | null) =>
    authorizeChannel({
      authorizationToken: ticket,
      requestContext: { operation: `EVENT_${operation}`, ...(channel !== undefined && { channel }) },
    });
  const allows = async (...request: Parameters<typeof ask>) => (await ask(...request)).isAuthorized;

  test.each<[string, string | null | undefined, boolean]>([
    ['CONNECT', undefined, true],
    ['CONNECT', null, true],
    ['SUBSCRIBE', '/live/c/all', true],
    ['SUBSCRIBE', 'live/c/all', true],
    ['SUBSCRIBE', '/live/c/*', false],
    ['SUBSCRIBE', '/live/d/all', false],
    ['SUBSCRIBE', undefined, false],
    ['OTHER', '/live/c/all', false],
    ['OTHER', undefined, false],
    ['PUBLISH', '/rooms/r', true],
    ['PUBLISH', '/rooms/s', false],
    ['PUBLISH', '/live/c/all', false],
    ['PUBLISH', undefined, false],
  ])('for %s of %s: %#', async (operation, channel, isAllowed) => {
    const decision = await ask(await issue(), operation, channel);
    const publishes = operation === 'PUBLISH' && isAllowed;
    expect(decision).toEqual({
      isAuthorized: isAllowed,
      ttlOverride: 0,
      ...(publishes && { handlerContext: { userId: 'ann' } }),
    });
    expect(await allows('malformed', operation, channel)).toBe(false);
  });

  test('publishes only if its user may, and not without a user', async () => {
    expect(await allows(await issue(false), 'PUBLISH', '/rooms/r')).toBe(false);
    expect(await allows(await issue(true, { kind: 'publishable' }), 'PUBLISH', '/rooms/r')).toBe(false);
  });

  test('contains a user and the right to publish only if there are any', async () => {
    const claims = async (...given: Parameters<typeof issue>) =>
      JSON.parse(Buffer.from((await issue(...given)).split('.')[1] ?? '', 'base64url').toString());
    expect(await claims()).toMatchObject({ sub: 'ann', publishes: true, channels, caller: 'publishable' });
    const plain = await claims(false, secret);
    for (const name of ['sub', 'publishes']) expect(plain).not.toHaveProperty(name);
  });

  test('expires after 15 minutes', async () => {
    const ticket = await issue();
    time.now += 899_000;
    expect(await allows(ticket, 'CONNECT')).toBe(true);
    time.now += 1000;
    expect(await allows(ticket, 'CONNECT')).toBe(false);
  });

  test('has at most 8,192 characters', async () => {
    const empty = (await issue(true, user, [''])).length;
    const long = async (length: number) => {
      for (let letters = Math.floor(((length - empty) * 3) / 4) - 2; ; letters++) {
        const ticket = await issue(true, user, ['x'.repeat(letters)]);
        if (ticket.length >= length) return ticket;
      }
    };
    const [most, more] = [await long(8192), await long(8193)];
    expect([most.length, await allows(most, 'CONNECT')]).toEqual([8192, true]);
    expect([more.length > 8192, await allows(more, 'CONNECT')]).toEqual([true, false]);
  });

  test.each<[string, object, boolean]>([
    ['with channels', { channels }, true],
    ['without channels', {}, false],
    ['with a text as channels', { channels: '/live/c/all' }, false],
    ['with another value as the right to publish', { channels, publishes: 'yes', sub: 'ann' }, false],
  ])('%s of our own key: %#', async (_, claims, isAllowed) => {
    const ticket = await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256', typ: 'realtime+jwt' })
      .setAudience('realtime')
      .setIssuedAt(time.now / 1000)
      .setExpirationTime(time.now / 1000 + 60)
      .sign(await derivedKey('realtime tickets'));
    const operation = 'publishes' in claims ? 'PUBLISH' : 'SUBSCRIBE';
    expect(await allows(ticket, operation, 'publishes' in claims ? '/rooms/r' : '/live/c/all')).toBe(isAllowed);
  });

  test('that cannot be checked is an error, not a rejection', async () => {
    vi.resetModules();
    vi.stubEnv('ENCRYPTION_KEY', Buffer.alloc(3).toString('base64'));
    const { authorizeChannel: decide } = await import('../../../shared/realtime/channels.ts');
    const request = { authorizationToken: 'a.b.c', requestContext: { operation: 'EVENT_CONNECT' } };
    await expect(decide(request)).rejects.toThrow('encryption key');
  });
});

describe('published events', () => {
  const publications = (channels: number, events: number) =>
    Array.from({ length: channels }, (_, at) => ({
      channel: `/live/${at}`,
      events: Array.from({ length: events }, (__, number) => `${number}`),
    }));
  const publish = async (given: ReturnType<typeof publications>, failures: readonly number[] = []) => {
    const warn = vi.spyOn(log, 'warn').mockReturnValue();
    warn.mockClear();
    const sent: { channel: string; events: string[] }[] = [];
    vi.spyOn(SignedClient.prototype, 'request').mockImplementation(async ({ body }) => {
      sent.push(JSON.parse(String(body)));
      if (failures.includes(sent.length)) throw new Error('down');
      return '' as never;
    });
    await publishEvents('https://events.example.com/event', given);
    return { sent, warnings: warn.mock.calls.length };
  };

  test('are sent five at a time, in order, with at most 20 requests', async () => {
    expect(await publish(publications(1, 6))).toEqual({
      sent: [
        { channel: '/live/0', events: ['0', '1', '2', '3', '4'] },
        { channel: '/live/0', events: ['5'] },
      ],
      warnings: 0,
    });
    expect((await publish(publications(21, 1))).sent).toHaveLength(20);
    expect((await publish(publications(2, 5))).sent).toHaveLength(2);
    expect((await publish([])).sent).toEqual([]);
  });

  test('that fail are logged one time, and the others are sent', async () => {
    expect(await publish(publications(3, 1), [2, 3])).toMatchObject({ sent: { length: 3 }, warnings: 1 });
  });
});
