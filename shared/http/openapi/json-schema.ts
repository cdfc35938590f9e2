import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import { type GenericSchema, safeParse } from 'valibot';

/** Character classes that differ between engines → their meaning in JavaScript. */
const classes: Readonly<Record<string, string>> = {
  '\\p{Cc}': '\\u0000-\\u001f\\u007f-\\u009f',
  '\\w': 'A-Za-z0-9_',
  '\\d': '0-9',
};

const anyClass = /\\(?:[pP]\{[^}]+\}|[wWdDsSbB])/g;

/**
 * Rewrites a pattern so that every JSON Schema validator reads it like JavaScript. Python has no `\p{…}`, and its `\w`
 * and `\d` match all scripts. Throws for a class that is not in `classes`.
 */
export const portablePattern = (source: string): string =>
  source.replace(anyClass, (name, at: number) => {
    const members = classes[name];
    if (members === undefined) throw new Error(`portable-pattern.ts does not say what ${name} is`);
    const before = source.slice(0, at);
    const isInside = before.lastIndexOf('[') > before.lastIndexOf(']');
    return isInside ? members : `[${members}]`;
  });

/** JSON Schema 2020-12, as used by OpenAPI 3.1. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type ActionContext = Parameters<NonNullable<ConversionConfig['overrideAction']>>[0];
type SchemaContext = Parameters<NonNullable<ConversionConfig['overrideSchema']>>[0];
type Draft = ActionContext['jsonSchema'];

/** These change a valid value, which a schema cannot express. */
const changes: ReadonlySet<string> = new Set(['transform', 'trim', 'to_lower_case']);

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replace(/([^.])$/, '$1.');

const described = (schema: Draft, message: unknown): Draft =>
  typeof message !== 'string' || schema.description?.includes(sentence(message))
    ? schema
    : { ...schema, description: [schema.description ?? [], sentence(message)].flat().join(' ') };

const withPattern = (schema: Draft, { source }: RegExp): Draft => {
  const pattern = portablePattern(source);
  return schema.pattern === undefined || schema.pattern === source
    ? { ...schema, pattern }
    : { ...schema, allOf: [...(schema.allOf ?? []), { pattern }] };
};

/** Client generators make one type of an `enum`, so values of several types become alternatives. */
const alternatives = (values: readonly unknown[]): Draft => ({
  anyOf: [...Map.groupBy(values, (value) => typeof value)].map(
    ([type, group]): Draft => ({
      type: type as 'string' | 'number' | 'boolean',
      enum: group as string[],
    }),
  ),
});

/** Digits in a query are described as a number. */
const asNumber = ({ pattern: _pattern, ...rest }: Draft, bound: 'minimum' | 'maximum', value: number): Draft => ({
  ...rest,
  type: 'integer',
  [bound]: value,
});

interface Action {
  readonly type: string;
  readonly requirement?: unknown;
  readonly message?: unknown;
}

/** The message of a custom check describes it. JSON Schema patterns are Unicode patterns. */
const convertAction = ({ valibotAction, jsonSchema, errors }: ActionContext): Draft | undefined => {
  const { type, requirement, message } = valibotAction as Action;
  if (changes.has(type)) return jsonSchema;
  if (type === 'check') return described(jsonSchema, message);
  if (type === 'raw_check') return jsonSchema;
  if (type === 'regex') return described(withPattern(jsonSchema, requirement as RegExp), message);
  if (jsonSchema.type === 'string' && type === 'min_value') return asNumber(jsonSchema, 'minimum', Number(requirement));
  if (errors) throw new Error(errors.join(' '));
  return undefined;
};

/** Without `additionalProperties`, client generators treat an object without fields as empty. */
const anyObject: Draft = { type: 'object', additionalProperties: true };

/** Describes a custom guard by the values that it accepts. */
const convertGuard = (accepts: (value: unknown) => boolean): Draft => {
  if (accepts({}) && !accepts([])) return anyObject;
  if (accepts([]) && !accepts({})) return { type: 'array', items: anyObject };
  throw new Error('A custom schema is neither one of objects nor one of arrays: describe it in json-schema.ts');
};

const convertSchema = ({ valibotSchema, jsonSchema, errors }: SchemaContext): Draft | undefined => {
  if (valibotSchema.type === 'date') return { type: 'string', format: 'date-time' };
  if (valibotSchema.type === 'custom') return convertGuard((value) => safeParse(valibotSchema, value).success);
  if (errors) throw new Error(errors.join(' '));
  if (jsonSchema.enum && Array.isArray(jsonSchema.type)) return alternatives(jsonSchema.enum);
  // An empty `required` list is omitted.
  if (Array.isArray(jsonSchema.required) && jsonSchema.required.length === 0) {
    const { required: _none, ...rest } = jsonSchema;
    return rest;
  }
  return undefined;
};

export const jsonSchemaOf = (schema: GenericSchema): JsonSchema => {
  const { $schema: _dialect, ...converted } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    errorMode: 'ignore',
    overrideAction: convertAction,
    overrideSchema: convertSchema,
  });
  return converted;
};

const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Keywords whose values are data and could look like a schema. */
const notSchemas: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'enum', 'const']);

const typeOf = ({ type }: JsonSchema): unknown => (type === 'integer' ? 'number' : type);

const withoutAnyOf = (schema: JsonSchema): JsonSchema => {
  const { anyOf, ...rest } = schema;
  if (!(Array.isArray(anyOf) && anyOf.every(isSchema))) return schema;
  const types = anyOf.map(typeOf);
  const [only, ...more] = anyOf.filter(({ type }) => type !== 'null');
  // Client generators make one type of an `enum`, so a nullable one stays an alternative.
  const canBeNull = anyOf.length === 2 && typeof only?.type === 'string' && !('enum' in only);
  if (canBeNull && more.length === 0) return { ...only, ...rest, type: [only.type, 'null'] };
  const differ = types.every((type) => typeof type === 'string') && new Set(types).size === types.length;
  return differ && !types.includes('null') ? { ...rest, oneOf: anyOf } : schema;
};

/**
 * Rewrites schemas for client generators. openapi-generator fails on null in alternatives (Python) and generates
 * invalid Go from `anyOf`. `oneOf` accepts the same values, because the alternatives have different types.
 */
export const forGenerators = <T>(part: T): T => {
  if (Array.isArray(part)) return part.map((each: unknown) => forGenerators(each)) as T;
  if (!isSchema(part)) return part;
  const inside = Object.entries(part).map(([name, value]): [string, unknown] => {
    if (notSchemas.has(name)) return [name, value];
    // Keys are field names, which can equal keywords.
    if (name === 'properties' && isSchema(value)) {
      return [name, Object.fromEntries(Object.entries(value).map(([key, field]) => [key, forGenerators(field)]))];
    }
    return [name, forGenerators(value)];
  });
  return withoutAnyOf(Object.fromEntries(inside)) as T;
};
