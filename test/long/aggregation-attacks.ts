const list = <T>(count: number, value: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => value(n));
const fields = (count: number, value: (n: number) => unknown): Record<string, unknown> =>
  Object.fromEntries(list(count, (n) => [`r${n}`, value(n)]));

/** The documents that the pipelines run on. Each pipeline selects them by `kind`. */
export const targets: readonly Record<string, unknown>[] = [
  { kind: 'numbers', n: 1_000_000_000, a: list(300_000, (n) => n % 100) },
  { kind: 'text', t: 'ab'.repeat(2_000_000), a: [1] },
  { kind: 'object', o: Object.fromEntries(list(150_000, (n) => [`k${n}`, n])), a: [1] },
  { kind: 'texts', a: list(4000, (n) => `${'y'.repeat(900)}${n}`) },
  { kind: 'both', a: list(150_000, () => null), t: 'ab'.repeat(900_000) },
  { kind: 'small', n: 5, a: list(1000, (n) => n), t: 'abc', o: { k: 1 } },
  { kind: 'tiny', n: 5, a: [] },
];

const of = (kind: string, ...stages: object[]) => [{ $match: { kind } }, ...stages];
const sizeOf = (kind: string, x: unknown) => of(kind, { $project: { n: { $size: x } } });
const lengthOf = (kind: string, x: unknown) => of(kind, { $project: { n: { $strLenBytes: x } } });
const copies = (count: number, x: unknown = '$a') => ({ $concatArrays: list(count, () => x) });
const range = (end: unknown) => ({ $range: [0, end] });
const map = (input: unknown, inner: unknown) => ({ $map: { input, in: inner } });
const flat = (input: unknown) => ({
  $reduce: { input, initialValue: [], in: { $concatArrays: ['$$value', '$$this'] } },
});
const rows = (count: number) => [{ $set: { r: range(count) } }, { $unwind: '$r' }];
const counted = { $count: 'n' };
const reversed = { $reverseArray: '$a' };

const direct: readonly (readonly [string, readonly object[]])[] = [
  ['100 copies of a long array', sizeOf('numbers', copies(100))],
  ['8 copies of a long array', sizeOf('numbers', copies(8))],
  ['100 copies, three times', of('small', ...list(3, () => ({ $set: { a: copies(100) } })), counted)],
  ['a field that doubles 30 times', of('small', ...list(30, () => ({ $set: { a: copies(2) } })), counted)],
  [
    'a field that doubles by way of another',
    of('small', ...list(20, () => [{ $set: { b: '$a' } }, { $set: { a: { $concatArrays: ['$a', '$b'] } } }]).flat()),
  ],
  [
    'a list that doubles',
    sizeOf('small', { $reduce: { input: range(40), initialValue: [1], in: copies(2, '$$value') } }),
  ],
  [
    'a text that doubles',
    lengthOf('small', { $reduce: { input: range(40), initialValue: 'x', in: { $concat: ['$$value', '$$value'] } } }),
  ],
  [
    'variables that quadruple',
    sizeOf(
      'small',
      list(12, () => 0).reduce<unknown>((x) => ({ $let: { vars: { x }, in: copies(4, '$$x') } }), '$a'),
    ),
  ],
  ['a range for each element, flattened', sizeOf('numbers', flat(map('$a', range(10_000))))],
  ['a range for each element', sizeOf('numbers', map('$a', range(1000)))],
  ['a range of ranges', sizeOf('small', map(range(10_000), range(10_000)))],
  ['a range of a range of ranges', sizeOf('small', map(range(1000), map(range(1000), range(1000))))],
  ['a list of 100 million', sizeOf('small', range(100_000_000))],
  ['a list as long as a number says', sizeOf('numbers', range('$n'))],
  ['ten lists of six million', of('small', { $set: fields(10, (n) => range(6_000_000 + n)) }, counted)],
  ['long texts of a range', sizeOf('text', map(range(10_000), { $concat: ['$t', 'x'] }))],
  ['100 texts', of('text', { $set: fields(100, () => ({ $concat: ['$t', 'x'] })) }, counted)],
  ['a text in parts', sizeOf('text', { $split: ['$t', 'a'] })],
  ['a text in parts, ten times', sizeOf('text', { $concatArrays: list(10, () => ({ $split: ['$t', 'a'] })) })],
  ['every match of a pattern', sizeOf('text', { $regexFindAll: { input: '$t', regex: 'a' } })],
  ['every match with its groups', sizeOf('text', { $regexFindAll: { input: '$t', regex: '(a)(b)' } })],
  ['a longer word', lengthOf('text', { $replaceAll: { input: '$t', find: 'a', replacement: 'x'.repeat(1000) } })],
  ['a text in itself', lengthOf('text', { $replaceAll: { input: '$t', find: 'a', replacement: '$t' } })],
  ['fields as a list', sizeOf('object', { $objectToArray: '$o' })],
  ['fields as a list, ten times', sizeOf('object', { $concatArrays: list(10, () => ({ $objectToArray: '$o' })) })],
  ['a wide object in a loop', sizeOf('object', map(range(1000), { $mergeObjects: ['$o', { x: '$$this' }] }))],
  [
    'objects set field by field',
    sizeOf('object', map(range(1000), { $setField: { field: 'x', input: '$o', value: 1 } })),
  ],
  ['a list of 50 columns', sizeOf('numbers', { $zip: { inputs: list(50, () => '$a') } })],
  [
    'a list of 50 columns with defaults',
    sizeOf('texts', {
      $zip: { inputs: ['$a', ...list(49, () => [])], useLongestLength: true, defaults: list(50, () => '$kind') },
    }),
  ],
  [
    'a set that grows',
    sizeOf('texts', { $reduce: { input: '$a', initialValue: [], in: { $setUnion: ['$$value', ['$$this']] } } }),
  ],
  ['every element with every other', sizeOf('small', flat(map('$a', '$a')))],
  ['every element with every other of a long array', sizeOf('numbers', flat(map('$a', '$a')))],
  [
    'four lists for each element',
    sizeOf(
      'numbers',
      map(
        '$a',
        list(4, () => ['$$this']),
      ),
    ),
  ],
  ['an object for each element', sizeOf('numbers', map('$a', { a: '$$this', b: ['$$this'], c: { d: 1 } }))],
  ['a slice for each element', sizeOf('numbers', map('$a', { $slice: ['$a', 1000] }))],
  ['the whole for each of a range', sizeOf('numbers', map(range(1000), { $filter: { input: '$a', cond: true } }))],
  ['the reverse for each of a range', sizeOf('numbers', map(range(1000), reversed))],
  ['60 reversed lists', of('numbers', { $set: fields(60, () => reversed) }, counted)],
  ['60 sorted lists', of('numbers', { $set: fields(60, () => ({ $sortArray: { input: '$a', sortBy: 1 } })) }, counted)],
  [
    '60 lists in one',
    sizeOf(
      'numbers',
      list(60, () => reversed),
    ),
  ],
  ['a field in each element', of('numbers', { $set: { 'a.x': '$kind' } }, counted)],
  ['a list in each element', of('numbers', { $set: { 'a.x': { $reverseArray: range(100) } } }, counted)],
  [
    'ten fields in each element',
    of('numbers', { $set: Object.fromEntries(list(10, (n) => [`a.x${n}`, ['$n']])) }, counted),
  ],
  [
    'whole documents in a group',
    of('numbers', ...rows(1000), { $group: { _id: null, x: { $push: '$$ROOT' } } }, counted),
  ],
  [
    'made lists in a group',
    of('small', ...rows(10_000), { $group: { _id: null, x: { $push: map('$a', { $toString: '$$this' }) } } }, counted),
  ],
  [
    'a set in a group',
    of('small', ...rows(10_000), { $group: { _id: null, x: { $addToSet: [reversed, '$r'] } } }, counted),
  ],
  [
    'the first many of a group',
    of('small', ...rows(10_000), { $group: { _id: null, x: { $firstN: { n: 10_000, input: reversed } } } }, counted),
  ],
  [
    'windows of everything',
    of(
      'small',
      ...rows(10_000),
      { $setWindowFields: { sortBy: { r: 1 }, output: { x: { $push: reversed } } } },
      counted,
    ),
  ],
  [
    'buckets of everything',
    of(
      'small',
      ...rows(10_000),
      { $bucketAuto: { groupBy: '$r', buckets: 10, output: { x: { $push: reversed } } } },
      counted,
    ),
  ],
  [
    'a line without end',
    of(
      'small',
      { $project: { n: 1 } },
      { $densify: { field: 'n', range: { step: 1, bounds: [0, 10_000_000] } } },
      counted,
    ),
  ],
  [
    'every gap filled',
    of(
      'small',
      ...rows(10_000),
      { $set: { a: reversed } },
      { $fill: { sortBy: { r: 1 }, output: { b: { method: 'locf' } } } },
      counted,
    ),
  ],
  ['30 facets of copies', of('numbers', { $facet: fields(30, () => [{ $set: { z: reversed } }]) }, counted)],
  [
    'ten facets that group',
    of('small', ...rows(3000), {
      $facet: fields(10, () => [{ $group: { _id: '$r', x: { $push: reversed } } }, counted]),
    }),
  ],
  [
    'two facets that gather',
    of('small', ...rows(3000), {
      $facet: fields(2, () => [{ $group: { _id: '$r', x: { $push: reversed } } }, counted]),
    }),
  ],
  [
    'five facets that count by key',
    of(
      'small',
      ...rows(10_000),
      { $set: { q: range(100) } },
      { $unwind: '$q' },
      { $project: { r: 1, q: 1 } },
      {
        $facet: fields(5, () => [{ $group: { _id: ['$r', '$q'], n: { $sum: 1 } } }, counted]),
      },
    ),
  ],
  [
    'ten joins of everything',
    of('small', ...list(10, (n) => ({ $lookup: { from: 'notes', pipeline: [], as: `x${n}` } })), counted),
  ],
  [
    'joins of joins',
    of(
      'small',
      { $lookup: { from: 'notes', pipeline: [{ $lookup: { from: 'notes', pipeline: [], as: 'y' } }], as: 'x' } },
      { $set: { z: copies(20, '$x') } },
      counted,
    ),
  ],
  [
    'a join with a large variable',
    of(
      'numbers',
      { $lookup: { from: 'notes', let: { v: '$a' }, pipeline: [{ $set: { x: copies(20, '$$v') } }], as: 'x' } },
      counted,
    ),
  ],
  [
    'a graph of everything',
    of(
      'small',
      { $graphLookup: { from: 'notes', startWith: null, connectFromField: 'none', connectToField: 'none', as: 'x' } },
      { $set: { z: copies(20, '$x') } },
      counted,
    ),
  ],
];

const chain = (count: number, ...stages: object[]) => list(count, () => stages).flat();
const field = (of: unknown) => ({ $set: { a: of } });
const reduce = (input: unknown, initialValue: unknown, inner: unknown) => ({
  $reduce: { input, initialValue, in: inner },
});
const joinAll = (as: string, pipeline: object[] = []) => ({ $lookup: { from: 'notes', pipeline, as } });
const grouped = (output: object) => ({ $group: { _id: null, ...output } });
const each = { $range: [0, { $size: '$a' }] };
const made = { $concat: ['$t', 'x'] };

/** Attacks that avoid the current rules through other fields, other stages or values that a count could miss. */
const roundabout: readonly (readonly [string, readonly object[]])[] = [
  [
    'aliases that treble',
    of('numbers', ...chain(8, { $set: { b: '$a', c: '$a' } }, field({ $concatArrays: ['$a', '$b', '$c'] })), counted),
  ],
  ['nested lists that double', of('numbers', ...chain(24, field(['$a', '$a'])), { $group: { _id: '$a' } }, counted)],
  [
    'nested objects that double',
    of('numbers', ...chain(24, field({ x: '$a', y: '$a' })), { $sort: { a: 1 } }, counted),
  ],
  ['documents in themselves', of('numbers', ...chain(20, { $replaceWith: { x: '$$ROOT', y: '$$ROOT' } }), counted)],
  [
    'merged documents in themselves',
    of('object', ...chain(16, { $replaceWith: { $mergeObjects: ['$o', { o: '$$ROOT', p: '$$ROOT' }] } }), counted),
  ],
  [
    'nested lists that are flattened',
    of('small', ...chain(10, field(list(4, () => '$a'))), ...chain(10, field(flat('$a'))), counted),
  ],
  ['doubling in $facet', of('numbers', { $facet: fields(5, () => [...chain(8, field(copies(2))), counted]) })],
  [
    'doubling in $unionWith',
    of('small', { $unionWith: { coll: 'notes', pipeline: chain(12, field(copies(2))) } }, counted),
  ],
  ['doubling in a join', of('small', joinAll('x', [...chain(12, field(copies(2))), { $project: { a: 1 } }]), counted)],
  [
    'a variable of a join that doubles',
    of(
      'numbers',
      {
        $lookup: {
          from: 'notes',
          let: { v: '$a' },
          as: 'x',
          pipeline: [{ $set: { v: '$$v' } }, ...chain(6, { $set: { v: copies(2, '$v') } })],
        },
      },
      counted,
    ),
  ],
  [
    'a variable of a join that is looped over',
    of(
      'numbers',
      {
        $lookup: {
          from: 'notes',
          let: { v: '$a' },
          as: 'x',
          pipeline: [{ $project: { x: map('$$v', { a: '$$this', b: ['$a'] }) } }],
        },
      },
      counted,
    ),
  ],
  [
    'joins, flattened and copied',
    of(
      'small',
      joinAll('x'),
      joinAll('y'),
      { $set: { z: { $concatArrays: ['$x', '$y', copies(20, '$x')] } } },
      counted,
    ),
  ],
  [
    'a join in an unwound join, many times',
    of('small', ...list(6, (n) => [joinAll(`x${n}`), { $unwind: '$a' }]).flat(), { $limit: 3 }, counted),
  ],
  [
    'whole documents in a group, copied',
    of('small', ...rows(2000), grouped({ a: { $push: '$$ROOT' } }), { $set: { a: copies(50) } }, counted),
  ],
  ['lists of lists in a group', of('numbers', grouped({ x: { $push: list(200, () => '$a') } }), counted)],
  [
    'whole documents in buckets',
    of(
      'numbers',
      ...rows(500),
      { $bucketAuto: { groupBy: '$r', buckets: 5, output: { x: { $push: '$$ROOT' } } } },
      counted,
    ),
  ],
  [
    'a group of everything in windows',
    of(
      'small',
      ...rows(5000),
      {
        $setWindowFields: {
          sortBy: { r: 1 },
          output: { x: { $push: { r: '$r', a: '$a' }, window: { documents: [-2000, 2000] } } },
        },
      },
      counted,
    ),
  ],
  [
    'a value that doubles by another name',
    sizeOf('numbers', reduce('$a', [1], { $let: { vars: { v: '$$value' }, in: { $concatArrays: ['$$v', '$$v'] } } })),
  ],
  [
    'a document by the name of a value',
    sizeOf('numbers', reduce('$a', [], { $let: { vars: { value: '$$ROOT' }, in: copies(100, '$$value.a') } })),
  ],
  [
    'a limit that takes many copies',
    sizeOf('numbers', { $filter: { input: '$a', cond: true, limit: { $size: copies(100) } } }),
  ],
  [
    'short constants in loops',
    of('tiny', { $set: fields(20, (n) => map({ $literal: list(60_000, () => n % 10) }, {})) }),
  ],
  [
    'two fields of a value that double each other',
    of(
      'numbers',
      field(reduce('$a', { p: 'x', q: 'y' }, { p: { $concat: ['$$value.p', '$$value.q'] }, q: '$$value.p' })),
      counted,
    ),
  ],
  ['a whole value in two fields', of('numbers', field(reduce('$a', {}, { p: '$$value', q: '$$value' })), counted)],
  [
    'a value whose elements are wrapped in each turn',
    sizeOf('numbers', reduce('$a', '$a', map('$$value', { x: '$$this' }))),
  ],
  ['a value that is zipped in each turn', sizeOf('numbers', reduce('$a', '$a', { $zip: { inputs: ['$$value'] } }))],
  ['a text that gets another in each turn', lengthOf('both', reduce('$a', '', { $concat: ['$$value', '$t'] }))],
  ['a text by a loop over another list', sizeOf('both', map('$a', made))],
  ['a text in the first of a list in a loop', sizeOf('both', map('$a', { $first: [[made]] }))],
  ['a text by a field in each element', of('both', { $set: { 'a.x': made } }, counted)],
  ['a text by an object in each element', of('both', { $set: { a: { x: { y: made } } } }, counted)],
  ['pairs of two lists', sizeOf('numbers', map('$a', map('$a', 1)))],
  [
    'pairs of two lists that are kept by a filter',
    sizeOf('numbers', map('$a', { $filter: { input: '$a', cond: true } })),
  ],
  ['a range for each of a range by length', sizeOf('numbers', map(each, each))],
  ['a range as long as many copies', sizeOf('numbers', { $range: [0, { $size: copies(100) }] })],
  ['a range as long as a text', sizeOf('text', { $range: [0, { $strLenCP: '$t' }] })],
  ['a thousand ranges', of('tiny', { $set: fields(1000, (n) => ({ $range: [n, 9999] })) }, counted)],
  [
    'objects of ranges, over many stages',
    of(
      'tiny',
      ...list(30, (n) => ({ $set: { [`x${n}`]: map(range(9960 + n), { a: 1, b: [2], c: { d: '$n' } }) } })),
      counted,
    ),
  ],
  [
    'a long list of constants in loops',
    of('tiny', { $set: fields(20, () => map({ $literal: list(20_000, (n) => n) }, { a: '$$this', b: 'x' })) }, counted),
  ],
  ['four lists of objects', of('numbers', { $set: fields(4, () => map('$a', { a: '$$this' })) }, counted)],
  [
    'texts of a list, over and over',
    sizeOf(
      'numbers',
      list(20, () => ({ $toString: '$a' })),
    ),
  ],
  [
    'fields as a list and back, over and over',
    of(
      'object',
      ...chain(
        10,
        { $set: { o: { $objectToArray: '$o' } } },
        {
          $set: {
            o: {
              $arrayToObject: { $map: { input: '$o', in: { k: { $toString: '$$this.k' }, v: ['$$this', '$$this'] } } },
            },
          },
        },
      ),
      counted,
    ),
  ],
  ['sets of many lists', sizeOf('numbers', { $setUnion: list(60, () => '$a') })],
  [
    'a text that grows from stage to stage',
    of(
      'small',
      ...chain(20, { $set: { t: { $replaceAll: { input: '$t', find: 'a', replacement: 'a'.repeat(100) } } } }),
      counted,
    ),
  ],
  [
    'a text in each place of another',
    lengthOf('both', { $replaceAll: { input: '$t', find: 'b', replacement: { $concat: ['$t', ''] } } }),
  ],
  [
    'every match with another copied to it',
    of('texts', field(map('$a', { $regexFindAll: { input: '$$this', regex: '' } })), counted),
  ],
  [
    'parts of nothing',
    of('text', field({ $split: ['$t', 'b'] }), field(map('$a', { $split: ['$$this', 'a'] })), counted),
  ],
  [
    'a document in each element of itself',
    of('numbers', field(map('$a', { $mergeObjects: ['$$ROOT', { x: '$$this' }] })), counted),
  ],
  [
    'a document with a field set, in each element',
    of('numbers', field(map('$a', { $setField: { field: 'x', input: '$$ROOT', value: 1 } })), counted),
  ],
  [
    'steps between far ends, by partition',
    of(
      'small',
      ...rows(100),
      { $densify: { field: 'n', partitionByFields: ['r'], range: { step: 0.001, bounds: [0, 1000] } } },
      counted,
    ),
  ],
  [
    'gaps filled with lists',
    of(
      'small',
      ...rows(3000),
      { $project: { r: 1, a: { $cond: [{ $eq: ['$r', 0] }, copies(20), '$$REMOVE'] } } },
      { $fill: { sortBy: { r: 1 }, output: { a: { method: 'locf' } } } },
      { $group: { _id: null, x: { $push: '$a' } } },
      counted,
    ),
  ],
  [
    'copies that redact makes at each level',
    of(
      'numbers',
      {
        $redact: {
          $cond: [
            { $gt: [{ $size: { $concatArrays: list(60, () => ({ $ifNull: ['$a', []] })) } }, 0] },
            '$$DESCEND',
            '$$PRUNE',
          ],
        },
      },
      counted,
    ),
  ],
  [
    'a graph whose start is multiplied',
    of(
      'numbers',
      { $graphLookup: { from: 'notes', startWith: copies(50), connectFromField: 'n', connectToField: 'n', as: 'x' } },
      counted,
    ),
  ],
];

const groups = (count: number, inner: string) => `${'('.repeat(count)}${inner}${')'.repeat(count)}`;
const objects = [...rows(10_000), grouped({ a: { $push: { x: '$r' } } })];
const added = (inner: unknown) => list(40, (n) => ({ $set: { [`x${n}`]: map(range(9990), inner) } }));
const date = '$$NOW';

/** Attacks with values that no operator copies, or that are copied more often than they seem. */
const unseen: readonly (readonly [string, readonly object[]])[] = [
  ['a name in a loop', sizeOf('numbers', map(range(1000), { $let: { vars: { x: reversed }, in: '$$x' } }))],
  ['a name of copies in a loop', sizeOf('small', map(range(10_000), { $let: { vars: { x: copies(20) }, in: '$$x' } }))],
  [
    'a path through a list in a loop',
    of('small', ...objects, { $project: { n: { $size: map(range(5000), '$a.x') } } }),
  ],
  ['a path by CURRENT', of('small', ...objects, { $project: { n: { $size: map(range(5000), '$$CURRENT.a.x') } } })],
  [
    'a path through a list of a variable',
    of('small', ...objects, {
      $project: { n: { $size: map(range(5000), { $let: { vars: { v: '$a' }, in: '$$v.x' } }) } },
    }),
  ],
  ['a path in a field of each', of('small', ...objects, { $set: { 'a.y': '$a.x' } }, counted)],
  ['a format of a date', of('text', { $set: fields(100, () => ({ $dateToString: { date, format: '$t' } })) }, counted)],
  ['a format of dates in a loop', sizeOf('text', map(range(100), { $dateToString: { date, format: '$t' } }))],
  [
    'a long format in a loop',
    sizeOf('tiny', map(range(10_000), { $dateToString: { date, format: 'x'.repeat(99_999) } })),
  ],
  ['a match with its groups', of('text', { $set: { x: { $regexFind: { input: '$t', regex: groups(200, '.*') } } } })],
  [
    'a match with look-aheads',
    of('text', { $set: { x: { $regexFind: { input: '$t', regex: '(?=(.*))'.repeat(1000) } } } }, counted),
  ],
  [
    'a match of a pattern that is made',
    of('text', { $set: { x: { $regexFind: { input: '$t', regex: { $concat: ['(?=(.*))'.repeat(500)] } } } } }, counted),
  ],
  ['parts of a date for each', sizeOf('numbers', map('$a', { $dateToParts: { date } }))],
  [
    'percentiles in a loop',
    sizeOf(
      'small',
      map(range(1000), { $percentile: { input: '$a', p: list(20_000, () => 0.5), method: 'approximate' } }),
    ),
  ],
  [
    'a default for an invalid date',
    sizeOf('numbers', map(range(1000), { $reverseArray: { $dateFromString: { dateString: 'x', onError: '$a' } } })),
  ],
  ['a number in each element, three deep', of('numbers', { $set: { 'a.x.y.z': 1 } }, counted)],
  ['objects that add up', of('tiny', ...added({ a: '$$this', b: { c: '$$this' } }), counted)],
  ['lists that add up', of('tiny', ...added([['$$this']]), { $sort: { n: 1 } }, { $project: { n: { $size: '$x3' } } })],
  ['texts that add up', of('tiny', ...added({ $toString: '$$this' }), { $project: { n: { $size: '$x3' } } })],
  [
    'a value by the name of an element',
    sizeOf(
      'numbers',
      reduce(
        range(1000),
        { p: [] },
        { p: { $map: { input: ['$$ROOT'], as: 'value', in: { $reverseArray: '$$value.a' } } } },
      ),
    ),
  ],
  [
    'fields that change places and grow',
    of(
      'numbers',
      field(reduce('$a', { p: [1], q: [2] }, { p: { $concatArrays: ['$$value.q', '$a'] }, q: '$$value.p' })),
    ),
  ],
  [
    'ranges as long as the least of a length and a number',
    of(
      'numbers',
      field(map(range(3000), { $slice: ['$a', 100] })),
      field(map('$a', { $range: [0, { $min: [{ $size: '$$this' }, 1000] }] })),
      counted,
    ),
  ],
  [
    'ten columns as long as the longest',
    sizeOf('numbers', { $zip: { inputs: list(10, () => '$a'), useLongestLength: true } }),
  ],
  ['merged in each turn', sizeOf('object', map(range(1000), { $cond: [true, { $mergeObjects: ['$o', {}] }, 1] }))],
  [
    'medians by key in facets',
    of('small', ...rows(10_000), {
      $facet: fields(5, () => [
        { $group: { _id: '$r', m: { $median: { input: '$n', method: 'approximate' } } } },
        counted,
      ]),
    }),
  ],
  [
    'five facets that sort to a limit without end',
    of('small', ...rows(10_000), {
      $facet: fields(5, () => [field(reversed), { $sort: { r: 1 } }, { $limit: 1_000_000_000 }, counted]),
    }),
  ],
  ['a step of many copies', sizeOf('numbers', { $range: [0, 10, { $size: copies(100) }] })],
  ['steps of many copies in a loop', sizeOf('numbers', map(range(10), { $range: [0, 10, { $size: copies(100) }] }))],
  ['a field named pipeline', of('numbers', { $replaceWith: { pipeline: copies(100) } }, counted)],
  ['a sum named pipeline', of('numbers', { $group: { _id: null, pipeline: { $sum: { $size: copies(100) } } } })],
  ['a bound in many parts', of('tiny', { $set: fields(100, () => range({ $add: list(100, () => 9999) })) }, counted)],
];

/** Pipelines that multiply data, each with a description. */
export const attacks = [...direct, ...roundabout, ...unseen];
