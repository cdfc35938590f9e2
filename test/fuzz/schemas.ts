import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Collection, noRowSecurity } from '../../shared/collections/collection.ts';
import { parseRules } from '../../shared/collections/rules/parse-rules.ts';
import { parseSchema } from '../../shared/collections/schema/schema.ts';
import { everything } from '../shared/documents/collections.ts';
import { field, test } from './conditions.ts';
import { mutatedValue } from './grammar.ts';
import { parser } from './parser.ts';

const rls = { ...noRowSecurity, enabled: true, mode: 'rules' as const };

const collectionOf = (name: string, schema: unknown): Collection => ({ name, schema: parseSchema(schema), rls });

const members = collectionOf('members', [
  { key: 'user', type: 'String' },
  { key: 'team', type: 'String' },
]);

const ruled = { ...everything, rls };

const known = new Map([ruled, members].map((each) => [each.name, each]));

const { rule } = fc.letrec<{ rule: unknown }>((tie) => ({
  rule: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'rule' },
    fc.oneof(fc.boolean(), fc.dictionary(field, fc.oneof(test, fc.constant({ $user: '_id' })), { maxKeys: 2 })),
    fc
      .tuple(fc.constantFrom('$and', '$or'), fc.array(tie('rule'), { maxLength: 3 }))
      .map(([by, all]) => ({ [by]: all })),
    tie('rule').map((inner) => ({ $not: inner })),
    fc.constantFrom<unknown>(
      { $user: { role: 'a' } },
      { title: { $in: { $from: 'members', select: 'team', where: { user: { $user: '_id' } } } } },
      { $from: 'members', where: { user: { $user: '_id' } } },
    ),
  ),
}));

const rules = fc.dictionary(
  fc.constantFrom('read', 'create', 'update', 'delete', 'readTrash', 'recover', 'purge'),
  fc.oneof(rule, fc.record({ before: rule, after: rule }), fc.record({ get: rule, list: rule })),
  { maxKeys: 4 },
);

const texts = fc.constantFrom<object>(
  {},
  { required: true },
  { unique: true },
  { min: 1, max: 5 },
  { enum: ['a', 'b'], default: 'a' },
  { pattern: '^a' },
  { format: 'email' },
);

const rights = fc.constantFrom<object>(
  {},
  {},
  { write: 'server' },
  { read: 'server' },
  { write: { $user: { role: 'a' } } },
  { default: { $now: true } },
);

const ofType = fc.oneof<fc.Arbitrary<object>[]>(
  texts.map((more) => ({ type: 'String', ...more })),
  fc.constantFrom(
    { type: 'Number', min: 0, max: 1.5 },
    { type: 'Boolean', default: false },
    { type: 'Date' },
    { type: 'Number', integer: true },
  ),
  fc.constantFrom('restrict', 'trash', 'unset').map((onDelete) => ({ type: 'Ref', ref: 'people', onDelete })),
  fc.constantFrom<object>({ type: 'Array' }, { type: 'Array', items: { type: 'Array', items: { type: 'Number' } } }),
  fc.constantFrom<object>(
    { type: 'Object' },
    { type: 'Object', fields: [{ key: 'x', type: 'String', required: true }] },
  ),
);

const schema = fc
  .uniqueArray(fc.constantFrom('a', 'b', 'c', 'email', '_id', 'a.b'), { minLength: 1, maxLength: 3 })
  .chain((names) =>
    fc.tuple(...names.map((key) => fc.tuple(ofType, rights).map((parts) => Object.assign({ key }, ...parts)))),
  );

export const schemas = [
  parser('rules', mutatedValue(rules), (value) => parseRules(ruled, known, value as never)),
  parser('schemas', mutatedValue(schema), (value) => {
    const fields = parseSchema(value);
    assert.deepEqual(parseSchema(JSON.parse(JSON.stringify(fields))), fields, 'A stored schema is read differently');
    return fields;
  }),
];
