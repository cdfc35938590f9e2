import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import { type GenericSchema, safeParse } from 'valibot';

/** Classes that engines read differently or not at all → what JavaScript means by them. */
const classes: Readonly<Record<string, string>> = {
  '\\p{Cc}': '\\u0000-\\u001f\\u007f-\\u009f',
  '\\w': 'A-Za-z0-9_',
  '\\d': '0-9',
};

const anyClass = /\\(?:[pP]\{[^}]+\}|[wWdDsSbB])/g;

/**
 * A pattern of ours as every validator of JSON schemas reads it: Python's know no `\p{…}`, and take `\w` and `\d` for
 * letters and digits of all scripts. Throws for a class that is not on the list: put it there.
 */
export const portablePattern = (source: string): string =>
  source.replace(anyClass, (name, at: number) => {
    const members = classes[name];
    if (members === undefined) throw new Error(`portable-pattern.ts does not say what ${name} is`);
    const before = source.slice(0, at);
    const isInside = before.lastIndexOf('[') > before.lastIndexOf(']');
    return isInside ? members : `[${members}]`;
  });

/** A JSON schema (2020-12), as OpenAPI 3.1 takes it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type ActionContext = Parameters<NonNullable<ConversionConfig['overrideAction']>>[0];
type SchemaContext = Parameters<NonNullable<ConversionConfig['overrideSchema']>>[0];
type Draft = ActionContext['jsonSchema'];

/** Actions that only change a value that has passed, which a schema cannot say. */
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

/** Generators of clients make one type of an `enum`: values of several types become alternatives. */
const alternatives = (values: readonly unknown[]): Draft => ({
  anyOf: [...Map.groupBy(values, (value) => typeof value)].map(
    ([type, group]): Draft => ({
      type: type as 'string' | 'number' | 'boolean',
      enum: group as string[],
    }),
  ),
});

/** Digits that are read as a number: what callers have to know is the number. */
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

/** What a check demands is in its message; patterns are Unicode ones in JSON schemas. */
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

/** Without `additionalProperties` generators of clients take an object without fields for an empty one. */
const anyObject: Draft = { type: 'object', additionalProperties: true };

/** A guard of our own is described by what it lets through. */
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
  // Nothing is required of an object without required fields, and of a document whatever its fields.
  if (Array.isArray(jsonSchema.required) && jsonSchema.required.length === 0) {
    const { required: _none, ...rest } = jsonSchema;
    return rest;
  }
  return undefined;
};

/** The JSON schema of what a valibot schema takes; throws where it cannot say what that is. */
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

/** Data, which may look like a schema. */
const notSchemas: ReadonlySet<string> = new Set(['example', 'examples', 'default', 'enum', 'const']);

const typeOf = ({ type }: JsonSchema): unknown => (type === 'integer' ? 'number' : type);

const withoutAnyOf = (schema: JsonSchema): JsonSchema => {
  const { anyOf, ...rest } = schema;
  if (!(Array.isArray(anyOf) && anyOf.every(isSchema))) return schema;
  const types = anyOf.map(typeOf);
  const [only, ...more] = anyOf.filter(({ type }) => type !== 'null');
  // Generators make one type of an `enum`, so one that may be null stays an alternative.
  const canBeNull = anyOf.length === 2 && typeof only?.type === 'string' && !('enum' in only);
  if (canBeNull && more.length === 0) return { ...only, ...rest, type: [only.type, 'null'] };
  const differ = types.every((type) => typeof type === 'string') && new Set(types).size === types.length;
  return differ && !types.includes('null') ? { ...rest, oneOf: anyOf } : schema;
};

/**
 * The same schemas, in words that generators of clients read: openapi-generator fails at a null among alternatives
 * (Python), and makes Go that does not compile of `anyOf`. Alternatives of different types exclude each other, so
 * `oneOf` takes the same.
 */
export const forGenerators = <T>(part: T): T => {
  if (Array.isArray(part)) return part.map((each: unknown) => forGenerators(each)) as T;
  if (!isSchema(part)) return part;
  const inside = Object.entries(part).map(([name, value]): [string, unknown] => {
    if (notSchemas.has(name)) return [name, value];
    // The keys are names of fields, which may be those of keywords.
    if (name === 'properties' && isSchema(value)) {
      return [name, Object.fromEntries(Object.entries(value).map(([key, field]) => [key, forGenerators(field)]))];
    }
    return [name, forGenerators(value)];
  });
  return withoutAnyOf(Object.fromEntries(inside)) as T;
};
