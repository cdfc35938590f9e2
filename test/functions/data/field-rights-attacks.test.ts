import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RequestOptions } from '../../support/clients/client.ts';
import { newUsersProject, users as standardUsers, type UsersProject } from '../../support/fixtures/users.ts';

/*
 * Users and anonymous callers try to read or write server-only fields. Each read is sent with the stored value and with
 * another one: the responses must match and contain no protected value.
 */

const text = (key: string, more: object = {}) => ({ key, type: 'String', ...more });
const object = (key: string, fields: readonly object[], more: object = {}) => ({
  key,
  type: 'Object',
  fields,
  ...more,
});

const schema = [
  text('title'),
  text('cost', { read: 'server', write: 'server' }),
  text('plain', { read: 'server' }),
  text('own', { read: 'owner' }),
  text('ruled', { read: { $user: { role: 'editor' } }, write: { $user: { role: 'editor' } } }),
  text('sku', { write: 'create' }),
  { key: 'count', type: 'Number', write: { after: { count: { $stored: 'count', plus: 1 } } } },
  { key: 'tags', type: 'Array', items: { type: 'String' }, write: 'server' },
  object('meta', [text('note'), text('key', { read: 'server', write: 'server' }), text('seal', { write: 'server' })]),
  object('deep', [object('er', [text('a'), text('b', { write: 'server' })])]),
  object('box', [text('x'), text('y')], { read: 'server', write: 'server' }),
  { key: 'lines', type: 'Array', items: { type: 'Object', fields: [text('name'), text('price', { read: 'server' })] } },
  { key: 'boss', type: 'Ref', ref: 'open', read: 'server', write: 'server' },
  { key: 'next', type: 'Ref', ref: 'open' },
];

const secrets = {
  ...{ cost: 'hush-cost', plain: 'hush-plain', own: 'hush-own', ruled: 'hush-ruled' },
  meta: { note: 'n', key: 'hush-key', seal: 'seal' },
  box: { x: 'hush-x', y: 'hush-y' },
  lines: [
    { name: 'one', price: 'hush-1' },
    { name: 'two', price: 'hush-2' },
  ],
};
const stored = {
  ...{ title: 't', sku: 'once', count: 1, tags: ['a'], deep: { er: { a: '1', b: '2' } } },
  ...secrets,
};

type Doc = Record<string, unknown> & { readonly _id: string };

let project: UsersProject;
let ann: RequestOptions;
let bob: RequestOptions;
let stranger: RequestOptions;
let annId: string;
let open: string;
let ruled: string;

const api = <Body = Record<string, unknown>>(method: string, path: string, who: RequestOptions = {}, body?: unknown) =>
  project.api<Body>(method, `/api/data/${path}`, { ...who, ...(body === undefined ? {} : { body }) });

const rules = { read: true, create: { $user: {} }, update: { $user: {} } };

beforeAll(async () => {
  project = await newUsersProject({
    collection: {
      name: 'users',
      schema: [
        ...(standardUsers.schema ?? []).filter(({ key }) => key !== 'role'),
        text('role', { write: 'server' }),
        text('pin', { read: 'server', write: 'server' }),
        object('limits', [text('theme'), text('posts', { write: 'server' })]),
      ],
    },
  });
  await project.addCollection({ name: 'open', schema, rls: { enabled: true, mode: 'public-read' }, changes: true });
  await project.addCollection({
    name: 'ruled',
    schema,
    rls: { enabled: true, mode: 'rules', ownerField: 'userId', rules },
  });
  await project.addCollection({
    name: 'links',
    schema: [text('name'), { key: 'to', type: 'Ref', ref: 'open' }, { key: 'who', type: 'Ref', ref: 'users' }],
    rls: { enabled: true, mode: 'public-read' },
  });
  const key = project.publishableKey;
  const [one, two] = [await project.newUser(), await project.newUser()];
  annId = one.userId;
  [ann, bob, stranger] = [{ key, token: one.accessToken }, { key, token: two.accessToken }, { key }];
  await project.developer.dashboard('PATCH', `/api/projects/${project.id}/users/${annId}`, { pin: 'hush-pin' });
  const other = await api<Doc>('POST', 'open', {}, { title: 'other', userId: annId });
  const make = async (name: string) =>
    (await api<Doc>('POST', name, {}, { ...stored, boss: other.body._id, next: other.body._id, userId: annId })).body
      ._id;
  [open, ruled] = [await make('open'), await make('ruled')];
  await api('POST', 'links', {}, { name: 'hush-cost', to: open, who: annId, userId: annId });
});

/** Everyone may read the link’s name, but it looks like a guess, so it is removed from responses. */
const linkName = '"name":"hush-cost"';

/** Returns a response without its irrelevant differences: $graphLookup has no order. */
const said = ({ status, body }: { status: number; body: unknown }, guess: string): string =>
  JSON.stringify([status, body], (name, value) => {
    if (name === 'requestId') return undefined;
    // The position of a feed contains the time.
    if (name === 'next' && typeof value === 'string') return 'position';
    return Array.isArray(value) && name === 'x'
      ? value.map((each) => JSON.stringify(each).replaceAll(linkName, '')).sort()
      : value;
  })
    .replaceAll(linkName, '')
    .replaceAll(guess, 'guess');

const isTelling = (body: unknown): boolean => /hush-/.test(JSON.stringify(body).replaceAll(linkName, ''));

let attempts = 0;
let succeeded = 0;

/** Sends a request with the stored value and with another one; the responses must not differ. */
const neverTells = async (ask: (guess: string, who: RequestOptions) => Promise<{ status: number; body: unknown }>) => {
  for (const who of [bob, stranger]) {
    attempts += 1;
    const [right, wrong] = [await ask('hush', who), await ask('nope', who)];
    const texts = [said(right, 'hush'), said(wrong, 'nope')];
    const isEchoed = right.status >= 400;
    const tells = isTelling(wrong.body) || (!isEchoed && isTelling(right.body));
    if (texts[0] !== texts[1] || tells) succeeded += 1;
    expect(texts[0]).toBe(texts[1]);
    expect(tells).toBe(false);
  }
};

const hidden: readonly (readonly [path: string, ending: string])[] = [
  ['cost', '-cost'],
  ['plain', '-plain'],
  ['own', '-own'],
  ['ruled', '-ruled'],
  ['meta.key', '-key'],
  ['box.x', '-x'],
  ['lines.price', '-1'],
  ['lines.0.price', '-1'],
];

describe('reading by a list', () => {
  const filters = ['', '_ne', '_gt', '_gte', '_lt', '_lte', '_in', '_regex', '_contains', '_startsWith', '_endsWith'];

  test.each(hidden.flatMap(([path, end]) => filters.map((suffix) => [`${path}${suffix}`, end] as const)))(
    'a filter by %s',
    async (name, end) => {
      await neverTells((guess, who) => api('GET', `open?${name}=${guess}${end}`, who));
    },
  );

  test.each(
    hidden.flatMap(([path, end]) =>
      ['$eq', '$ne', '$gt', '$in', '$nin', '$regex', '$startsWith'].map((operator) => [path, operator, end] as const),
    ),
  )('a where of %s by %s', async (path, operator, end) => {
    await neverTells((guess, who) => {
      const value = operator.endsWith('in') ? [guess + end] : guess + end;
      const where = { $or: [{ title: 'none' }, { $not: { [path]: { [operator]: value } } }] };
      return api('POST', 'ruled/query', who, { where, count: true });
    });
  });

  test.each<[string, (guess: string) => object]>([
    ['$elemMatch', (guess) => ({ where: { lines: { $elemMatch: { price: `${guess}-1` } } } })],
    ['$elemMatch of $not', (guess) => ({ where: { lines: { $elemMatch: { $not: { price: `${guess}-1` } } } } })],
    ['$size', () => ({ where: { lines: { $size: 2 } } })],
    ['$exists of the object around', () => ({ where: { meta: { $exists: true } } })],
    ['a search', (guess) => ({ search: `${guess}-cost` })],
    ['single fields', () => ({ fields: 'cost' })],
    ['single fields inside', () => ({ fields: ['meta.key', 'lines.price'] })],
    ['populate', () => ({ populate: 'boss' })],
    ['populate of a list', () => ({ populate: ['next', 'boss'] })],
    ['sort', () => ({ sort: 'cost' })],
    ['sort with others', () => ({ sort: '-title,own', cursor: '' })],
    ['sort by the object around', () => ({ sort: 'box' })],
    ['sort by an element', () => ({ sort: 'lines.0.price' })],
    ['a prototype name', (guess) => ({ where: { 'constructor.name': guess, '__proto__.cost': `${guess}-cost` } })],
    ['a prototype key', (guess) => JSON.parse(`{"where":{"__proto__":{"cost":"${guess}-cost"}}}`) as object],
    ['a dotted name with an empty part', (guess) => ({ where: { 'meta..key': `${guess}-key` } })],
    ['an operator in a path', (guess) => ({ where: { $cost: `${guess}-cost` } })],
  ])('%s in a query', async (_title, body) => {
    await neverTells((guess, who) => api('POST', 'open/query', who, body(guess)));
  });

  test('a cursor that the secret key got for its own order', async () => {
    const page = await api<{ data: { nextCursor: string } }>('GET', 'open?limit=1&sort=cost&cursor=');
    const cursor = encodeURIComponent(page.body.data.nextCursor);
    for (const query of [`sort=cost&cursor=${cursor}`, `sort=title&cursor=${cursor}`, `cursor=${cursor}`]) {
      await neverTells((_guess, who) => api('GET', `open?limit=1&${query}`, who));
    }
  });

  test.each([
    '',
    '?limit=1',
    '?meta=rev',
    '?meta=false',
    '?fields=meta,lines,box,title',
    '?populate=next',
    '?count=true',
  ])('the list %s', async (query) => {
    for (const name of ['open', 'ruled']) {
      await neverTells((_guess, who) => api('GET', name + query.replace(',box', ''), who));
    }
  });

  test('documents, joins, feeds and users', async () => {
    for (const path of [
      ...[`open/${open}`, `ruled/${ruled}`, `open/${open}?populate=next`, `open/${open}?include_deleted=true`],
      ...['links?populate=to', 'links?populate=to,who', 'links?populate=to.boss', 'links?populate=to.cost'],
      ...['open/changes?since=0', 'open/changes?since=0&limit=1', 'open?include_deleted=true'],
    ]) {
      await neverTells((_guess, who) => api('GET', path, who));
    }
  });
});

describe('reading by an aggregation', () => {
  const join = { from: 'open', localField: 'to', foreignField: '_id', as: 'x' };
  const cost = (guess: string) => `${guess}-cost`;

  test.each<[string, (guess: string) => readonly object[], string?]>([
    ['$match', (guess) => [{ $match: { cost: cost(guess) } }]],
    ['$match of $expr', (guess) => [{ $match: { $expr: { $eq: ['$cost', cost(guess)] } } }]],
    ['$match of $$ROOT', (guess) => [{ $match: { $expr: { $eq: ['$$ROOT.cost', cost(guess)] } } }]],
    ['$match of $$CURRENT', (guess) => [{ $match: { $expr: { $eq: ['$$CURRENT.cost', cost(guess)] } } }]],
    ['$match of $getField', (guess) => [{ $match: { $expr: { $eq: [{ $getField: 'cost' }, cost(guess)] } } }]],
    [
      '$match of a computed $getField',
      (guess) => [
        {
          $match: {
            $expr: { $eq: [{ $getField: { field: { $concat: ['co', 'st'] }, input: '$$ROOT' } }, cost(guess)] },
          },
        },
      ],
    ],
    [
      '$match of $jsonSchema',
      (guess) => [{ $match: { $jsonSchema: { properties: { cost: { enum: [cost(guess)] } } } } }],
    ],
    ['$match of the object around', (guess) => [{ $match: { box: { x: `${guess}-x`, y: `${guess}-y` } } }]],
    [
      '$match of $objectToArray',
      (guess) => [
        {
          $match: { $expr: { $in: [cost(guess), { $map: { input: { $objectToArray: '$$ROOT' }, in: '$$this.v' } }] } },
        },
      ],
    ],
    ['$match of $reduce over elements', (guess) => [{ $match: { $expr: { $in: [`${guess}-1`, '$lines.price'] } } }]],
    ['$match of $where', (guess) => [{ $match: { $where: `this.cost == "${guess}-cost"` } }]],
    [
      '$match of $function',
      (guess) => [
        {
          $match: {
            $expr: { $function: { body: `function(d){return d.cost=="${guess}-cost"}`, args: ['$$ROOT'], lang: 'js' } },
          },
        },
      ],
    ],
    ['$match of $text', (guess) => [{ $match: { $text: { $search: cost(guess) } } }]],
    ['$search', (guess) => [{ $search: { text: { query: cost(guess), path: { wildcard: '*' } } } }]],
    [
      '$vectorSearch',
      () => [{ $vectorSearch: { index: 'i', path: 'cost', queryVector: [1], numCandidates: 1, limit: 1 } }],
    ],
    ['$geoNear', () => [{ $geoNear: { near: [0, 0], distanceField: 'd' } }]],
    [
      '$geoNear by a query',
      (guess) => [{ $geoNear: { near: [0, 0], key: 'next', distanceField: 'd', query: { cost: cost(guess) } } }],
    ],
    ['$project', () => [{ $project: { cost: 1 } }]],
    ['an alias in $project', () => [{ $project: { a: '$cost' } }]],
    ['an alias of the array', () => [{ $project: { a: '$lines' } }, { $project: { b: '$a.price' } }]],
    ['an alias of everything', () => [{ $project: { a: '$$ROOT' } }, { $project: { b: '$a.cost' } }]],
    ['an alias in $set', () => [{ $set: { a: '$meta' } }, { $set: { b: '$a.key' } }]],
    ['$addFields over it', () => [{ $addFields: { cost: { $ifNull: ['$cost', 'none'] } } }]],
    ['$unset', () => [{ $unset: 'cost' }]],
    ['$sort', () => [{ $sort: { cost: 1 } }, { $project: { title: 1 } }]],
    ['$sort by an alias', () => [{ $set: { a: '$cost' } }, { $sort: { a: 1 } }]],
    ['$group', () => [{ $group: { _id: '$cost' } }]],
    ['$group of $max', () => [{ $group: { _id: null, a: { $max: '$cost' } } }]],
    ['$group of $top', () => [{ $group: { _id: null, a: { $top: { sortBy: { cost: 1 }, output: '$title' } } } }]],
    ['$group of $push', () => [{ $group: { _id: null, a: { $push: '$$ROOT' } } }]],
    ['$group of $mergeObjects', () => [{ $group: { _id: null, a: { $mergeObjects: '$$CURRENT' } } }]],
    ['$bucket', (guess) => [{ $bucket: { groupBy: '$cost', boundaries: ['a', cost(guess), 'z'], default: 'o' } }]],
    ['$bucketAuto', () => [{ $bucketAuto: { groupBy: '$cost', buckets: 2 } }]],
    ['$sortByCount', () => [{ $sortByCount: '$cost' }]],
    ['$setWindowFields', () => [{ $setWindowFields: { sortBy: { cost: 1 }, output: { a: { $first: '$title' } } } }]],
    ['$fill', () => [{ $fill: { sortBy: { cost: 1 }, output: { title: { method: 'locf' } } } }]],
    ['$densify', () => [{ $densify: { field: 'cost', range: { step: 1, bounds: 'full' } } }]],
    ['$redact', (guess) => [{ $redact: { $cond: [{ $eq: ['$cost', cost(guess)] }, '$$KEEP', '$$PRUNE'] } }]],
    [
      '$redact of inner fields',
      (guess) => [{ $redact: { $cond: [{ $eq: ['$key', `${guess}-key`] }, '$$PRUNE', '$$DESCEND'] } }],
    ],
    ['$replaceRoot', () => [{ $replaceRoot: { newRoot: { $mergeObjects: ['$box', '$meta'] } } }]],
    ['$unwind', () => [{ $unwind: '$lines' }, { $replaceWith: '$lines' }]],
    ['$facet', (guess) => [{ $facet: { a: [{ $match: { cost: cost(guess) } }], b: [{ $count: 'n' }] } }]],
    ['$facet of everything', () => [{ $facet: { a: [{ $match: {} }] } }]],
    ['an error of conversion', () => [{ $project: { a: { $toInt: '$cost' } } }]],
    [
      'an error of conversion of an alias',
      () => [{ $set: { a: '$$ROOT' } }, { $project: { b: { $toInt: '$a.cost' } } }],
    ],
    [
      '$lookup by the field',
      () => [{ $lookup: { from: 'open', localField: 'name', foreignField: 'cost', as: 'x' } }],
      'links',
    ],
    [
      '$lookup by the object around',
      () => [{ $lookup: { from: 'open', localField: 'name', foreignField: 'box', as: 'x' } }],
      'links',
    ],
    [
      '$lookup by inner fields',
      () => [{ $lookup: { from: 'open', localField: 'name', foreignField: 'box.x', as: 'x' } }],
      'links',
    ],
    [
      '$lookup by an element',
      () => [{ $lookup: { from: 'open', localField: 'name', foreignField: 'lines.0.price', as: 'x' } }],
      'links',
    ],
    [
      '$lookup with $match',
      (guess) => [{ $lookup: { from: 'open', pipeline: [{ $match: { cost: cost(guess) } }], as: 'x' } }],
      'links',
    ],
    [
      '$lookup with let',
      () => [
        {
          $lookup: {
            from: 'open',
            let: { n: '$name' },
            pipeline: [{ $match: { $expr: { $eq: ['$$n', '$cost'] } } }],
            as: 'x',
          },
        },
      ],
      'links',
    ],
    ['$lookup of everything', () => [{ $lookup: join }], 'links'],
    [
      '$lookup of everything by let',
      () => [
        {
          $lookup: {
            from: 'open',
            let: { all: '$$ROOT' },
            pipeline: [{ $project: { a: '$$all', b: '$$ROOT' } }],
            as: 'x',
          },
        },
      ],
      'links',
    ],
    [
      '$lookup and then $match',
      (guess) => [{ $lookup: join }, { $unwind: '$x' }, { $match: { 'x.cost': cost(guess) } }],
      'links',
    ],
    [
      '$lookup and then an alias',
      (guess) => [{ $lookup: join }, { $set: { y: '$x' } }, { $match: { 'y.cost': cost(guess) } }],
      'links',
    ],
    [
      '$lookup and then $expr',
      (guess) => [
        { $lookup: join },
        { $unwind: '$x' },
        { $match: { $expr: { $in: [cost(guess), { $map: { input: { $objectToArray: '$x' }, in: '$$this.v' } }] } } },
      ],
      'links',
    ],
    ['$lookup in $lookup', () => [{ $lookup: { from: 'links', pipeline: [{ $lookup: join }], as: 'y' } }], 'links'],
    [
      '$lookup from the own collection',
      () => [{ $lookup: { from: 'open', localField: 'next', foreignField: 'boss', as: 'x' } }],
    ],
    ['$unionWith', () => [{ $unionWith: 'open' }], 'links'],
    ['$unionWith and $match', (guess) => [{ $unionWith: 'open' }, { $match: { cost: cost(guess) } }], 'links'],
    [
      '$unionWith and $group',
      () => [{ $unionWith: { coll: 'open', pipeline: [{ $group: { _id: '$cost' } }] } }],
      'links',
    ],
    [
      '$graphLookup',
      () => [
        { $graphLookup: { from: 'open', startWith: '$to', connectFromField: 'next', connectToField: '_id', as: 'x' } },
      ],
      'links',
    ],
    [
      '$graphLookup to the field',
      () => [
        {
          $graphLookup: { from: 'open', startWith: '$name', connectFromField: 'next', connectToField: 'cost', as: 'x' },
        },
      ],
      'links',
    ],
    [
      '$graphLookup from the field',
      () => [
        { $graphLookup: { from: 'open', startWith: '$to', connectFromField: 'boss', connectToField: '_id', as: 'x' } },
      ],
      'links',
    ],
    [
      '$graphLookup with a condition',
      (guess) => [
        {
          $graphLookup: {
            from: 'open',
            startWith: '$to',
            connectFromField: 'next',
            connectToField: '_id',
            as: 'x',
            restrictSearchWithMatch: { cost: cost(guess) },
          },
        },
      ],
      'links',
    ],
    [
      'a join of users',
      () => [{ $lookup: { from: 'users', localField: 'who', foreignField: '_id', as: 'x' } }],
      'links',
    ],
  ])('%s', async (_title, pipeline, name = 'open') => {
    await neverTells((guess, who) => api('POST', `${name}/aggregate`, who, { pipeline: pipeline(guess) }));
  });
});

/** Operators on protected fields, inside them and around them; some would change nothing. */
const operatorBodies: readonly (readonly [title: string, body: object])[] = [
  ['$unset of each field', { $unset: ['cost', 'ruled', 'sku', 'count', 'tags', 'boss'] }],
  ...['cost', 'ruled', 'sku', 'count', 'tags', 'box', 'box.x', 'meta', 'meta.key', 'meta.seal', 'deep', 'deep.er'].map(
    (path) => [`$unset of ${path}`, { $unset: [path] }] as const,
  ),
  ['$unset of the containers', { $unset: ['deep.er.b', 'lines'] }],
  ['$unset of nothing inside', { $unset: ['box.none'] }],
  ['$inc by another number', { $inc: { count: 2 } }],
  ['$inc by nothing', { $inc: { count: 0 } }],
  ['$mul by one', { $mul: { count: 1 } }],
  ['$min that keeps', { $min: { count: 100 } }],
  ['$max that keeps', { $max: { count: -1 } }],
  ['$max of a hidden text', { $max: { cost: 5 } }],
  ['$min inside a hidden field', { $min: { 'box.x': 5 } }],
  ['$push', { $push: { tags: 'b' } }],
  ['$push of nothing', { $push: { tags: { $each: [] } } }],
  ['$push that cuts', { $push: { tags: { $each: [], $slice: 0 } } }],
  ['$push of a hidden field', { $push: { lines: { name: 'three', price: '9' } } }],
  ['$addToSet of an existing element', { $addToSet: { tags: 'a' } }],
  ['$addToSet that guesses a hidden value', { $addToSet: { lines: { name: 'one', price: 'hush-1' } } }],
  ['$pull', { $pull: { tags: 'a' } }],
  ['$pull of nothing', { $pull: { tags: 'zzz' } }],
  ['$pull by a hidden field', { $pull: { lines: { price: 'hush-1' } } }],
  ['$pull by a readable field', { $pull: { lines: { name: 'one' } } }],
  ['$currentDate', { $currentDate: ['cost'] }],
  ['an operator and a plain field', { title: 'free', $unset: ['meta.seal'] }],
  ['$unset of a prototype', { $unset: ['__proto__', 'constructor.prototype'] }],
  ['an object with the field and an operator in it', { 'meta.note': 'x', $unset: ['meta.key'] }],
];

describe('writing', () => {
  const values: readonly unknown[] = ['x', null, {}, [], 'hush-cost'];
  const bodies: readonly (readonly [string, object])[] = [
    ...values.map((value) => [`cost: ${JSON.stringify(value)}`, { cost: value }] as const),
    ...[
      'cost.x',
      'cost.0',
      'box.x',
      'box.z',
      'box.0',
      'meta.key',
      'meta.seal',
      'deep.er.b',
      'tags.0',
      'tags.1',
      'boss.x',
    ].map((path) => [path, { [path]: 'x' }] as const),
    ['an object with the field', { meta: { key: 'x' } }],
    ['an object with the stored unreadable value', { meta: { key: 'hush-key' } }],
    ['an object with null inside', { meta: { seal: null } }],
    ['an object two levels up', { deep: { er: { b: 'x' } } }],
    ['an object one level up', { 'deep.er': { b: null } }],
    ['a list in the place of an object', { meta: [{ key: 'x' }] }],
    ['a text in the place of an object', { deep: 'x' }],
    ['a position in an object', { 'meta.0.key': 'x' }],
    ['a whole list', { tags: ['b'] }],
    ['an empty list', { tags: [] }],
    ['null in the place of a list', { tags: null }],
    ['elements that contain a hidden field', { lines: [] }],
    ['elements with a hidden value', { lines: [{ name: 'one', price: 'hush-1' }] }],
    ['null in the place of elements', { lines: null }],
    ['a once-only field', { sku: 'x' }],
    ['a once-only field emptied', { sku: null }],
    ['a counter', { count: 5 }],
    ['a counter backwards', { count: 0 }],
    ['a counter emptied', { count: null }],
    ['a rule', { ruled: 'x' }],
    ['a rule with the stored value', { ruled: 'hush-ruled' }],
    ['an operator as a name', { $set: { cost: 'x' }, title: 't' }],
    ['an operator as a value', { cost: { $set: 'x' } }],
    ['an operator inside', { meta: { $set: { key: 'x' } } }],
    ['an operator in a path', { 'meta.$[].key': 'x' }],
    ['a prototype path', { '__proto__.cost': 'x' }],
    ['a constructor path', { 'constructor.prototype.cost': 'x' }],
    ['a prototype key', JSON.parse('{"__proto__":{"cost":"x"},"title":"t"}') as object],
    ['a prototype key inside', JSON.parse('{"meta":{"__proto__":{"key":"x"}}}') as object],
    ['a dotted name inside', { meta: { 'key.x': 'x' } }],
    ['two paths together', { meta: { note: 'x' }, 'meta.key': 'x' }],
    ['another case', { Cost: 'x', COST: 'x' }],
    ['a name with a space', { 'cost ': 'x' }],
    ['a name with a NUL', { 'cost\0': 'x' }],
    ['null in the place of objects', { meta: null, deep: null }],
    ['empty objects', { meta: {}, 'deep.er': {} }],
    ['the revision', { _rev: 9, cost: 'x' }],
    ...operatorBodies,
  ];

  const guarded = ({ cost, ruled: byRule, sku, count, tags, meta, deep, box, lines, boss }: Doc) => ({
    ...{ cost, byRule, sku, count, tags, box, boss, lines },
    ...{ key: (meta as Doc).key, seal: (meta as Doc).seal, b: (deep as { er: { b: string } }).er.b },
  });
  const read = async (path: string) => guarded((await api<Doc>('GET', path)).body);

  test.each(bodies)('an update of %s', async (_title, body) => {
    for (const [path, who] of [
      [`open/${open}`, ann],
      [`ruled/${ruled}`, ann],
      [`ruled/${ruled}`, bob],
    ] as const) {
      attempts += 1;
      const before = await read(path);
      const answer = await api('PATCH', path, who, body);
      const after = await read(path);
      if (JSON.stringify(before) !== JSON.stringify(after)) succeeded += 1;
      expect(after).toEqual(before);
      expect(JSON.stringify(answer.body)).not.toMatch(/hush-(?!own)/);
    }
  });

  test.each<[object, string]>([
    [{ $unset: ['sku'] }, 'sku'],
    [{ $unset: ['ruled'] }, 'ruled'],
    [{ $unset: ['plain'] }, 'plain'],
    [{ $unset: ['meta'] }, 'meta.key'],
    [{ $unset: ['deep'] }, 'deep.er.b'],
    [{ $unset: ['box.none'] }, 'box'],
    [{ $unset: ['lines'] }, 'lines.price'],
    [{ $inc: { count: 0 } }, 'count'],
    [{ $inc: { count: 2 } }, 'count'],
    [{ $push: { tags: { $each: [] } } }, 'tags'],
    [{ $addToSet: { tags: 'a' } }, 'tags'],
    [{ $pull: { tags: 'none' } }, 'tags'],
    [{ $push: { lines: { name: 'x' } } }, 'lines.price'],
    [{ $pull: { lines: { name: 'x' } } }, 'lines.price'],
  ])('403 FIELD_PROTECTED for %j, which counts as a write even without a change', async (body, field) => {
    for (const path of [`open/${open}`, `ruled/${ruled}`]) {
      const answer = await api<{ errors: { field: string }[] }>('PATCH', path, ann, body);
      expect(answer).toMatchObject({ status: 403, body: { code: 'FIELD_PROTECTED' } });
      expect(answer.body.errors.map((error) => error.field)).toContain(field);
    }
  });

  test('200 with operators on fields that the caller may write', async () => {
    const other = await api<Doc>('POST', 'open', {}, { ...stored, userId: annId });
    const path = `open/${other.body._id}`;
    expect(await api('PATCH', path, ann, { $inc: { count: 1 } })).toMatchObject({
      status: 200,
      body: { data: { count: 2 } },
    });
    expect(await api('PATCH', path, ann, { $unset: ['own'] })).toMatchObject({ status: 200 });
    expect(await api('PATCH', path, {}, { $unset: ['cost', 'meta'], $push: { tags: 'b' } })).toMatchObject({
      status: 200,
      body: { data: { tags: ['a', 'b'] } },
    });
    // An operator around a missing protected field does not change it.
    expect(await api('PATCH', path, {}, { $unset: ['deep.er.b'] })).toMatchObject({ status: 200 });
    expect(await api('PATCH', path, ann, { $unset: ['deep'] })).toMatchObject({ status: 200 });
  });

  test.each(bodies)('an insert with %s', async (_title, body) => {
    for (const [method, path, sent] of [
      ['POST', 'open', body],
      ['POST', 'ruled', body],
      ['POST', 'open/bulk', [{ title: 'a' }, body]],
    ] as const) {
      attempts += 1;
      const answer = await api<{ _id?: string; data?: { ids: string[] } }>(method, path, bob, sent);
      const id = answer.body._id ?? answer.body.data?.ids.at(-1);
      if (id === undefined) continue;
      const { body: made } = await api<Doc>('GET', `${path.split('/')[0]}/${id}`);
      const meta = (made.meta ?? {}) as Partial<Doc>;
      const found = [made.cost, made.box, made.ruled, made.tags, made.count, made.boss, meta.key, meta.seal];
      if (found.some((value) => value !== undefined)) succeeded += 1;
      expect(found.filter((value) => value !== undefined)).toEqual([]);
      expect(JSON.stringify(made)).not.toContain('"b":');
    }
  });

  test.each<[string, object]>([
    ['a right', { role: 'editor' }],
    ['a secret', { pin: 'x' }],
    ['an object', { limits: { posts: '9' } }],
    ['a path', { 'limits.posts': '9' }],
    ['null', { role: null, pin: null }],
    ['a prototype key', JSON.parse('{"__proto__":{"role":"editor"},"name":"n"}') as object],
    ['the service’s own', { emailVerified: true, isDisabled: false, _signIn: {}, name: 'n' }],
  ])('a profile of %s', async (_title, body) => {
    attempts += 2;
    const credentials = { email: `a${Math.random()}@example.com`, password: 'long enough 1' };
    const signed = await project.signUp({ ...credentials, ...body });
    const token = signed.body.accessToken ?? (await project.newUser()).accessToken;
    await project.auth('PUT', 'update-profile', { token, body });
    const id = (await project.auth<{ data: { _id: string } }>('GET', 'me', { token })).body.data._id;
    const path = `/api/projects/${project.id}/users/${id}`;
    const { body: user } = await project.developer.dashboard<{ data: Doc }>('GET', path);
    const { role, pin, limits, emailVerified } = user.data;
    if ([role, pin, (limits as Partial<Doc> | undefined)?.posts].some((value) => value != null)) succeeded += 1;
    expect([role ?? null, pin ?? null, (limits as Partial<Doc> | undefined)?.posts ?? null]).toEqual([
      null,
      null,
      null,
    ]);
    expect(emailVerified).toBe(false);
  });
});

afterAll(() => {
  expect(attempts).toBeGreaterThanOrEqual(150);
  expect(succeeded).toBe(0);
});
