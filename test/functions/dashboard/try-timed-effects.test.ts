import { ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { runCollectionEffects } from '../../../shared/documents/effects/run-effects.ts';
import { mailLogs } from '../../../shared/mail/log.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import { stillQueue } from '../../support/fixtures/still-queue.ts';
import { changeStoredUsers, domainProject } from '../../support/fixtures/stored-users.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

/* A dry run shows what effects at a time would do, as the real run then does it. */

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const number = (key: string, more: object = {}) => ({ key, type: 'Number', ...more });
const date = (key: string) => ({ key, type: 'Date' });
const hourMs = 3600_000;

const onShelf = (change: number) => ({
  op: 'update',
  collection: 'shelves',
  id: { $doc: 'shelf' },
  changes: { $inc: { stock: change } },
});
const effects = [
  {
    at: 'ends',
    where: { status: 'published', ends: { $lte: { $now: 0 } } },
    set: { status: 'over', endedAt: { $now: 0 } },
    mail: { template: 'ended', to: { $user: 'email' } },
  },
  { at: 'due', where: { status: 'scheduled' }, set: { status: 'published' }, writes: [onShelf(-1)] },
  { on: 'update', set: { slug: { $concat: [{ $doc: 'title' }, ' ', { $doc: 'status' }] } } },
  { at: 'never', set: { title: 'x' } },
];

interface Tried {
  readonly refused?: object;
  readonly effects: readonly (Readonly<Record<string, unknown>> & { readonly runsAt?: string })[];
}

let project: UsersProject;
let shelf: string;
let ann: { readonly userId: string; readonly email: string };

const tried = async (documentId: string, more: object = {}): Promise<Tried> => {
  const path = `/api/projects/${project.id}/collections/posts/effects/try`;
  const body = { operation: 'at', documentId, ...more };
  const answer = await project.developer.dashboard<{ data: Tried }>('POST', path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data;
};

const create = async (name: string, body: object): Promise<string> => {
  const answer = await project.api<{ _id: string }>('POST', `/api/data/${name}`, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body._id;
};

const stored = async (name: string, id: string) => {
  const found = await domainProject(project);
  return onProject(found, (db) => db.collection(name).findOne({ _id: new ObjectId(id) }));
};

const inHours = (hours: number): Date => new Date(Date.now() + hours * hourMs);

const post = (more: object = {}) =>
  create('posts', { title: 'A', status: 'scheduled', shelf, userId: ann.userId, due: inHours(1), ...more });

beforeAll(async () => {
  // Only the test takes the tasks.
  process.env.WORK_QUEUE_URL = await stillQueue(process.env.AWS_ENDPOINT_URL ?? '');
  project = await newUsersProject();
  const ref = { key: 'shelf', type: 'Ref', ref: 'shelves' };
  await project.addCollection({ name: 'shelves', schema: [number('stock', { min: 0 })] });
  await project.addCollection({
    name: 'posts',
    rls: { enabled: true, mode: 'private' },
    schema: [
      ...[text('title'), text('status'), text('slug', { unique: true }), ref],
      ...['due', 'ends', 'endedAt', 'never'].map(date),
    ],
    effects,
  });
  ann = await project.newUser();
  await changeStoredUsers(project, { email: ann.email }, { emailVerified: true });
});

beforeAll(async () => {
  // Effects read the shelf with the rights of the owner of the post.
  await project.developer.dashboard('PATCH', `/api/projects/${project.id}/collections/shelves`, {
    rls: { enabled: true, mode: 'public-read' },
  });
  shelf = await create('shelves', { stock: 1 });
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a dry run of effects at a time', () => {
  test('shows them in the order of their dates, as they then run, and changes nothing', async () => {
    const [due, ends] = [inHours(1), inHours(2)];
    const id = await post({ due, ends });
    const before = [await stored('posts', id), await stored('shelves', shelf)];
    const { refused, effects: found } = await tried(id);
    expect(refused).toBeUndefined();
    expect([await stored('posts', id), await stored('shelves', shelf)]).toEqual(before);
    const [over, published, slug, never] = found;
    expect(published).toMatchObject({
      state: 'runs',
      runsAt: due.toISOString(),
      set: [{ field: 'status', before: 'scheduled', after: 'published' }],
      writes: [{ op: 'update', collection: 'shelves', id: shelf, fields: [{ field: 'stock', before: 1, after: 0 }] }],
    });
    expect(over).toMatchObject({
      state: 'runs',
      runsAt: ends.toISOString(),
      set: [
        { field: 'status', after: 'over' },
        { field: 'endedAt', after: ends.toISOString() },
      ],
      mails: [{ template: 'ended', hasTemplate: false, to: ann.email }],
    });
    expect(slug).toMatchObject({ state: 'runs', set: [{ field: 'slug', after: 'A over' }] });
    expect(never).toMatchObject({ state: 'noDate', set: [] });
    expect(never).not.toHaveProperty('runsAt');
    for (const each of [due, ends]) {
      vi.spyOn(clock, 'now').mockReturnValue(each.getTime());
      await runCollectionEffects(project.id, 'posts');
      vi.restoreAllMocks();
    }
    const [real, left] = [await stored('posts', id), await stored('shelves', shelf)];
    expect(real).toMatchObject({ status: 'over', endedAt: ends, slug: 'A over' });
    expect(await mailLogs.find({ projectId: new ObjectId(project.id), templateUsed: 'ended' })).toMatchObject([
      { to: [ann.email] },
    ]);
    expect(left).toMatchObject({ stock: 0 });
    const again = (await tried(id)).effects;
    expect(again.map(({ state }) => state)).toEqual(['ran', 'ran', 'otherWrite', 'noDate']);
  });

  test('shows conditions that do not hold, and what would reject one of them', async () => {
    const open = await tried(await post({ status: 'open' }));
    expect(open.effects.map(({ state }) => state)).toEqual(['noDate', 'skipped', 'otherWrite', 'noDate']);
    const empty = await create('shelves', { stock: 0 });
    const id = await post({ title: 'B', shelf: empty });
    const short = await tried(id);
    expect(short.refused).toBeUndefined();
    const refused = { status: 409, code: 'EFFECT_REFUSED', message: 'stock must be at least 0' };
    expect(short.effects[1]).toMatchObject({ state: 'refused', writes: [{ collection: 'shelves', refused }] });
    // A rejected effect changes nothing, so later ones see the document as it was.
    const later = await post({ title: 'C', shelf: empty, ends: inHours(2) });
    expect((await tried(later)).effects[0]).toMatchObject({ state: 'skipped' });
  });

  test('reports unique values that another document has, and Refs that lead nowhere', async () => {
    await post({ title: 'F', status: 'first' });
    const id = await post({ title: 'G' });
    const same = [{ at: 'due', set: { slug: 'taken' } }];
    expect((await tried(id, { effects: same })).effects[0]).toMatchObject({ state: 'runs' });
    const found = await domainProject(project);
    await onProject(found, (db) => db.collection('posts').updateOne({ title: 'F' }, { $set: { slug: 'taken' } }));
    expect((await tried(id, { effects: same })).effects[0]).toMatchObject({
      state: 'refused',
      refused: { status: 409, code: 'DUPLICATE_VALUE', message: 'slug already exists; its value must be unique.' },
    });
    const lost = [{ at: 'due', set: { title: { $concat: [{ $doc: 'shelf.stock' }, ''] } } }];
    const nowhere = await post({ title: 'H', shelf: 'a'.repeat(24) });
    expect((await tried(nowhere, { effects: lost })).effects[0]).toMatchObject({
      state: 'refused',
      refused: { code: 'EFFECT_REFUSED', message: expect.stringContaining('shelf.stock leads to no document') },
    });
  });
});

test('400 INVALID_ID when no document is named', async () => {
  const path = `/api/projects/${project.id}/collections/posts/effects/try`;
  const answer = await project.developer.dashboard('POST', path, { operation: 'at', document: { title: 'x' } });
  expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_ID' } });
});
