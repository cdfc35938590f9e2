import * as v from 'valibot';
import { isPlainObject } from '../../core/json-value.ts';
import { fieldTypeNames } from './field-types.ts';
import { schemaError } from './schema-error.ts';

const type = v.picklist(fieldTypeNames, `needs a type, one of ${fieldTypeNames.join(', ')}`);
const flag = (name: string) => v.optional(v.nullable(v.boolean(`must have true or false as ${name}`), false), false);

/** What goes with the type: the target of a `Ref`, the elements of an `Array`, the sub-fields of an `Object`. */
const details = {
  ref: v.optional(v.nullable(v.string('needs the name of a collection as ref'))),
  items: v.optional(v.nullable(v.unknown())),
  fields: v.optional(v.nullable(v.array(v.unknown(), 'needs a list as fields'))),
};

/** One level of a definition as sent; `null` stands for a property that is left out, as in what the service answers. */
export const ItemsShape = v.strictObject({ type, ...details });
/** One field of a definition as sent; its `items` and `fields` are read level by level. */
export const FieldShape = v.strictObject({
  key: v.string('needs a key that is a string'),
  type,
  required: flag('required'),
  unique: flag('unique'),
  uniquePer: v.optional(v.nullable(v.literal('owner', 'must have "owner" as uniquePer, or leave it out'))),
  searchable: flag('searchable'),
  default: v.optional(v.unknown()),
  ...details,
});

/** Elements of an `Array`, read to one level. */
export type RawItems = v.InferOutput<typeof ItemsShape>;
export type RawField = v.InferOutput<typeof FieldShape>;

/** The key of a definition that is not yet known to be well formed. */
export const keyOf = (value: unknown): string | undefined =>
  isPlainObject(value) && typeof value.key === 'string' ? value.key : undefined;

/** Reads one level of a definition; missing, ill-typed and unknown properties → 400 `INVALID_SCHEMA`. */
export const parseShape = <S extends typeof ItemsShape | typeof FieldShape>(
  shape: S,
  value: unknown,
  path: string,
): v.InferOutput<S> => {
  if (!isPlainObject(value)) throw schemaError(path, 'must be an object that defines a field');
  const result = v.safeParse(shape, value, { abortEarly: true });
  if (result.success) return result.output;
  const [issue] = result.issues;
  const property = v.getDotPath(issue);
  if (issue.expected === 'never') throw schemaError(path, `has an unknown property, ${property}`);
  throw schemaError(path, issue.message.startsWith('Invalid key') ? `needs a ${property}` : issue.message);
};
