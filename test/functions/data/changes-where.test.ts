import { Db, ObjectId } from 'mongodb';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { handler as listChanges } from '../../../functions/data/list-changes.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { plansOf } from '../../support/clients/explain.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

listenToCommands();
Object.assign(process.env, { RATE_LIMIT: '1000000', RATE_BLOCK: '1' });

interface Page {
  readonly changes: readonly {
    readonly _id: string;
    readonly rev: number;
    readonly deleted?: true;
    document?: object;
  }[];
  readonly next: string;
  readonly more: boolean;
}

let project: TestProject;
let domain: Project;

beforeAll(async () => {
  project = await newProject();
  domain = await domainProject(project);
});

afterEach(() => vi.restoreAllMocks());

let made = 0;
const fed = async (more: object = {}): Promise<string> => {
  const name = `fed${++made}`;
  await project.addCollection({ name, changes: true, ...more });
  return name;
};

const send = <B = { _id: string }>(method: string, path: string, options: RequestOptions = {}) =>
  project.api<B>(method, `/api/data/${path}`, options);
const create = async (name: string, body: object, options: RequestOptions = {}): Promise<string> =>
  (await send('POST', name, { ...options, body })).body._id;
const queryOf = (since: string, where: unknown, rest = '') =>
  `since=${since}&where=${encodeURIComponent(JSON.stringify(where))}${rest}`;
const ask = (name: string, query: string, options: RequestOptions = {}) =>
  send<{ data: Page; code: string }>('GET', `${name}/changes?${query}`, options);
const changes = async (name: string, since: string, where: unknown, rest = '', options: RequestOptions = {}) => {
  const answer = await ask(name, queryOf(since, where, rest), options);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body.data;
};
const now = async (name: string, where: unknown, options: RequestOptions = {}): Promise<string> =>
  (await ask(name, queryOf('', where).slice('since=&'.length), options)).body.data.next;
const brief = ({ changes: all }: Page) => all.map(({ _id, rev, deleted }) => [_id, rev, ...(deleted ? ['gone'] : [])]);

const open = { done: false };

test('200 with each changed document that does not fulfil where once as deleted, whether or not it did before', async () => {
  const name = await fed();
  const since = await now(name, open);
  const [left, never, stays] = [
    await create(name, { done: false }),
    await create(name, { done: true }),
    await create(name, { done: false }),
  ];
  const first = await changes(name, since, open);
  expect(brief(first)).toEqual([
    [left, 1],
    [never, 1, 'gone'],
    [stays, 1],
  ]);
  expect(first.changes[0]?.document).toEqual((await send('GET', `${name}/${left}`)).body);
  expect(first.changes[1]).toEqual({ _id: never, rev: 1, deleted: true });
  await send('PATCH', `${name}/${left}`, { body: { done: true } });
  await send('PATCH', `${name}/${never}`, { body: { n: 1 } });
  await send('DELETE', `${name}/${stays}?permanent=true`);
  const second = await changes(name, first.next, open);
  expect(brief(second)).toEqual([
    [left, 2, 'gone'],
    [never, 2, 'gone'],
    [stays, 2, 'gone'],
  ]);
  expect((await changes(name, second.next, open)).changes).toEqual([]);
  await send('PATCH', `${name}/${left}`, { body: { done: false } });
  expect(brief(await changes(name, second.next, open))).toEqual([[left, 3]]);
});

test('200 with wait when a document changes that does not fulfil where', async () => {
  const name = await fed();
  const since = await now(name, open);
  const waiting = changes(name, since, open, '&wait=20');
  const id = await create(name, { done: true });
  expect(brief(await waiting)).toEqual([[id, 1, 'gone']]);
});

test('200 page by page, with every operator of lists, on the dashboard API too', async () => {
  const name = await fed({ schema: null });
  const where = { $or: [{ n: { $gte: 3 } }, { text: { $regex: '^a' } }], tags: { $elemMatch: { $eq: 'x' } } };
  const ids: string[] = [];
  for (const n of [1, 2, 3, 4]) ids.push(await create(name, { n, text: n === 1 ? 'abc' : 'b', tags: ['x', 'y'] }));
  const expected = [
    [ids[0], 1],
    [ids[1], 1, 'gone'],
    [ids[2], 1],
    [ids[3], 1],
  ];
  const seen: unknown[] = [];
  for (let [since, more] = ['0', true]; more; ) {
    const page = await changes(name, since, where, '&limit=1');
    seen.push(...brief(page));
    [since, more] = [page.next, page.more];
  }
  expect(seen).toEqual(expected);
  const path = `/api/projects/${project.id}/collections/${name}/changes?${queryOf('0', where)}`;
  expect(brief((await project.developer.dashboard<{ data: Page }>('GET', path)).body.data)).toEqual(expected);
});

test('200 with only the caller’s documents in a private collection and under rules', async () => {
  const [annId, bobId] = ['a'.repeat(24), 'b'.repeat(24)];
  const key = project.publishableKey;
  const [ann, bob] = [
    { key, token: await project.tokenFor(annId) },
    { key, token: await project.tokenFor(bobId) },
  ];
  const hidden = await fed({ rls: { enabled: true, mode: 'private' } });
  const since = await now(hidden, open, ann);
  const mine = await create(hidden, { done: false }, ann);
  await create(hidden, { done: false }, bob);
  const closed = await create(hidden, { done: true }, ann);
  expect(brief(await changes(hidden, since, open, '', ann))).toEqual([
    [mine, 1],
    [closed, 1, 'gone'],
  ]);
  const rules = { read: { userId: { $user: '_id' } }, create: true };
  const ruled = await fed({
    schema: [
      { key: 'done', type: 'Boolean' },
      { key: 'text', type: 'String' },
      { key: 'userId', type: 'String' },
    ],
    rls: { enabled: true, mode: 'rules', ownerField: 'userId', rules },
  });
  const own = await create(ruled, { done: false, text: 'a' }, ann);
  const others = await create(ruled, { done: false, text: 'a' }, bob);
  expect(brief(await changes(ruled, '0', { ...open, text: { $regex: 'a' } }, '', ann))).toEqual([
    [own, 1],
    [others, 1, 'gone'],
  ]);
});

test('400 INVALID_POSITION for a position of another where or without one', async () => {
  const name = await fed();
  const [plain, bound] = [(await ask(name, '')).body.data.next, await now(name, open)];
  const invalid = { status: 400, body: { code: 'INVALID_POSITION' } };
  expect(await ask(name, queryOf(plain, open))).toMatchObject(invalid);
  expect(await ask(name, `since=${bound}`)).toMatchObject(invalid);
  expect(await ask(name, queryOf(bound, { done: true }))).toMatchObject(invalid);
  expect(await ask(name, queryOf(bound, open))).toMatchObject({ status: 200 });
});

test('400 for a condition that a list rejects, whether or not anything changed', async () => {
  const name = await fed({
    schema: [
      { key: 'done', type: 'Boolean' },
      { key: 'secret', type: 'String', read: 'server' },
    ],
    closed: true,
  });
  const key = project.publishableKey;
  for (const where of ['x', '{"a":{"$where":1}}', '{"done":{"$regex":"("}}', '[]', '{"nothing":1}', '{"secret":"a"}']) {
    const query = `where=${encodeURIComponent(where)}`;
    const listed = await send<{ code: string }>('GET', `${name}?${query}`, { key });
    expect([where, listed.status]).toEqual([where, 400]);
    for (const since of ['', '&since=0']) {
      const answer = await ask(name, query + since, { key });
      expect([where, answer.status, answer.body.code]).toEqual([where, 400, listed.body.code]);
    }
  }
  expect(await ask(name, queryOf('0', { done: 'x'.repeat(9000) }))).toMatchObject({
    status: 400,
    body: { code: 'INVALID_FILTER' },
  });
});

test('a document that changes between the two reads of a page appears with its last change only', async () => {
  const name = await fed();
  const since = await now(name, open);
  const id = await create(name, { done: true });
  const { command } = Db.prototype;
  let finds = 0;
  vi.spyOn(Db.prototype, 'command').mockImplementation(async function (this: Db, sent, options) {
    finds += sent.find === name ? 1 : 0;
    if (finds === 2 && sent.find === name) await send('PATCH', `${name}/${id}`, { body: { done: false } });
    return command.call(this, sent, options);
  });
  const read = async (position: string): Promise<Page> => {
    const options = { key: project.secretKey, params: { collectionName: name }, query: queryOf(position, open) };
    return (await invoke(listChanges, options)).body.data as Page;
  };
  const page = await read(since);
  expect(finds).toBe(2);
  expect(page.changes).toEqual([]);
  expect(brief(await read(page.next))).toEqual([[id, 2]]);
});

test('a page costs two finds if something changed, otherwise one, and finds the changed documents by their ids', async () => {
  const name = await fed();
  await onProject(domain, (db) =>
    db.collection(name).insertMany(Array.from({ length: 500 }, () => ({ _id: new ObjectId(), ...open }))),
  );
  const since = await now(name, open);
  const read = (position: string) => () =>
    invoke(listChanges, {
      key: project.secretKey,
      params: { collectionName: name },
      query: queryOf(position, open),
    });
  const costs = async (act: () => Promise<unknown>) =>
    (await commandsOf(act)).filter((command) => command.startsWith('mongodb'));
  await read(since)();
  expect(await costs(read(since))).toEqual(['mongodb find']);
  await create(name, { done: false });
  await create(name, { done: true });
  expect(await costs(read(since))).toEqual(['mongodb find', 'mongodb find']);
  const plans = await plansOf(domain, read(since));
  expect(plans.map(({ docsExamined }) => docsExamined)).toEqual([2, 2]);
});
