import { Collection, MongoNetworkError } from 'mongodb';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { handler as createDocuments } from '../../../functions/data/create-documents.ts';
import { handler as runBatch } from '../../../functions/data/run-batch.ts';
import type { RequestOptions } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();
process.env.RATE_LIMIT = '0';

interface Body {
  readonly code?: string;
  readonly message: string;
  readonly errors?: readonly { readonly index?: number; readonly field?: string }[];
  readonly data: {
    readonly results: readonly { readonly status: number; readonly document: Record<string, unknown> }[];
  };
}

let project: UsersProject;
let ann: RequestOptions & { readonly id: string };

const collections = [
  { name: 'open' },
  { name: 'other' },
  {
    name: 'fed',
    changes: true,
    schema: [
      { key: 'n', type: 'Number' },
      { key: 'code', type: 'String', unique: true },
    ],
  },
  { name: 'nodes', schema: [{ key: 'parent', type: 'Ref', ref: 'nodes', exists: true }] },
  { name: 'items', schema: [{ key: 'of', type: 'Ref', ref: 'open', exists: true }] },
  {
    name: 'steps',
    schema: [
      { key: 'name', type: 'String' },
      { key: 'after', type: 'String' },
    ],
    rls: {
      enabled: true,
      mode: 'rules',
      rules: {
        read: true,
        create: {
          $or: [
            { name: 'first' },
            { after: { $in: { $from: 'steps', select: 'name', where: { name: { $doc: 'after' } } } } },
          ],
        },
      },
    },
  },
  { name: 'codes', rls: { enabled: true, mode: 'private' }, schema: [{ key: 'code', type: 'String', unique: true }] },
];

beforeAll(async () => {
  project = await newUsersProject();
  for (const collection of collections) await project.addCollection(collection);
  const { userId, accessToken } = await project.newUser();
  ann = { id: userId, key: project.publishableKey, token: accessToken };
});

afterEach(() => {
  vi.restoreAllMocks();
});

/** In this process, so that its commands are seen. */
const batch = async (writes: readonly unknown[], { key = project.secretKey, token, headers }: RequestOptions = {}) => {
  const more = { ...(token && { token }), ...(headers && { headers }) };
  const { status, body } = await invoke(runBatch, { key, ...more, body: { writes } });
  return { status, body: body as unknown as Body };
};

const inserting = (name: string, document: object, more: object = {}) => ({
  op: 'insert',
  collection: name,
  document,
  ...more,
});

const countOf = async (name: string, query = ''): Promise<number> => {
  const { body } = await project.api<{ data: { count: number } }>('GET', `/api/data/${name}?count=true${query}`);
  return body.data.count;
};

const mongoCommands = async (act: () => Promise<unknown>): Promise<string[]> =>
  (await commandsOf(act)).filter((command) => command.startsWith('mongodb'));

const newId = (): string =>
  Math.floor(Date.now() / 1000).toString(16) + Math.random().toString(16).slice(2).padEnd(16, '0').slice(0, 16);

test('ten inserts of one collection take one command, as a bulk insert of ten', async () => {
  const documents = Array.from({ length: 10 }, (_, n) => ({ n }));
  const sent = documents.map((document) => inserting('open', document));
  await batch(sent);
  expect(await mongoCommands(() => batch(sent))).toEqual(['mongodb insert']);
  const { secretKey: key } = project;
  const bulk = () => invoke(createDocuments, { key, params: { collectionName: 'open' }, body: documents });
  await bulk();
  expect(await mongoCommands(bulk)).toEqual(['mongodb insert']);
});

test('only consecutive inserts of one collection share a command, and the effects keep their order', async () => {
  const sent = [
    inserting('fed', { n: 1 }),
    inserting('fed', { n: 2 }),
    { op: 'update', collection: 'fed', id: { $id: 0 }, changes: { $inc: { n: 10 } } },
    inserting('fed', { n: 3 }),
    inserting('open', { n: 4 }),
    inserting('fed', { n: 5 }),
    inserting('fed', { n: 6 }),
    inserting('fed', { n: 7 }),
  ];
  const changesSince = async (since: string) => {
    type Changes = { data: { next: string; changes: readonly { document: { n: number } }[] } };
    return (await project.api<Changes>('GET', `/api/data/fed/changes${since}`)).body.data;
  };
  const { next } = await changesSince('');
  let answer: Awaited<ReturnType<typeof batch>> | undefined;
  const commands = await mongoCommands(async () => {
    answer = await batch(sent);
  });
  expect(commands.filter((command) => command === 'mongodb insert')).toHaveLength(4);
  expect(answer?.body.data.results.map(({ status }) => status)).toEqual([201, 201, 200, 201, 201, 201, 201, 201]);
  expect(answer?.body.data.results.map(({ document }) => document.n)).toEqual([1, 2, 11, 3, 4, 5, 6, 7]);
  const { changes } = await changesSince(`?since=${next}`);
  // Each document is in the feed with its last state.
  expect(changes.map(({ document }) => document.n)).toEqual([2, 11, 3, 5, 6, 7]);
});

test('409 DUPLICATE_VALUE in the middle of inserts names its index and undoes those before it', async () => {
  await batch([inserting('fed', { code: 'taken' })]);
  const before = await countOf('fed');
  const sent = ['a', 'b', 'taken', 'c', 'b'].map((code) => inserting('fed', { code }));
  const { status, body } = await batch([inserting('open', {}), ...sent]);
  expect({ status, code: body.code }).toEqual({ status: 409, code: 'DUPLICATE_VALUE' });
  expect(body.message).toContain('(write 3)');
  expect(body.errors).toEqual([{ index: 3, field: 'code', message: 'code already exists' }]);
  expect(await countOf('fed')).toBe(before);
  const own = await batch(['a', 'b', 'c', 'b'].map((code) => inserting('fed', { code })));
  expect(own.body.errors).toEqual([expect.objectContaining({ index: 3, field: 'code' })]);
  expect(await countOf('fed')).toBe(before);
});

test('412 DOCUMENT_EXISTS of an id within inserts names its index; undone ids can be used again', async () => {
  const [first, second, taken] = [newId(), newId(), newId()];
  await batch([inserting('fed', {}, { id: taken })]);
  const withIds = (ids: readonly string[]) => ids.map((id, n) => inserting('fed', { n }, { id }));
  const refused = await batch(withIds([first, second, taken]));
  expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 412, code: 'DOCUMENT_EXISTS' });
  expect(refused.body.errors?.[0]).toMatchObject({ index: 2 });
  const fresh = newId();
  const again = await batch(withIds([fresh, second, newId(), first, newId()]));
  expect(again.status, again.body.message).toBe(200);
  expect(again.body.data.results.map(({ document }) => document.n)).toEqual([0, 1, 2, 3, 4]);
  const revisionOf = async (id: string) => (await project.api('GET', `/api/data/fed/${id}`)).headers.get('etag');
  expect([await revisionOf(fresh), await revisionOf(second)]).toEqual(['"1"', '"3"']);
});

test('400 VALIDATION_FAILED in the middle of inserts names its index, and nothing is written', async () => {
  const before = await countOf('fed');
  const commands = await mongoCommands(async () => {
    const { status, body } = await batch(
      [{ n: 1 }, { n: 2 }, { n: 'x' }, { n: 4 }].map((each) => inserting('fed', each)),
    );
    expect({ status, code: body.code, index: body.errors?.[0]?.index }).toEqual({
      status: 400,
      code: 'VALIDATION_FAILED',
      index: 2,
    });
  });
  expect(commands).not.toContain('mongodb insert');
  expect(await countOf('fed')).toBe(before);
});

test('inserts may refer to earlier ones of the same collection, which must exist', async () => {
  const sent = [
    inserting('nodes', {}),
    inserting('nodes', { parent: { $id: 0 } }),
    inserting('nodes', { parent: { $id: 1 } }),
  ];
  const { status, body } = await batch(sent);
  expect(status, body.message).toBe(200);
  expect(body.data.results[2]?.document.parent).toBe(body.data.results[1]?.document._id);
});

test('inserts of a user may depend on earlier ones by a rule', async () => {
  const chain = [{ name: 'first' }, { name: 'second', after: 'first' }, { name: 'third', after: 'second' }];
  const { status, body } = await batch(
    chain.map((each) => inserting('steps', each)),
    ann,
  );
  expect(status, body.message).toBe(200);
  const refused = await batch([inserting('steps', { name: 'first' }), inserting('steps', { after: 'none' })], ann);
  expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 403, code: 'RULE_DENIED' });
  expect(refused.body.errors?.[0]).toMatchObject({ index: 1 });
});

test('400 VALIDATION_FAILED for a missing reference of an insert names its index; the others take one search', async () => {
  const { body: made } = await batch([inserting('open', {})]);
  const of = made.data.results[0]?.document._id;
  const before = await countOf('items');
  const commands = await mongoCommands(() => batch([{ of }, { of }, { of }].map((each) => inserting('items', each))));
  expect(commands.filter((command) => command === 'mongodb insert')).toHaveLength(1);
  const { status, body } = await batch(
    [{ of }, { of: 'f'.repeat(24) }, { of }].map((each) => inserting('items', each)),
  );
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'VALIDATION_FAILED' });
  expect(body.errors).toEqual([expect.objectContaining({ index: 1, field: 'of' })]);
  expect(await countOf('items')).toBe(before + 3);
});

test('429 RATE_LIMITED after 20 clashes of a user with values that others have', async () => {
  await batch([inserting('codes', { code: 'secret' })]);
  const tries = [];
  for (let n = 0; n < 22; n += 1) {
    const sent = [inserting('codes', { code: `own ${n}` }), inserting('codes', { code: 'secret' })];
    const { status, body } = await batch(sent, ann);
    tries.push(`${status} ${body.code} ${body.errors?.[0]?.index}`);
  }
  expect(tries.slice(0, 20)).toEqual(Array(20).fill('409 DUPLICATE_VALUE 1'));
  expect(new Set(tries.slice(20).map((each) => each.slice(0, 16)))).toEqual(new Set(['429 RATE_LIMITED']));
  expect(await countOf('codes', '&code=own%2021')).toBe(0);
});

test('an Idempotency-Key repeats the response of grouped inserts and writes nothing again', async () => {
  const sent = [1, 2, 3].map((n) => inserting('other', { n }));
  const headers = { 'idempotency-key': `inserts-${Date.now()}` };
  const first = await batch(sent, { headers });
  expect((await batch(sent, { headers })).body).toEqual(first.body);
  expect(await countOf('other')).toBe(3);
});

const down = async (): Promise<never> => {
  throw new MongoNetworkError('connection closed');
};
const failUndo = (): void => {
  for (const name of ['findOneAndUpdate', 'updateOne', 'deleteOne', 'bulkWrite'] as const) {
    vi.spyOn(Collection.prototype, name).mockImplementation(down);
  }
};

test('503 DATABASE_UNAVAILABLE when the database fails during the only command and its undo', async () => {
  vi.spyOn(Collection.prototype, 'insertMany').mockImplementation(async () => {
    failUndo();
    return down();
  });
  const { status, body } = await batch([inserting('open', {}), inserting('open', {})]);
  expect({ status, code: body.code }).toEqual({ status: 503, code: 'DATABASE_UNAVAILABLE' });
});

test('409 BATCH_PARTLY_DONE lists each grouped insert that may have stayed', async () => {
  const { insertMany } = Collection.prototype;
  vi.spyOn(Collection.prototype, 'insertMany').mockImplementation(async function (this: Collection, ...given) {
    if (this.collectionName === 'other') return insertMany.apply(this, given);
    failUndo();
    return down();
  });
  const sent = ['other', 'other', 'open', 'open'].map((name) => inserting(name, {}));
  const { status, body } = await batch(sent);
  expect({ status, code: body.code }).toEqual({ status: 409, code: 'BATCH_PARTLY_DONE' });
  expect(body.errors?.map(({ index }) => index)).toEqual([2, 0, 1, 2, 3]);
});
