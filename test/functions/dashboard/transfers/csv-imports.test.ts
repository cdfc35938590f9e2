import { beforeAll, expect, test } from 'vitest';
import { everyType } from '../../../support/fixtures/collections.ts';
import { openTransfers, type TransferRequests } from '../../../support/fixtures/transfer-requests.ts';

const dateForm = ' in ISO 8601, such as 2026-01-31 or 2026-01-31T09:30:00Z';

let at: TransferRequests;

beforeAll(async () => {
  at = await openTransfers();
});

test('200 for CSV: typed cells, quotes and dotted columns; empty cells are skipped', async () => {
  const collection = await at.newCollection(everyType.schema);
  const done = await at.imported(collection, {
    format: 'csv',
    content: [
      '\ufefftitle,views,published,publishedAt,tags,meta.source,meta.score,extra',
      '"a ""quoted"", title",7,TRUE,2026-01-02,"[""x"",""y""]",web,1.5,007',
      '"two',
      'lines",,,,,,,',
      'c,many,maybe,2026-02-30,x,,1,',
      'd,1',
      'e,2,false,,,,,',
      'f,9007199254740993,,,,,,',
    ].join('\r\n'),
  });
  expect(done).toMatchObject({ state: 'done', inserted: 3, rejected: 3 });
  expect(done.errors).toEqual([
    { line: 5, field: 'views', message: 'views must be a Number' },
    { line: 5, field: 'published', message: 'published must be a Boolean' },
    { line: 5, field: 'publishedAt', message: `publishedAt must be a Date${dateForm}` },
    { line: 5, field: 'meta.source', message: 'meta.source is required' },
    { line: 5, field: 'tags', message: 'tags must be an Array' },
    { line: 6, field: '', message: 'The row has 2 values; the first line names 8 columns.' },
    {
      line: 8,
      field: '',
      message: 'views: integers beyond ±(2^53−1) would change when stored. Send it as a string.',
    },
  ]);
  const list = await at.project.api<{ data: { items: Record<string, unknown>[] } }>(
    'GET',
    `/api/data/${collection}?sort=_id`,
  );
  expect(list.body.data.items).toMatchObject([
    {
      title: 'a "quoted", title',
      views: 7,
      published: true,
      publishedAt: '2026-01-02T00:00:00.000Z',
      tags: ['x', 'y'],
      meta: { source: 'web', score: 1.5 },
      extra: '007',
    },
    { title: 'two\r\nlines', views: 0 },
    { title: 'e', views: 2, published: false },
  ]);
  expect(list.body.data.items[1]).not.toHaveProperty('meta');
});

test.each([
  ['that is never closed', 'a,b\n1,x\n2,y\n3,"z\n4,w'],
  ['out of place', 'a,b\n1,x\n2,y\n3,"z"z\n4,w'],
])('failed for CSV with a quote %s; the lines before it are imported', async (_what, content) => {
  const collection = await at.newCollection();
  const done = await at.imported(collection, { format: 'csv', content });
  expect(done).toMatchObject({
    state: 'failed',
    failure: expect.stringMatching(/not valid CSV/) as unknown,
    inserted: 2,
  });
});

test.each([
  ['a quote that is never closed', 'a,b\n1,"2\n3,4', /not valid CSV/],
  ['a value in a column without a name', 'a,,c\n1,2,3', /Nothing was imported.* column 2, which the first line/],
  ['two delimiters that fit', 'Name;Ort, Land;Alter\nAnna;Berlin, DE;30', /semicolons and commas, so it is not clear/],
  ['a first line alone', 'a,b\n', /contains no documents/],
  ['nothing in it', '', /contains no documents/],
  [
    'every line refused',
    'a\n1,2\n3,4',
    /^Nothing was imported: all 2 lines were rejected. Line 2: The row has 2 values/,
  ],
  ['a column twice', 'a,a\n1,2', /comes twice/],
  ['a column inside another', 'a,a.b\n1,2', /inside another/],
  ['a column named __proto__', 'a,__proto__.b\n1,2', /may not be named/],
  ['a column of 65 levels', `${Array(65).fill('a').join('.')}\n1`, /more than 64 levels/],
  ['a column with hundreds of thousands of parts', `${Array(400_000).fill('a').join('.')}\n1`, /more than 1000 char/],
])('failed for CSV with %s', async (_what, content, failure) => {
  const collection = await at.newCollection();
  const done = await at.imported(collection, { format: 'csv', content });
  expect(done).toMatchObject({ state: 'failed', failure: expect.stringMatching(failure) as unknown });
});

test('200 for CSV of another program: one apostrophe before a formula is removed, all others stay', async () => {
  const collection = await at.newCollection();
  const cells = [`'=1+1`, `''=1+1`, `'+49 170 1`, `+49 170 1`, `'`, `''`, `'tis`, `it's`, `a'=b`];
  const done = await at.imported(collection, { format: 'csv', content: ['text', ...cells].join('\n') });
  expect(done).toMatchObject({ state: 'done', inserted: cells.length, rejected: 0 });
  const list = await at.project.api<{ data: { items: { text: string }[] } }>('GET', `/api/data/${collection}?sort=_id`);
  expect(list.body.data.items.map(({ text }) => text)).toEqual([
    '=1+1',
    `'=1+1`,
    '+49 170 1',
    '+49 170 1',
    `'`,
    `''`,
    `'tis`,
    `it's`,
    `a'=b`,
  ]);
});
