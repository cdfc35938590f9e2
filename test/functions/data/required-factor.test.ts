import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { dataRoutes } from '../../../functions/data/routes.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { EventSocket } from '../../support/clients/event-socket.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

const annId = 'a'.repeat(24);
const post = { key: 'post', type: 'Ref', ref: 'open' };
const guarded = (mode: string) => ({ enabled: true, mode, requires: 'mfa' });
const refused = { status: 403, body: { code: 'MFA_REQUIRED' } };

let project: TestProject;
let plain: RequestOptions;
let proved: RequestOptions;
let nobody: RequestOptions;
const sockets = new Set<EventSocket>();

beforeAll(async () => {
  project = await newProject([
    { name: 'open', changes: true, rls: guarded('public-read') },
    { name: 'closed', changes: true, rls: guarded('private') },
    { name: 'links', schema: [post, { key: 'secret', type: 'Ref', ref: 'closed' }] },
    { name: 'switched', changes: true, rls: { enabled: true } },
    { name: 'heard', changes: true, rls: { enabled: true, mode: 'private' } },
    { name: 'off', rls: { enabled: false, requires: 'mfa' } },
  ]);
  const key = project.publishableKey;
  nobody = { key };
  plain = { key, token: await project.tokenFor(annId, ['pwd']) };
  proved = { key, token: await project.tokenFor(annId, ['pwd', 'totp', 'mfa']) };
});

afterEach(() => {
  for (const socket of sockets) socket.close();
  sockets.clear();
});

interface Made {
  readonly _id: string;
  readonly userId: string;
}
const make = async (name: string): Promise<string> =>
  (await project.api<Made>('POST', `/api/data/${name}`, { body: { n: 1, userId: annId } })).body._id;

const bodies: Readonly<Record<string, unknown>> = {
  'create-document': { n: 1 },
  'create-documents': [{ n: 1 }],
  'update-documents': { where: { n: 1 }, changes: { n: 2 } },
  'delete-documents': { where: { n: 1 } },
  'query-documents': {},
  'update-document': { n: 2 },
  'aggregate-documents': { pipeline: [{ $match: {} }] },
};
const bodyOf = (name: string, collection: string): unknown =>
  name === 'run-batch' ? { writes: [{ op: 'insert', collection, document: { n: 1 } }] } : bodies[name];
const { 'get-schema': _schema, ...walked } = dataRoutes;
const walk = Object.entries(walked).flatMap(([name, { method, path }]) =>
  [method].flat().map((verb) => [name, verb, path] as const),
);

describe.each(['open', 'closed'])('a second factor is required of %s', (collection) => {
  test.each(walk)(
    '%s by %s %s: 401 without a user, 403 without the factor, success with it',
    async (name, method, path) => {
      const id = await make(collection);
      if (name === 'restore-document') await project.api('DELETE', `/api/data/${collection}/${id}`);
      const address = path.replace('{collectionName}', collection).replace('{id}', id);
      const sent = bodyOf(name, collection);
      const ask = (who: RequestOptions) =>
        project.api(method, address, { ...who, ...(sent === undefined ? {} : { body: sent }) });
      expect(await ask(nobody)).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
      expect(await ask({ ...nobody, token: 'x' })).toMatchObject({ status: 401, body: { code: 'TOKEN_INVALID' } });
      const { body, ...answer } = await ask(plain);
      expect({ ...answer, body }).toMatchObject(refused);
      expect(body.message).toMatch(
        `The collection "${collection}" needs a second factor. Sign in again with an authenticator app`,
      );
      expect((await ask(proved)).status).toBeLessThan(300);
    },
  );

  test('the secret key needs no second factor', async () => {
    expect((await project.api('GET', `/api/data/${collection}/${await make(collection)}`)).status).toBe(200);
  });

  test('404 for another user with the factor only when the collection is private', async () => {
    const id = await make(collection);
    const bob = { ...nobody, token: await project.tokenFor('b'.repeat(24), ['passkey', 'mfa']) };
    const seen = await project.api('GET', `/api/data/${collection}/${id}`, bob);
    expect(seen.status).toBe(collection === 'open' ? 200 : 404);
    expect((await project.api('PATCH', `/api/data/${collection}/${id}`, { ...bob, body: { n: 2 } })).status).toBe(403);
  });

  test.each(['$lookup', '$unionWith', '$graphLookup'])(
    '403 for a %s into it from an open collection',
    async (stage) => {
      const join = { from: collection, localField: 'post', foreignField: '_id', as: 'joined' };
      const walkInto = {
        from: collection,
        startWith: '$post',
        connectFromField: 'n',
        connectToField: 'n',
        as: 'joined',
      };
      const stages = { $lookup: join, $unionWith: { coll: collection }, $graphLookup: walkInto };
      const pipeline = [{ [stage]: stages[stage as keyof typeof stages] }];
      const ask = (who: RequestOptions) =>
        project.api('POST', '/api/data/links/aggregate', { ...who, body: { pipeline } });
      expect(await ask(plain)).toMatchObject(refused);
      expect(await ask(nobody)).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
      const nested = [{ $facet: { inside: pipeline } }];
      const inside = await project.api('POST', '/api/data/links/aggregate', { ...plain, body: { pipeline: nested } });
      expect(inside).toMatchObject({ status: expect.toSatisfy((status) => status === 400 || status === 403) });
      expect((await ask({})).status).toBe(200);
    },
  );

  test('populate keeps the ids for a user without the factor, in a list and by id', async () => {
    const target = await make(collection);
    const field = collection === 'open' ? 'post' : 'secret';
    const { body } = await project.api<Made>('POST', '/api/data/links', { body: { [field]: target } });
    const shown = async (who: RequestOptions) => {
      const one = await project.api<Record<string, unknown>>(
        'GET',
        `/api/data/links/${body._id}?populate=${field}`,
        who,
      );
      const list = await project.api<{ data: { items: readonly Record<string, unknown>[] } }>(
        'GET',
        `/api/data/links?_id=${body._id}&populate=${field}`,
        who,
      );
      expect([one.status, list.status]).toEqual([200, 200]);
      return [one.body[field], list.body.data.items[0]?.[field]];
    };
    expect(await shown(plain)).toEqual([target, target]);
    expect(await shown(nobody)).toEqual([target, target]);
    for (const document of await shown(proved)) expect(document).toMatchObject({ _id: target, n: 1 });
  });

  test('403 for a ticket of live updates', async () => {
    const ask = (who: RequestOptions) =>
      project.api('POST', '/api/realtime/tickets', { ...who, body: { collections: [collection] } });
    expect(await ask(plain)).toMatchObject(refused);
    expect((await ask(nobody)).status).toBe(401);
    expect((await ask(proved)).status).toBe(201);
    expect((await ask({})).status).toBe(201);
  });
});

test('nothing is required when row security is off', async () => {
  expect((await project.api('GET', '/api/data/off', nobody)).status).toBe(200);
});

const edit = async (name: string, rls: object) => {
  const edited = await project.developer.dashboard('PUT', `/api/projects/${project.id}/collections/${name}`, { rls });
  expect(edited.status).toBe(200);
};

interface Ticket {
  readonly data: { readonly url: string; readonly ticket: string; readonly channels: Readonly<Record<string, string>> };
}

const listen = async (name: string, who: RequestOptions) => {
  const { data } = (
    await project.api<Ticket>('POST', '/api/realtime/tickets', { ...who, body: { collections: [name] } })
  ).body;
  const socket = await EventSocket.open(data.url, data.ticket);
  sockets.add(socket);
  const subscribe = (id: string) => socket.subscribe(data.channels[name] ?? '', id);
  expect(await subscribe('first')).toMatchObject({ type: 'subscribe_success' });
  return { socket, subscribe };
};

describe('when a second factor becomes required', () => {
  test.each(['switched', 'heard'])('an earlier listener to %s receives nothing more', async (name) => {
    const before = await listen(name, plain);
    await edit(name, { requires: 'mfa' });
    const after = await listen(name, proved);
    await make(name);
    const { event = '' } = await after.socket.next(({ type }) => type === 'data');
    expect(JSON.parse(event)).not.toHaveProperty('document');
    await before.subscribe('second');
    expect(before.socket.received.some(({ type }) => type === 'data')).toBe(false);
    await edit(name, { requires: 'none' });
  });

  test('an earlier position can be read only with the factor', async () => {
    const changes = (since: string, who: RequestOptions) =>
      project.api<{ data: { next: string; changes: readonly unknown[] } }>(
        'GET',
        `/api/data/switched/changes?since=${since}`,
        who,
      );
    const { next } = (await changes('0', plain)).body.data;
    await edit('switched', { requires: 'mfa' });
    await make('switched');
    expect(await changes(next, plain)).toMatchObject(refused);
    expect(await changes(next, proved)).toMatchObject({ status: 200, body: { data: { changes: [{}] } } });
    await edit('switched', { requires: 'none' });
  });
});
