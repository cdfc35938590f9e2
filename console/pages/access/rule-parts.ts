import type { Collection, Field } from '../../../shared/collections/collection.ts';
import { fieldsOf } from '../../../shared/collections/schema/field-path.ts';
import { access } from '../../text/access.ts';
import type { NamedPart } from '../../ui/json-completion.ts';
import type { JsonPart } from '../../ui/json-insertion.ts';
import type { RuleName } from './rule-clauses.ts';

const maxFields = 40;

const pathsOf = (fields: readonly Field[], prefix = ''): readonly string[] =>
  fields.flatMap(({ key, fields: inner = [] }) => [prefix + key, ...pathsOf(inner, `${prefix}${key}.`)]);

const fieldPart = (path: string): NamedPart => ({
  ...{ label: path, key: path, value: '‹{ "$user": "_id" }›', asValue: JSON.stringify(path) },
});

const hinted = (label: keyof typeof access.partHints, part: JsonPart): NamedPart => ({
  ...{ label, hint: access.partHints[label] },
  ...part,
});

/** The user fields that a rule may name: those that users cannot write freely. */
const userParts = (users: Collection | undefined): readonly NamedPart[] =>
  (users?.schema ?? [])
    .filter(({ write }) => write !== undefined && write !== 'create')
    .map(({ key, type }) => {
      const operand = `{ "$user": ‹${JSON.stringify(key)}› }`;
      return { label: `$user: "${key}"`, value: type === 'Array' ? `{ "$in": ${operand} }` : operand };
    });

/** The fields, values and conditions that a rule can contain. */
export const partsFor = (
  name: RuleName,
  collection: Collection,
  known: readonly Collection[],
): Readonly<Record<keyof typeof access.groups, readonly NamedPart[]>> => {
  const fields = fieldsOf(collection);
  const ref = fields.find((field) => field.type === 'Ref' && field.ref !== undefined);
  const other = known.find((each) => each.name !== collection.name && each.name !== 'users');
  const isAfter = name === 'after';
  const [first = 'title'] = pathsOf(fields);
  const named = JSON.stringify(first);
  const from = `{ "$from": ‹${JSON.stringify(other?.name ?? 'memberships')}›, "select": "_id", "where": { "user": { "$user": "_id" } } }`;
  return {
    fields: [...pathsOf(fields), '_id', 'createdAt', 'updatedAt'].slice(0, maxFields).map(fieldPart),
    values: [
      hinted('$user: "_id"', { value: '{ "$user": ‹"_id"› }' }),
      ...userParts(known.find((each) => each.name === 'users')).slice(0, maxFields),
      hinted('$now', { value: '{ "$gt": { "$now": ‹0› } }' }),
      hinted('$doc', { value: `{ "$doc": ‹${named}› }` }),
      ...(isAfter ? [hinted('$stored', { value: `{ "$stored": ‹${named}› }` })] : []),
      hinted('$in', { value: '{ "$in": [‹"a"›, "b"] }' }),
      hinted('$from', { value: `{ "$in": ${from} }` }),
    ],
    conditions: [
      hinted('$or', { key: '$or', value: '[‹{ "$user": {} }›]' }),
      hinted('$and', { key: '$and', value: '[‹{ "$user": {} }›]' }),
      hinted('$not', { key: '$not', value: '‹{ "$user": {} }›' }),
      hinted('$user', { key: '$user', value: '‹{}›' }),
      ...(ref ? [hinted('$ref', { key: '$ref', value: `{ ${JSON.stringify(ref.key)}: ‹{ "_id": "" }› }` })] : []),
      ...(isAfter
        ? [
            hinted('$stored: {…}', { key: '$stored', value: `‹{ ${named}: "" }›` }),
            hinted('$only', { key: '$only', value: `[‹${named}›]` }),
          ]
        : []),
    ],
  };
};
