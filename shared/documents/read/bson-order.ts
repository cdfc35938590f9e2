/** MongoDB's order of types, lowest first, by the names `$type` knows them; types in one bracket compare by value. */
const brackets = [
  ['minKey'],
  ['undefined'],
  ['null'],
  ['number'],
  ['string', 'symbol'],
  ['object'],
  ['array'],
  ['binData'],
  ['objectId'],
  ['bool'],
  ['date'],
  ['timestamp'],
  ['regex'],
  ['dbPointer'],
  ['javascript'],
  ['javascriptWithScope'],
  ['maxKey'],
] as const;

/** Name of a BSON type, as `$type` spells it. */
export type TypeName = (typeof brackets)[number][number];

const taggedTypes: ReadonlyMap<string, TypeName> = new Map([
  ['MinKey', 'minKey'],
  ['Int32', 'number'],
  ['Long', 'number'],
  ['Double', 'number'],
  ['Decimal128', 'number'],
  ['BSONSymbol', 'string'],
  ['Binary', 'binData'],
  ['ObjectId', 'objectId'],
  ['Timestamp', 'timestamp'],
  ['BSONRegExp', 'regex'],
  ['Code', 'javascript'],
  ['MaxKey', 'maxKey'],
]);

const objectType = (value: object): TypeName => {
  if (Array.isArray(value)) return 'array';
  if (value instanceof Date) return 'date';
  if (value instanceof RegExp) return 'regex';
  // The driver's classes inherit their tag; an object that has one of its own is a document with a field of that name.
  const tag: unknown = '_bsontype' in value && !Object.hasOwn(value, '_bsontype') ? value._bsontype : undefined;
  return (typeof tag === 'string' ? taggedTypes.get(tag) : undefined) ?? 'object';
};

/** The BSON type of a value that the driver returned; `undefined` is what MongoDB sorts an empty array by. */
export const typeOf = (value: unknown): TypeName => {
  switch (typeof value) {
    case 'undefined':
      return 'undefined';
    case 'boolean':
      return 'bool';
    case 'number':
    case 'bigint':
      return 'number';
    case 'string':
      return 'string';
    default:
      return value === null ? 'null' : objectType(value as object);
  }
};

const bracketOf = (type: TypeName): number => brackets.findIndex((bracket) => bracket.some((name) => name === type));

/** The types that order wholly after (`1`) or before (`-1`) the type of a value. */
export const typesBeyond = (value: unknown, direction: 1 | -1): readonly TypeName[] => {
  const bracket = bracketOf(typeOf(value));
  return (direction === 1 ? brackets.slice(bracket + 1) : brackets.slice(0, bracket)).flat();
};
