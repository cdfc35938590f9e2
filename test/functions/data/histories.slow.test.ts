import { beforeAll, describe, expect, test } from 'vitest';
import { inParallel } from '../../support/clients/client.ts';
import { type Request, requireLinearizable, type State } from '../../support/data/history.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

const writers = 16;
const requestsEach = 60;
const documents = 3;

let project: TestProject;

beforeAll(async () => {
  const schema = [
    { key: 'stock', type: 'Number', min: 0, max: 9, integer: true },
    { key: 'log', type: 'Array', items: { type: 'Number' } },
    { key: 'tags', type: 'Array', items: { type: 'String' } },
    { key: 'owner', type: 'String' },
  ];
  project = await newProject([
    { name: 'shelves', schema },
    { name: 'fed', schema, changes: true },
  ]);
});

/** The fields of a document, always in the same order. */
interface Shelf extends State {
  readonly stock: number;
  readonly log: readonly number[];
  readonly tags: readonly string[];
  readonly owner: string;
}

const initial: Shelf = { stock: 5, log: [], tags: [], owner: '' };
const shelfOf = ({ stock, log, tags, owner }: Record<string, unknown>): Shelf => ({ stock, log, tags, owner }) as Shelf;

/** A random request: what is sent, and what it does to a document without concurrency. */
interface Action {
  readonly name: string;
  readonly method?: 'GET' | 'DELETE';
  readonly changes?: object;
  readonly where?: object;
  readonly ifMatch?: number;
  readonly apply: (shelf: Shelf, revision: number) => Shelf | string;
}

const bounded = (shelf: Shelf, by: number, more: Partial<Shelf> = {}): Shelf | string => {
  const stock = shelf.stock + by;
  return stock < 0 || stock > 9 ? 'VALIDATION_FAILED' : { ...shelf, stock, ...more };
};

const pick = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)] as T;

const maxLog = 4;
const added = (tags: readonly string[], tag: string) => (tags.includes(tag) ? tags : [...tags, tag]);

const read: Action = { name: 'read', method: 'GET', apply: (shelf) => shelf };

/** `unique` tells each request's effect from those of all others. */
const randomAction = (unique: number, seen: number): Action => {
  const by = pick([-3, -2, -1, 1, 2]);
  const tag = pick(['a', 'b', 'c']);
  const actions: readonly Action[] = [
    read,
    { name: `inc ${by}`, changes: { $inc: { stock: by } }, apply: (shelf) => bounded(shelf, by) },
    {
      name: `push ${unique}`,
      changes: { $push: { log: { $each: [unique], $slice: -maxLog } } },
      apply: (shelf) => ({ ...shelf, log: [...shelf.log, unique].slice(-maxLog) }),
    },
    {
      name: `add ${tag}`,
      changes: { $addToSet: { tags: tag } },
      apply: (shelf) => ({ ...shelf, tags: added(shelf.tags, tag) }),
    },
    {
      name: `pull ${tag}, inc ${by}`,
      changes: { $pull: { tags: tag }, $inc: { stock: by } },
      apply: (shelf) => bounded(shelf, by, { tags: shelf.tags.filter((each) => each !== tag) }),
    },
    {
      name: `take 2 where stock >= 2, ${unique}`,
      where: { stock: { $gte: 2 } },
      changes: { $inc: { stock: -2 }, owner: `w${unique}` },
      apply: (shelf) =>
        shelf.stock < 2 ? 'CONDITION_FAILED' : { ...shelf, stock: shelf.stock - 2, owner: `w${unique}` },
    },
    {
      name: `push ${unique} where tags has ${tag}`,
      where: { tags: tag },
      changes: { $push: { log: { $each: [unique], $slice: -maxLog } } },
      apply: (shelf) =>
        shelf.tags.includes(tag) ? { ...shelf, log: [...shelf.log, unique].slice(-maxLog) } : 'CONDITION_FAILED',
    },
    {
      name: `own ${unique} at ${seen}`,
      ifMatch: seen,
      changes: { owner: `w${unique}` },
      apply: (shelf, revision) => (revision === seen ? { ...shelf, owner: `w${unique}` } : 'REVISION_MISMATCH'),
    },
    {
      name: `inc ${by} at ${seen}`,
      ifMatch: seen,
      changes: { $inc: { stock: by } },
      apply: (shelf, revision) => (revision === seen ? bounded(shelf, by) : 'REVISION_MISMATCH'),
    },
  ];
  return pick(actions);
};

interface Body extends Record<string, unknown> {
  readonly code?: string;
  readonly data?: Record<string, unknown>;
}

/** Sends a request. Returns `undefined` if it wrote nothing because of too many writers. */
const send = async (collection: string, id: string, action: Action): Promise<Request | undefined> => {
  const { name, method = 'PATCH', changes, where, ifMatch, apply } = action;
  const query = where ? `?where=${encodeURIComponent(JSON.stringify(where))}` : '';
  const begin = performance.now();
  const { status, headers, body } = await project.api<Body>(method, `/api/data/${collection}/${id}${query}`, {
    ...(changes && { body: changes }),
    ...(ifMatch !== undefined && { headers: { 'if-match': `"${ifMatch}"` } }),
  });
  const end = performance.now();
  if (status === 503 && body.code === 'TOO_MANY_WRITERS') return undefined;
  const tag = /^"(\d+)"$/.exec(headers.get('etag') ?? '')?.[1];
  // A rejected write and a read have the revision of the state that they saw.
  const response = status < 300 ? shelfOf(method === 'GET' ? body : (body.data ?? body)) : String(body.code);
  return {
    name,
    begin,
    end,
    apply: (state, revision) => apply(state as Shelf, revision),
    response,
    ...(tag !== undefined && { revision: Number(tag) }),
    ...(method === 'GET' && { isRead: true }),
  };
};

test.each(['shelves', 'fed'])(
  '%s: histories of 16 writers with operators and conditions are linearizable',
  async (collection) => {
    const ids = await inParallel(documents, async () => {
      const { body } = await project.api<{ _id: string }>('POST', `/api/data/${collection}`, { body: initial });
      return body._id;
    });
    const histories = new Map<string, Request[]>(ids.map((id) => [id, []]));
    let unique = 0;
    let busy = 0;
    await inParallel(writers, async () => {
      const seen = new Map<string, number>();
      for (let sent = 0; sent < requestsEach; sent += 1) {
        const id = pick(ids);
        unique += 1;
        const request = await send(collection, id, randomAction(unique, seen.get(id) ?? 1));
        if (!request) busy += 1;
        else histories.get(id)?.push(request);
        if (request?.revision !== undefined) seen.set(id, request.revision);
      }
    });
    const responses = new Map<string, number>();
    for (const [id, requests] of histories) {
      const last = await send(collection, id, read);
      expect(last?.isRead).toBe(true);
      requireLinearizable(initial, [...requests, ...(last ? [last] : [])]);
      for (const { response } of requests) {
        const kind = typeof response === 'string' ? response : 'done';
        responses.set(kind, (responses.get(kind) ?? 0) + 1);
      }
    }
    process.stdout.write(`${collection}: ${JSON.stringify(Object.fromEntries(responses))}, ${busy} too many writers\n`);
    const kinds = ['CONDITION_FAILED', 'REVISION_MISMATCH', 'VALIDATION_FAILED', 'done'];
    expect([...responses.keys()].sort()).toEqual(kinds);
  },
);

describe('the checker finds', () => {
  const adding = (begin: number, end: number, response: number | string, revision?: number): Request => ({
    name: 'add',
    begin,
    end,
    apply: (state) => (Number(state.n) < 2 ? { n: Number(state.n) + 1 } : 'FULL'),
    response: typeof response === 'string' ? response : { n: response },
    ...(revision !== undefined && { revision }),
  });
  const reading = (begin: number, end: number, n: number): Request => ({
    ...adding(begin, end, n),
    apply: (state) => state,
    isRead: true,
  });
  const start = { n: 0 };

  test('no fault in requests that overlap', () => {
    requireLinearizable(start, [
      adding(0, 9, 2, 3),
      adding(1, 8, 1, 2),
      reading(2, 3, 1),
      reading(2, 3, 2),
      adding(4, 7, 'FULL'),
    ]);
  });

  test.each([
    ['a lost update', [adding(0, 1, 1, 2), adding(2, 3, 1, 3)]],
    ['a revision that two writes returned', [adding(0, 1, 1, 2), adding(0, 1, 1, 2)]],
    ['a write that no response tells of', [adding(0, 1, 2, 3)]],
    ['a read of an older state', [adding(0, 1, 1, 2), reading(2, 3, 0)]],
    ['a read of a state of the future', [reading(0, 1, 1), adding(2, 3, 1, 2)]],
    ['two reads in the wrong order', [adding(0, 9, 1, 2), reading(1, 2, 1), reading(3, 4, 0)]],
    ['an error without a reason', [adding(0, 1, 1, 2), adding(0, 1, 'FULL')]],
    ['an error before its reason', [adding(0, 1, 'FULL'), adding(2, 3, 1, 2), adding(4, 5, 2, 3)]],
    ['a write before one that ended earlier', [adding(2, 3, 1, 2), adding(0, 1, 2, 3)]],
  ] as const)('%s', (_title, requests) => {
    expect(() => requireLinearizable(start, requests)).toThrow();
  });
});
