import { describe, expect, test } from 'vitest';
import { hideFields, refuseHidden } from '../../../../shared/documents/aggregate/hide-fields.ts';
import type { Pipeline } from '../../../../shared/documents/aggregate/pipeline.ts';
import { refusal } from './collections.ts';

const hide = { $unset: ['_rev', '_pos', '_gone', '_fuse', '_effects'] };
const find = [{ $match: { a: 1 } }, { $sort: { b: 1 } }, { $limit: 2 }];

describe('the stage that hides internal fields', () => {
  test.each<[string, Pipeline, Pipeline]>([
    ['comes last when stages pass documents on', find, [...find, hide]],
    [
      'comes before a stage that names fields in another way',
      [...find, { $set: { c: 1 } }],
      [...find, hide, { $set: { c: 1 } }],
    ],
    ['is omitted before a $group', [...find, { $group: { _id: '$a' } }], [...find, { $group: { _id: '$a' } }]],
    ['is omitted before a $project of fields', [{ $project: { a: 1 } }], [{ $project: { a: 1 } }]],
    ['comes before a $project that removes fields', [{ $project: { a: 0 } }], [hide, { $project: { a: 0 } }]],
    ['comes before a $project that removes only _id', [{ $project: { _id: 0 } }], [hide, { $project: { _id: 0 } }]],
    ['comes before a join', [{ $lookup: { from: 'a', as: 'b' } }], [hide, { $lookup: { from: 'a', as: 'b' } }]],
  ])('%s', (_title, stages, expected) => {
    expect(hideFields(stages, [])).toEqual(expected);
  });

  test.each<Pipeline[number]>([
    { $match: { _rev: 3 } },
    { $match: { $or: [{ '_pos.x': 1 }] } },
    { $match: { $expr: { $eq: ['$_rev', 1] } } },
    { $match: { $expr: { $eq: [{ $getField: { field: { $concat: ['_r', 'ev'] }, input: '$$ROOT' } }, 1] } } },
    { $match: { $expr: { $gt: [{ $getField: { $concat: ['_r', 'ev'] } }, 1] } } },
    { $match: { $jsonSchema: { required: ['x'] } } },
    { $sort: { _rev: 1 } },
    { $group: { _id: '$_rev' } },
    { $group: { _id: null, all: { $push: '$$ROOT' } } },
    { $group: { _id: [['$$CURRENT._rev']] } },
    { $sortByCount: '$_gone' },
    { $bucket: { groupBy: '$_rev', boundaries: [0, 5] } },
    { $project: { a: 1, rev: '$_rev' } },
    { $replaceWith: { $objectToArray: '$$ROOT' } },
    { $redact: '$$KEEP' },
  ])('comes before %j', (stage) => {
    expect(hideFields([stage], [])[0]).toEqual(hide);
  });

  test.each<[string, unknown]>([
    ['$geoNear', { query: { _rev: 1 } }],
    ['$lookup.foreignField', '_rev'],
    ['$graphLookup', ['a', '_pos', undefined]],
  ])('INVALID_PIPELINE for %s when an index would read hidden fields', (name, operand) => {
    expect(refusal(() => refuseHidden(name, operand))).toMatch(/^INVALID_PIPELINE .*_rev/);
  });
});
