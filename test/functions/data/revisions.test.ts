import { Double, Long, type Document as MongoDocument, ObjectId } from 'mongodb';
import { afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { handler as deleteDocument } from '../../../functions/data/delete-document.ts';
import { handler as restoreDocument } from '../../../functions/data/restore-document.ts';
import { handler as updateDocument } from '../../../functions/data/update-document.ts';
import { clock } from '../../../shared/core/clock.ts';
import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { type Answer, call, inParallel, type RequestOptions, tally } from '../../support/clients/client.ts';
import { invoke } from '../../support/clients/invoke.ts';
import { commandsOf, listenToCommands } from '../../support/command-notes.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';
import { domainProject } from '../../support/fixtures/stored-users.ts';

listenToCommands();

afterEach(() => {
  vi.restoreAllMocks();
});

let project: TestProject;
let domain: Project;

beforeAll(async () => {
  project = await newProject([
    { name: 'notes' },
    { name: 'parents', schema: [{ key: 'note', type: 'Ref', ref: 'notes' }] },
    { name: 'todos', rls: { enabled: true, mode: 'private' } },
  ]);
  domain = await domainProject(project);
});

type Body = Record<string, unknown> & { readonly _id: string };
const send = <B = Body>(method: string, path: string, options: RequestOptions = {}) =>
  project.api<B>(method, `/api/data/${path}`, options);
const ifMatch = (tag: string): RequestOptions => ({ headers: { 'if-match': tag } });
const etagOf = ({ headers }: Answer<unknown>): string | null => headers.get('etag');
const create = async (body: object = { n: 0 }, name = 'notes'): Promise<string> =>
  (await send('POST', name, { body })).body._id;
const inNotes = <T>(act: (notes: ReturnType<typeof notesOf>) => Promise<T>): Promise<T> =>
  onProject(domain, (db) => act(notesOf(db)));
const notesOf = (db: Parameters<Parameters<typeof onProject>[1]>[0]) => db.collection('notes');
const storedRevision = async (id: string): Promise<unknown> =>
  (await inNotes((notes) => notes.findOne({ _id: new ObjectId(id) })))?._rev;

/** Every write to one document, with its path and body. */
const writes = {
  'an update of whole fields': (id: string, options: RequestOptions) =>
    send('PATCH', `notes/${id}`, { ...options, body: { n: 1 } }),
  'an update by a path': (id: string, options: RequestOptions) =>
    send('PUT', `notes/${id}`, { ...options, body: { 'in.n': 1 } }),
  'a move to the trash': (id: string, options: RequestOptions) => send('DELETE', `notes/${id}`, options),
  recovery: async (id: string, options: RequestOptions) => send('PATCH', `notes/${id}/recover`, options),
} as const;
type Write = keyof typeof writes;
const kinds = Object.keys(writes) as Write[];

/** Stores a document for this kind of write at this revision. */
const storeFor = async (kind: Write, _rev: unknown): Promise<string> => {
  const state =
    kind === 'recovery' ? { isDeleted: true, deletedAt: new Date() } : { isDeleted: false, deletedAt: null };
  const document: MongoDocument = { _id: new ObjectId(), n: 0, ...state };
  if (_rev !== undefined) document._rev = _rev;
  await inNotes((notes) => notes.insertOne(document, { ignoreUndefined: false }));
  return String(document._id);
};

describe('the revision of a document', () => {
  test('starts at 1 and counts every write; only ETag contains it', async () => {
    const made = await send('POST', 'notes', {
      body: { n: 1, _rev: 70, _pos: 1, _gone: true, _fuse: [1], _effects: {} },
    });
    const { _id: id } = made.body;
    expect([made.status, etagOf(made), Object.keys(made.body)]).toEqual([
      201,
      '"1"',
      ['_id', 'n', 'isDeleted', 'deletedAt', 'createdAt', 'updatedAt'],
    ]);
    for (const [at, kind] of [...kinds, ...kinds].entries()) {
      const answer = await writes[kind](id, {});
      expect([kind, answer.status, etagOf(answer)]).toEqual([kind, 200, `"${at + 2}"`]);
      expect(JSON.stringify(answer.body)).not.toContain('_rev');
      expect(await storedRevision(id)).toBe(at + 2);
    }
    const read = await send('GET', `notes/${id}`);
    expect([etagOf(read), Object.hasOwn(read.body, '_rev')]).toEqual(['"9"', false]);
    const gone = await send('DELETE', `notes/${id}?permanent=true`);
    expect([gone.status, etagOf(gone)]).toEqual([200, null]);
  });

  test('is 1 for each document of a bulk insert', async () => {
    const { ids } = (await send<{ data: { ids: string[] } }>('POST', 'notes/bulk', { body: [{ a: 1 }, { _rev: 9 }] }))
      .body.data;
    expect(await Promise.all(ids.map(storedRevision))).toEqual([1, 1]);
  });

  test('200 when an update also contains it, which is ignored; 400 when it contains nothing else', async () => {
    const id = await create();
    const answer = await send<{ data: Body }>('PATCH', `notes/${id}`, {
      body: { n: 5, _rev: 9, '_rev.x': 1, _pos: 2, '_fuse.0': 1, '_effects.mails': [] },
    });
    expect([answer.status, etagOf(answer), answer.body.data.n]).toEqual([200, '"2"', 5]);
    const nothing = await send('PATCH', `notes/${id}`, { body: { _rev: 9, '_gone.x': true } });
    expect(nothing).toMatchObject({ status: 400, body: { code: 'NOTHING_TO_UPDATE' } });
    expect(await storedRevision(id)).toBe(2);
  });

  const strange: readonly unknown[] = ['7', 1.5, -3, null, [4], { a: 1 }, true, new Date(), Number.NaN, Infinity];
  test.each(kinds)('counts from 0 when another program stored no valid revision, with %s', async (kind) => {
    for (const _rev of strange) {
      const id = await storeFor(kind, _rev);
      const answer = await writes[kind](id, ifMatch('"0"'));
      expect([_rev, answer.status, etagOf(answer)]).toEqual([_rev, 200, '"1"']);
      expect(await storedRevision(id)).toBe(1);
    }
    for (const [_rev, next] of [
      [undefined, 1],
      [0, 1],
      [new Double(3), 4],
      [Long.fromNumber(2 ** 40), 2 ** 40 + 1],
    ] as const) {
      const id = await storeFor(kind, _rev);
      const answer = await writes[kind](id, ifMatch(`"${next - 1}"`));
      expect([_rev, answer.status, etagOf(answer)]).toEqual([_rev, 200, `"${next}"`]);
    }
  });

  test('304 without a body when If-None-Match contains it, 200 otherwise', async () => {
    const id = await create();
    const get = (tag: string, query = '') =>
      call(inject('stack').baseUrl, 'GET', `/api/data/notes/${id}${query}`, {
        key: project.secretKey,
        headers: { 'if-none-match': tag },
      });
    for (const tag of ['"1"', 'W/"1"', '"0", "1"', '*']) {
      const answer = await get(tag);
      expect([tag, answer.status, answer.body, etagOf(answer)]).toEqual([tag, 304, {}, '"1"']);
    }
    for (const tag of ['"2"', '1', '""', '"1', 'W/1']) expect([tag, (await get(tag)).status]).toEqual([tag, 200]);
  });

  test('is missing when references are populated: no ETag and no 304', async () => {
    const note = await create();
    const id = await create({ note }, 'parents');
    const answer = await send<{ note: object }>('GET', `parents/${id}?populate=note`, {
      headers: { 'if-none-match': '*' },
    });
    expect([answer.status, etagOf(answer)]).toEqual([200, null]);
    expect(Object.keys(answer.body.note)).toEqual(['_id', 'n', 'isDeleted', 'deletedAt', 'createdAt', 'updatedAt']);
  });

  test('200 with it in list items only when meta=rev is requested', async () => {
    const tag = new ObjectId().toHexString();
    const id = await create({ tag });
    await send('PATCH', `notes/${id}`, { body: { n: 1 } });
    await inNotes((notes) => notes.insertOne({ tag, _rev: 'strange' }));
    const list = async (query: string) =>
      (await send<{ data: { items: Record<string, unknown>[] } }>('GET', `notes?tag=${tag}&sort=_id&${query}`)).body
        .data.items;
    expect((await list('meta=rev')).map(({ _rev }) => _rev)).toEqual([0, 2].sort((a, b) => b - a));
    expect(await list('meta=rev&fields=n&n=1')).toEqual([{ _id: id, n: 1, _rev: 2 }]);
    expect(await list('meta=rev&cursor=&n=1')).toMatchObject([{ _id: id, _rev: 2 }]);
    const asked = await send<{ data: { items: Body[] } }>('POST', 'notes/query', {
      body: { where: { tag, n: 1 }, meta: 'rev' },
    });
    expect(asked.body.data.items).toMatchObject([{ _id: id, _rev: 2 }]);
    for (const query of ['', 'meta=false', 'fields=_rev,_pos,n', 'fields=_rev&meta=false', 'cursor=']) {
      expect(JSON.stringify(await list(query))).not.toContain('_rev');
    }
    expect(await send('GET', 'notes?meta=revision')).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
  });

  test.each([
    ['notes?_rev=1', 'INVALID_FILTER'],
    ['notes?_rev_gte=1', 'INVALID_FILTER'],
    ['notes?_pos_exists=true', 'INVALID_FILTER'],
    ['notes?_gone=true', 'INVALID_FILTER'],
    ['notes?_fuse_exists=true', 'INVALID_FILTER'],
    ['notes?_rev.x=1', 'INVALID_FILTER'],
    [`notes?where=${encodeURIComponent('{"$or":[{"_rev":1}]}')}`, 'INVALID_FILTER'],
    ['notes?sort=-_rev', 'INVALID_QUERY'],
    ['notes?sort=_pos:asc', 'INVALID_QUERY'],
    ['parents?populate=_rev', 'INVALID_QUERY'],
  ])('400 for %s', async (path, code) => {
    expect(await send('GET', path)).toMatchObject({ status: 400, body: { code } });
  });

  test('400 when a schema, an owner field or an index uses it', async () => {
    const base = `/api/projects/${project.id}/collections`;
    const { dashboard } = project.developer;
    for (const key of ['_rev', '_pos', '_gone', '_fuse', '_effects']) {
      const schema = [{ key, type: 'Number' }];
      expect(await dashboard('POST', base, { name: 'a', schema })).toMatchObject({ body: { code: 'INVALID_SCHEMA' } });
      const rls = { enabled: true, ownerField: key };
      expect(await dashboard('POST', base, { name: 'a', schema: null, rls })).toMatchObject({
        body: { code: 'INVALID_SCHEMA' },
      });
      expect(await dashboard('POST', `${base}/notes/indexes`, { keys: { [key]: 1 } })).toMatchObject({
        status: 400,
        body: { code: 'INVALID_INDEX' },
      });
    }
  });

  test('200 for aggregations, which cannot read it in any way', async () => {
    const tag = new ObjectId().toHexString();
    const id = await create({ tag, parent: tag });
    const run = async (...pipeline: object[]) =>
      (await send<{ data: unknown[] }>('POST', 'notes/aggregate?include_deleted=true', { body: { pipeline } })).body;
    const $match = { tag };
    const shown = [{ _id: id, tag, parent: tag }];
    const hidden = /_rev|_pos|_gone|_fuse|_effects/;
    for (const stages of [
      [],
      [{ $sort: { tag: 1 } }, { $limit: 5 }],
      [{ $project: { tag: 0 } }],
      [{ $set: { copy: '$$ROOT' } }],
      [{ $replaceWith: { fields: { $objectToArray: '$$ROOT' } } }],
      [{ $group: { _id: null, all: { $push: '$$ROOT' } } }],
      [{ $facet: { a: [{ $limit: 1 }] } }],
      [{ $lookup: { from: 'notes', localField: 'tag', foreignField: 'tag', as: 'x' } }],
      [{ $lookup: { from: 'notes', pipeline: [{ $match }], as: 'x' } }],
      [{ $unionWith: 'notes' }, { $match }],
      [
        {
          $graphLookup: {
            from: 'notes',
            startWith: '$tag',
            connectFromField: 'tag',
            connectToField: 'parent',
            as: 'x',
          },
        },
      ],
      [{ $redact: '$$DESCEND' }],
      [{ $sample: { size: 1 } }],
    ]) {
      const { data } = await run({ $match }, ...stages);
      expect(data).toHaveLength(JSON.stringify(stages).includes('unionWith') ? 2 : 1);
      expect(JSON.stringify(data)).toContain(tag);
      expect(JSON.stringify(data)).not.toMatch(hidden);
    }
    expect(await run({ $match: { tag, _rev: 1 } })).toMatchObject({ data: [] });
    expect(await run({ $match: { tag, _rev: { $exists: false } } })).toMatchObject({ data: shown });
    expect(await run({ $match: { tag, $expr: { $eq: ['$_rev', 1] } } })).toMatchObject({ data: [] });
    expect(await run({ $match }, { $group: { _id: '$_rev' } })).toMatchObject({ data: [{ _id: null }] });
    expect(
      await run({ $match }, { $lookup: { from: 'notes', localField: 'n', foreignField: '_rev', as: 'x' } }),
    ).toMatchObject({ code: 'INVALID_PIPELINE' });
  });
});

describe('If-Match', () => {
  test.each(kinds)(
    '200 when it matches the current revision, 412 with the current revision otherwise, for %s',
    async (kind) => {
      const id = await storeFor(kind, 4);
      const before = await inNotes((notes) => notes.findOne({ _id: new ObjectId(id) }));
      for (const tag of ['"3"', '"5"', '"0"', '"40"']) {
        const answer = await writes[kind](id, ifMatch(tag));
        expect(answer).toMatchObject({ status: 412, body: { success: false, code: 'REVISION_MISMATCH' } });
        expect(etagOf(answer)).toBe('"4"');
      }
      expect(await inNotes((notes) => notes.findOne({ _id: new ObjectId(id) }))).toEqual(before);
      const answer = await writes[kind](id, ifMatch('"4"'));
      expect([answer.status, etagOf(answer)]).toEqual([200, '"5"']);
      expect(await writes[kind](await storeFor(kind, 4), ifMatch('*'))).toMatchObject({ status: 200 });
    },
  );

  test('412 for a permanent deletion at another revision, 200 at the current one', async () => {
    const id = await create();
    const remove = (tag: string) => send('DELETE', `notes/${id}?permanent=true`, ifMatch(tag));
    const refused = await remove('"2"');
    expect([refused.status, etagOf(refused)]).toEqual([412, '"1"']);
    expect(await remove('"1"')).toMatchObject({ status: 200 });
    expect(await remove('"1"')).toMatchObject({ status: 404 });
  });

  test('200 for a weak tag, as a compressing proxy makes it, and 412 for a weak tag of another revision', async () => {
    for (const kind of kinds) {
      const id = await storeFor(kind, 1);
      expect(await writes[kind](id, ifMatch('W/"2"'))).toMatchObject({ status: 412 });
      expect(await writes[kind](id, ifMatch('W/"1"'))).toMatchObject({ status: 200 });
    }
  });

  test.each([
    '1',
    'W/1',
    'w/"1"',
    'W/"1", W/"2"',
    '"1", "2"',
    '"01"',
    '"-1"',
    '"1.0"',
    '""',
    '"x"',
    '"99999999999999999"',
    '"1"x',
    '',
  ])('400 for %j', async (tag) => {
    const id = await create();
    for (const kind of kinds) {
      const sent = tag === '' ? ' ' : tag;
      expect(await writes[kind](id, ifMatch(sent))).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED', errors: [{ field: 'if-match' }] },
      });
    }
  });

  test('404 for a missing document and 403 for another user’s, before the revision is checked', async () => {
    const missing = 'f'.repeat(24);
    for (const kind of kinds) {
      expect(await writes[kind](missing, ifMatch('"1"'))).toMatchObject({ status: 404 });
      expect(await writes[kind](missing, ifMatch('*'))).toMatchObject({ status: 404 });
    }
    const [ann, bob] = await Promise.all(['a', 'b'].map((digit) => project.tokenFor(digit.repeat(24))));
    const key = project.publishableKey;
    const { _id: id } = (await send('POST', 'todos', { key, token: ann ?? '', body: { n: 1 } })).body;
    for (const tag of ['"1"', '"9"', '*']) {
      const options = { key, token: bob ?? '', ...ifMatch(tag) };
      const update = await send('PATCH', `todos/${id}`, { ...options, body: { n: 2 } });
      const trash = await send('DELETE', `todos/${id}`, options);
      const remove = await send('DELETE', `todos/${id}?permanent=true`, options);
      for (const answer of [update, trash, remove]) {
        expect(answer).toMatchObject({ status: 403, body: { code: 'NOT_OWNER' } });
        expect(etagOf(answer)).toBeNull();
      }
    }
    await send('DELETE', `todos/${id}`);
    expect(await send('PATCH', `todos/${id}`, { ...ifMatch('"1"'), body: { n: 2 } })).toMatchObject({ status: 404 });
  });

  test.each([...kinds, 'a permanent deletion'] as const)(
    '200 for one of 50 concurrent requests and 412 for 49, for %s',
    async (kind) => {
      const id = await storeFor(kind === 'a permanent deletion' ? 'an update of whole fields' : kind, 7);
      const answers = await inParallel(50, () =>
        kind === 'a permanent deletion'
          ? send('DELETE', `notes/${id}?permanent=true`, ifMatch('"7"'))
          : writes[kind](id, ifMatch('"7"')),
      );
      // After a move the document has another state, and that error comes before its revision.
      const lost = kind.startsWith('an update') ? 412 : 404;
      expect(tally(answers)).toEqual({ 200: 1, [lost]: 49 });
      if (lost === 412) expect(await storedRevision(id)).toBe(8);
    },
  );

  test('needs no extra command for a write, and one when it is rejected', async () => {
    const options = (id: string, tag: string, body?: object) => ({
      key: project.secretKey,
      params: { collectionName: 'notes', id },
      headers: { 'if-match': tag },
      body,
    });
    const id = await create();
    // A stopped clock keeps cached lookups from being repeated in between.
    vi.spyOn(clock, 'now').mockReturnValue(Date.now());
    await invoke(updateDocument, options(id, '"1"', { n: 1 }));
    const mongo = async (act: () => Promise<unknown>) =>
      (await commandsOf(act)).filter((command) => command.startsWith('mongodb') && command !== 'mongodb dbStats');
    const one = ['mongodb findAndModify'];
    expect(await mongo(() => invoke(updateDocument, options(id, '"2"', { n: 2 })))).toEqual(one);
    expect(await mongo(() => invoke(updateDocument, options(id, '"3"', { 'a.b': 2 })))).toEqual(one);
    expect(await mongo(() => invoke(deleteDocument, options(id, '"9"')))).toEqual(['mongodb find', ...one]);
    expect(await mongo(() => invoke(deleteDocument, options(id, '"4"')))).toEqual(one);
    expect(await mongo(() => invoke(restoreDocument, options(id, '"5"')))).toEqual(one);
    expect(await storedRevision(id)).toBe(6);
  });
});

describe('the data browser', () => {
  test('returns and accepts revisions as the data API does', async () => {
    const { token } = project.developer;
    const browse = (method: string, rest: string, options: RequestOptions = {}) =>
      call<{ data: Body }>(
        inject('stack').dashboardUrl,
        method,
        `/api/projects/${project.id}/collections/notes/${rest}`,
        {
          token,
          ...options,
        },
      );
    const made = await browse('POST', 'documents', { body: { n: 1 } });
    const { _id: id } = made.body.data;
    const update = (tag: string) => browse('PATCH', `documents/${id}`, { ...ifMatch(tag), body: { n: 2 } });
    const steps = [
      made,
      await browse('GET', `documents/${id}`),
      await browse('GET', `documents/${id}`, { headers: { 'if-none-match': '"1"' } }),
      await update('"4"'),
      await update('"1"'),
      await browse('DELETE', `documents/${id}`, ifMatch('"1"')),
      await browse('DELETE', `documents/${id}`, ifMatch('"2"')),
      await browse('POST', `trash/${id}/restore`, ifMatch('"2"')),
      await browse('POST', `trash/${id}/restore`, ifMatch('"3"')),
    ];
    expect(steps.map((step) => [step.status, etagOf(step)])).toEqual([
      [201, '"1"'],
      [200, '"1"'],
      [304, '"1"'],
      [412, '"1"'],
      [200, '"2"'],
      [412, '"2"'],
      [200, '"3"'],
      [412, '"3"'],
      [200, '"4"'],
    ]);
  });
});
