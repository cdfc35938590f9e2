import { Collection } from 'mongodb';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { inParallel, type RequestOptions, tally } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

listenToCommands();
Object.assign(process.env, { RATE_LIMIT: '1000000', RATE_BLOCK: '1' });

const schema = [
  { key: 'n', type: 'Number' },
  { key: 'text', type: 'String' },
  { key: 'secret', type: 'String', read: 'server' },
  { key: 'own', type: 'String', read: 'owner' },
  { key: 'meta', type: 'Object', fields: [{ key: 'hidden', type: 'String', read: 'server' }] },
  {
    key: 'rows',
    type: 'Array',
    items: { type: 'Object', fields: [{ key: 'hidden', type: 'String', read: 'server' }] },
  },
];

let project: UsersProject;
let ann: RequestOptions;
let bob: RequestOptions;
let annId: string;

beforeAll(async () => {
  project = await newUsersProject();
  for (const collection of [
    { name: 'notes' },
    { name: 'fed', changes: true },
    { name: 'closed', schema: [{ key: 'n', type: 'Number' }], closed: true },
    { name: 'mine', schema, rls: { enabled: true, mode: 'public-read' } },
    { name: 'secret', schema, rls: { enabled: true, mode: 'private' } },
    {
      name: 'ruled',
      schema,
      rls: {
        enabled: true,
        mode: 'rules',
        ownerField: 'userId',
        rules: {
          read: { $or: [{ userId: { $user: '_id' } }, { n: { $gte: 100 } }] },
          create: true,
          update: { before: { userId: { $user: '_id' } }, after: { text: { $ne: 'no' } } },
          delete: { userId: { $user: '_id' } },
          readTrash: { text: { $ne: 'hidden' } },
        },
      },
    },
  ])
    await project.addCollection(collection);
  const key = project.publishableKey;
  const [one, two] = [await project.newUser(), await project.newUser()];
  annId = one.userId;
  [ann, bob] = [
    { key, token: one.accessToken },
    { key, token: two.accessToken },
  ];
});

type Doc = Record<string, unknown> & { readonly _id: string };
interface Body {
  readonly code: string;
  readonly message: string;
  readonly data?: Doc;
}

const create = async (collection: string, body: unknown): Promise<string> =>
  (await project.api<Doc>('POST', `/api/data/${collection}`, { body })).body._id;

const pathOf = (collection: string, id: string, where: unknown, more = ''): string => {
  const text = typeof where === 'string' ? where : JSON.stringify(where);
  return `/api/data/${collection}/${id}${more}?where=${encodeURIComponent(text)}`;
};
const update = (collection: string, id: string, where: unknown, body: unknown, options: RequestOptions = {}) =>
  project.api<Body>('PATCH', pathOf(collection, id, where), { ...options, body });
const remove = (collection: string, id: string, where: unknown, options: RequestOptions = {}, permanent = false) =>
  project.api<Body>('DELETE', `${pathOf(collection, id, where)}${permanent ? '&permanent=true' : ''}`, options);
const recover = (collection: string, id: string, where: unknown, options: RequestOptions = {}) =>
  project.api<Body>('PATCH', pathOf(collection, id, where, '/recover'), options);
const get = async (collection: string, id: string) =>
  (await project.api<Doc>('GET', `/api/data/${collection}/${id}?include_deleted=true`)).body;

const failed = (data: object = {}) => ({ status: 412, body: { success: false, code: 'CONDITION_FAILED', data } });

describe('a write with where', () => {
  test('200 when the document fulfills it: update by both methods, deletion, recovery', async () => {
    const id = await create('notes', { n: 1, tags: ['a'] });
    expect(await update('notes', id, { n: 1, tags: 'a' }, { n: 2 })).toMatchObject({
      status: 200,
      body: { data: { n: 2 } },
    });
    const put = await project.api('PUT', pathOf('notes', id, { n: { $in: [2, 3] } }), { body: { $inc: { n: 1 } } });
    expect(put).toMatchObject({ status: 200, body: { data: { n: 3 } } });
    expect(await remove('notes', id, { n: 3 })).toMatchObject({ status: 200 });
    expect(await recover('notes', id, { n: 3 })).toMatchObject({ status: 200 });
    expect(await remove('notes', id, { n: { $regex: '^x' } }, {}, true)).toMatchObject({ status: 412 });
    expect(await remove('notes', id, { n: { $exists: true } }, {}, true)).toMatchObject({ status: 200 });
    expect(await get('notes', id)).toMatchObject({ code: 'DOCUMENT_NOT_FOUND' });
  });

  test('412 CONDITION_FAILED with the document and its ETag; the document does not change', async () => {
    const id = await create('notes', { n: 1 });
    const stored = await get('notes', id);
    const refused = [
      await update('notes', id, { n: 2 }, { n: 3 }),
      await project.api<Body>('PUT', pathOf('notes', id, { n: 2 }), { body: { $inc: { n: 3 } } }),
      await remove('notes', id, { n: 2 }),
      await remove('notes', id, { n: 2 }, {}, true),
    ];
    for (const answer of refused) {
      expect(answer).toMatchObject(failed());
      expect(answer.body.data).toEqual(stored);
      expect(answer.headers.get('etag')).toBe('"1"');
    }
    expect(await get('notes', id)).toEqual(stored);
  });

  test('412 CONDITION_FAILED for a recovery, with the trashed document', async () => {
    const id = await create('notes', { n: 1 });
    await project.api('DELETE', `/api/data/notes/${id}`);
    const answer = await recover('notes', id, { n: 2 });
    expect(answer).toMatchObject(failed({ isDeleted: true }));
    expect(answer.body.data).toEqual(await get('notes', id));
  });

  test('412 CONDITION_FAILED of a permanent deletion in a collection with a changes feed', async () => {
    const id = await create('fed', { n: 1 });
    expect(await remove('fed', id, { n: 2 }, {}, true)).toMatchObject(failed({ n: 1 }));
    expect(await remove('fed', id, { n: 1 }, {}, true)).toMatchObject({ status: 200 });
    expect(await remove('fed', id, { n: 1 }, {}, true)).toMatchObject({ status: 404 });
  });

  test('412 REVISION_MISMATCH first, with the document, when If-Match fails too', async () => {
    const id = await create('notes', { n: 1 });
    const stored = await get('notes', id);
    const old = { headers: { 'if-match': '"7"' } };
    for (const answer of [
      await update('notes', id, { n: 2 }, { n: 3 }, old),
      await update('notes', id, { n: 1 }, { n: 3 }, old),
      await remove('notes', id, { n: 2 }, old),
    ]) {
      expect(answer).toMatchObject({ status: 412, body: { code: 'REVISION_MISMATCH' } });
      expect(answer.body.data).toEqual(stored);
      expect(answer.headers.get('etag')).toBe('"1"');
    }
    const current = { headers: { 'if-match': '"1"' } };
    expect(await update('notes', id, { n: 2 }, { n: 3 }, current)).toMatchObject(failed());
    expect(await update('notes', id, { n: 1 }, { n: 3 }, current)).toMatchObject({ status: 200 });
    await project.api('DELETE', `/api/data/notes/${id}`);
    const trashed = await recover('notes', id, {}, old);
    expect(trashed).toMatchObject({ status: 412, body: { code: 'REVISION_MISMATCH', data: { isDeleted: true } } });
  });

  test('412 CONDITION_FAILED before the bounds of an operator', async () => {
    const id = await create('notes', { n: 'text' });
    expect(await update('notes', id, { n: 1 }, { $inc: { n: 1 } })).toMatchObject(failed({ n: 'text' }));
    expect(await update('notes', id, { n: 'text' }, { $inc: { n: 1 } })).toMatchObject({
      status: 400,
      body: { code: 'INVALID_UPDATE' },
    });
  });

  test('200, not 400, when the document is changed between the reads of a write that did not fit', async () => {
    const id = await create('notes', { open: false, n: 'text' });
    const { findOne } = Collection.prototype;
    let reads = 0;
    vi.spyOn(Collection.prototype, 'findOne').mockImplementation(async function (this: Collection, ...given) {
      if (this.collectionName === 'notes') reads += 1;
      // The second read is about the condition.
      if (this.collectionName === 'notes' && reads === 2) await update('notes', id, {}, { open: true, n: 1 });
      return findOne.apply(this, given);
    });
    const params = { collectionName: 'notes', id };
    const query = `where=${encodeURIComponent(JSON.stringify({ open: true }))}`;
    const answer = await invoke(updateDocument, { key: project.secretKey, params, body: { $inc: { n: 1 } }, query });
    vi.restoreAllMocks();
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200, body: { data: { n: 2 } } });
  });

  test('200 and 412 CONDITION_FAILED in the dashboard', async () => {
    const id = await create('notes', { n: 1 });
    const path = (where: object, rest = `documents/${id}`) =>
      `/api/projects/${project.id}/collections/notes/${rest}?where=${encodeURIComponent(JSON.stringify(where))}`;
    const { dashboard } = project.developer;
    expect(await dashboard('PATCH', path({ n: 2 }), { n: 3 })).toMatchObject(failed({ n: 1 }));
    expect(await dashboard('PATCH', path({ n: 1 }), { n: 2 })).toMatchObject({ status: 200 });
    expect(await dashboard('DELETE', path({ n: 1 }))).toMatchObject(failed({ n: 2 }));
    expect(await dashboard('DELETE', path({ n: 2 }))).toMatchObject({ status: 200 });
    expect(await dashboard('POST', path({ n: 1 }, `trash/${id}/restore`))).toMatchObject(failed({ n: 2 }));
    expect(await dashboard('POST', path({ n: 2 }, `trash/${id}/restore`))).toMatchObject({ status: 200 });
  });

  test('exactly one of 50 concurrent callers writes', async () => {
    const id = await create('notes', { open: true, n: 0 });
    const answers = await inParallel(50, () => update('notes', id, { open: true }, { open: false, $inc: { n: 1 } }));
    expect(tally(answers)).toEqual({ 200: 1, 412: 49 });
    expect(await get('notes', id)).toMatchObject({ n: 1 });
    const deletions = await inParallel(50, () => remove('notes', id, { n: 1 }, {}, true));
    expect(tally(deletions)).toEqual({ 200: 1, 404: 49 });
  });

  test('needs one command', async () => {
    const frozen = Date.now();
    clock.now = () => frozen;
    const id = await create('notes', { n: 1 });
    const cost = (query: string) =>
      commandsOf(async () => {
        const params = { collectionName: 'notes', id };
        const answer = await invoke(updateDocument, { key: project.secretKey, params, body: { n: 1 }, query });
        expect(answer.status).toBe(200);
      });
    await cost('');
    expect(await cost(`where=${encodeURIComponent('{"n":1}')}`)).toEqual(await cost(''));
  });
});

describe('400 before the document is looked up', () => {
  const missing = 'f'.repeat(24);

  test.each<[string, unknown, string]>([
    ['no JSON', '{n:1}', 'INVALID_FILTER'],
    ['no object', '5', 'INVALID_FILTER'],
    ['an unknown operator', { n: { $near: 1 } }, 'INVALID_FILTER'],
    ['a system field of the trash', { isDeleted: true }, 'INVALID_FILTER'],
    ['a pattern that is too long', { n: { $regex: 'x'.repeat(129) } }, 'INVALID_REGEX'],
    ['more than 8 KiB', { n: 'x'.repeat(9000) }, 'INVALID_FILTER'],
  ])('for %s', async (_what, where, code) => {
    for (const answer of [
      await update('notes', missing, where, { n: 1 }),
      await remove('notes', missing, where),
      await recover('notes', missing, where),
    ])
      expect(answer).toMatchObject({ status: 400, body: { code } });
  });

  test('VALIDATION_FAILED for a field that the schema of a closed collection lacks', async () => {
    expect(await update('closed', missing, { nn: 1 }, { n: 1 })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', message: expect.stringContaining('nn is not a field of "closed"') },
    });
  });

  test('VALIDATION_FAILED for where with If-None-Match', async () => {
    const headers = { 'if-none-match': '*' };
    expect(await project.api('PUT', pathOf('notes', 'a'.repeat(24), {}), { body: { n: 1 }, headers })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_FAILED', errors: [{ field: 'where' }] },
    });
  });

  test.each(['secret', 'meta.hidden', 'meta', 'rows.hidden', 'rows', 'own'])(
    'INVALID_FILTER for %s, which the caller may not read, and 200 with the secret key',
    async (path) => {
      const id = await create('mine', { n: 1, userId: annId });
      const where = { [path]: { $exists: false } };
      for (const answer of [
        await update('mine', id, where, { n: 2 }, ann),
        await update('mine', missing, where, { n: 2 }, ann),
        await remove('mine', id, where, ann),
        await recover('mine', id, where, ann),
        await update('ruled', id, where, { n: 2 }, ann),
      ])
        expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_FILTER' } });
      expect(await update('mine', id, where, { n: 2 })).toMatchObject({ status: 200 });
    },
  );

  test('INVALID_FILTER for a $pull condition on a field that the caller may not read', async () => {
    const answer = await project.api('PATCH', `/api/data/mine/${missing}`, {
      ...ann,
      body: { $pull: { rows: { hidden: 'x' } } },
    });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_FILTER' } });
  });
});

describe('access is checked first', () => {
  test('401 TOKEN_MISSING without a user, even when the condition is invalid', async () => {
    const id = await create('mine', { n: 1, userId: annId });
    const stranger = { key: project.publishableKey };
    for (const where of [{ n: 1 }, { n: { $near: 1 } }])
      expect(await remove('mine', id, where, stranger)).toMatchObject({ status: 401, body: { code: 'TOKEN_MISSING' } });
  });

  test.each([{ n: 1 }, { n: 2 }, { text: { $regex: '^(a+)+$' } }, { text: { $startsWith: 'a' } }])(
    '403 NOT_OWNER whatever another user’s document contains: %j',
    async (where) => {
      for (const collection of ['mine', 'secret']) {
        const id = await create(collection, { n: 1, text: 'aaaa', userId: annId });
        for (const answer of [
          await update(collection, id, where, { n: 5 }, bob),
          await remove(collection, id, where, bob),
          await remove(collection, id, where, bob, true),
        ]) {
          expect(answer).toMatchObject({ status: 403, body: { code: 'NOT_OWNER' } });
          expect(answer.body.data).toBeUndefined();
        }
      }
    },
  );

  test.each([{ n: 1 }, { n: 2 }, { text: { $regex: '^(a+)+$' } }])(
    '404 or 403 RULE_DENIED whatever the document contains, under rules: %j',
    async (where) => {
      const hidden = await create('ruled', { n: 1, text: 'aaaa', userId: annId });
      const shown = await create('ruled', { n: 100, text: 'aaaa', userId: annId });
      expect(await update('ruled', hidden, where, { n: 5 }, bob)).toMatchObject({ status: 404 });
      expect(await remove('ruled', hidden, where, bob)).toMatchObject({ status: 404 });
      expect(await update('ruled', shown, where, { n: 5 }, bob)).toMatchObject({
        status: 403,
        body: { code: 'RULE_DENIED' },
      });
      expect(await update('ruled', shown, where, { text: 'no' }, ann)).toMatchObject({
        status: 403,
        body: { code: 'RULE_DENIED' },
      });
    },
  );

  test('412 CONDITION_FAILED for the owner, without the fields they may not read', async () => {
    for (const collection of ['mine', 'secret', 'ruled']) {
      const id = await create(collection, { n: 1, secret: 's', own: 'o', userId: annId });
      const answer = await update(collection, id, { n: 2 }, { text: 'x' }, ann);
      expect(answer).toMatchObject(failed({ n: 1, own: 'o' }));
      expect(answer.body.data).not.toHaveProperty('secret');
      const patterned = await update(collection, id, { text: { $regex: 'q' } }, { text: 'x' }, ann);
      expect(patterned).toMatchObject(failed({ n: 1 }));
      expect(await update(collection, id, { n: 1 }, { text: 'x' }, ann)).toMatchObject({ status: 200 });
      expect(await update(collection, id, { text: { $regex: '^x$' } }, { n: 3 }, ann)).toMatchObject({ status: 200 });
    }
  });
});
