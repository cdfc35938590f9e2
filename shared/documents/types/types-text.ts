import type { Collection, Field } from '../../collections/collection.ts';
import { usersCollection } from '../../collections/names.ts';
import { fieldsOf } from '../../collections/schema/field-path.ts';
import { emailVerifiedField } from '../../collections/schema/users.ts';
import { fitsResponse } from '../../core/json.ts';
import type { KeyKind } from '../../projects/project.ts';
import { changeLines, conditionsText, fieldsFor, fieldText, refLines } from './type-text.ts';

const jsonText = `type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };
`;

const writtenText = `/** What the service writes into every document. Dates are ISO 8601. */
interface Written {
  readonly _id: string;
  readonly isDeleted: boolean;
  readonly deletedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

`;

/** What every text of types begins with: the words of JSON, of documents and of conditions (contract 2, "Types"). */
const preamble = `/** The collections of this project, as \`GET /api/types.ts\` describes them. Made by the service; fetch it again after a change. */

${jsonText}type Scalar = string | number | boolean | null;

${writtenText}interface Presence {
  $exists?: boolean;
  $eq?: null;
  $ne?: null;
}
interface Compared<T> {
  $exists?: boolean;
  $eq?: T | null;
  $ne?: T | null;
  $in?: readonly (T | null)[];
  $nin?: readonly (T | null)[];
  $gt?: T;
  $gte?: T;
  $lt?: T;
  $lte?: T;
}
interface Text extends Compared<string> {
  $regex?: string;
  $contains?: string;
  $startsWith?: string;
  $endsWith?: string;
}
interface Anything extends Compared<string | number | boolean> {
  $regex?: string;
  $contains?: string;
  $startsWith?: string;
  $endsWith?: string;
  $all?: readonly Scalar[];
  $size?: number;
  $elemMatch?: AnyWhere | Anything;
}
interface Listed<T, Element> {
  $all?: readonly (T | null)[];
  $size?: number;
  $elemMatch?: Element;
}
type Is<T, Operators = Compared<T>> = T | null | Operators;
type Elements<T, Operators = Compared<T>> = Is<T, Operators & Listed<T, Operators>>;
type Objects<Fields> = null | (Presence & { $size?: number; $elemMatch?: Where<Fields> });
type Under<Path extends string, Fields> = { [Name in keyof Fields as Name extends string ? \`\${Path}.\${Name}\` : never]: Fields[Name] };
type Reached<Fields> = { [Name in keyof Fields as Name extends \`\${bigint}\` | \`\${bigint}.\${string}\` ? never : Name]: Fields[Name] };
/** An object at a path, and the fields in it. */
type In<Path extends string, Fields> = { [Name in Path]?: null | Presence | undefined } & Under<Path, Fields>;
/** A list of objects at a path, and the fields of its elements, by position or of any. */
type Of<Path extends string, Fields> = { [Name in Path]?: Objects<Fields> | undefined } &
  In<\`\${Path}.\${bigint}\`, Fields> &
  Under<Path, Reached<Fields>>;
type Where<Fields> = Fields & {
  $and?: readonly Where<Fields>[];
  $or?: readonly Where<Fields>[];
  $not?: Where<Fields>;
};
interface AnyWhere {
  $and?: readonly AnyWhere[];
  $or?: readonly AnyWhere[];
  $not?: AnyWhere;
  [path: string]: Scalar | Anything | AnyWhere | readonly AnyWhere[] | undefined;
}
/** The paths of an update that take values of a type. */
type Taking<Fields, T, Value = T> = {
  [Path in keyof Fields as Extract<NonNullable<Fields[Path]>, T> extends never ? never : Path]?: Value;
};
type Element<List> = List extends readonly (infer One)[] ? One : never;
type Lists<Fields, Modifiers> = {
  [Path in keyof Fields as Extract<NonNullable<Fields[Path]>, readonly unknown[]> extends never ? never : Path]?:
    | Element<Fields[Path]>
    | ({ $each: readonly Element<Fields[Path]>[] } & Modifiers);
};
/** An update: fields, and operators beside them. */
type Changes<Fields> = Fields & {
  $inc?: Taking<Fields, number>;
  $mul?: Taking<Fields, number>;
  $min?: Taking<Fields, number | string>;
  $max?: Taking<Fields, number | string>;
  $push?: Lists<Fields, { $position?: number; $slice?: number }>;
  $addToSet?: Lists<Fields, unknown>;
  $pull?: Taking<Fields, readonly unknown[], Json | AnyWhere | Anything>;
  $unset?: readonly (keyof Fields)[];
  $currentDate?: readonly (keyof Taking<Fields, string>)[];
};
interface WrittenWhere {
  _id?: Is<string>;
  createdAt?: Is<string>;
  updatedAt?: Is<string>;
}
`;

/** Follows where there are users: what others see of one. */
const publicUser = `
type PublicUser = Omit<Schema['users']['document'], 'email' | 'emailVerified' | 'isDeleted' | 'deletedAt'>;
`;

/** The fields that readers see, with the implied owner field, and without the password of `users`. */
export const shownFields = (collection: Collection): readonly Field[] =>
  collection.name === usersCollection
    ? fieldsOf(collection).filter(({ key }) => key !== 'password' && key !== emailVerifiedField)
    : fieldsOf(collection);

/** The fields in responses. Anonymous users, and those of some identity providers, have no email. */
const answeredFields = (collection: Collection): readonly Field[] =>
  shownFields(collection).map((field) =>
    collection.name === usersCollection && field.key === 'email' ? { ...field, required: false } : field,
  );

/** The fields of an insert. The owner is filled in for a caller with a token, so it is optional. */
export const insertedFields = (collection: Collection): readonly Field[] =>
  shownFields(collection).map((field) =>
    collection.rls.enabled && field.key === collection.rls.ownerField ? { ...field, required: false } : field,
  );

const block = (lines: readonly string[]): string => `{${lines.map((line) => `\n      ${line};`).join('')}\n    }`;

const anything = [
  'document: Written & JsonObject',
  'insert: JsonObject',
  'update: JsonObject',
  'filter: AnyWhere',
  'refs: {}',
];

/** What may replace a reference: the public profile of a user, `null` for a missing document. */
const targetText = (name: string, names: ReadonlySet<string>): string => {
  if (!names.has(name)) return 'null';
  return name === usersCollection ? 'PublicUser' : `Schema['${name}']['document']`;
};

/** Profiles of users take no operators. */
const changesOf = ({ name }: Collection, fields: string): string =>
  name === usersCollection ? fields : `Changes<${fields}>`;

const linesOf = (collection: Collection, names: ReadonlySet<string>, keyKind: KeyKind): readonly string[] => {
  if (!collection.schema) return anything;
  const fieldsOf = (fields: readonly Field[], use: 'read' | 'insert' | 'update') =>
    fieldsFor(collection, fields, keyKind, use);
  const shown = fieldsOf(shownFields(collection), 'read');
  const verified = collection.name === usersCollection ? ['readonly emailVerified: boolean'] : [];
  return [
    `document: Written & ${block([...fieldsOf(answeredFields(collection), 'read').map(fieldText), ...verified])}`,
    `insert: ${block(fieldsOf(insertedFields(collection), 'insert').map(fieldText))}`,
    `update: ${changesOf(collection, block(fieldsOf(shownFields(collection), 'update').flatMap(changeLines)))}`,
    `filter: Where<WrittenWhere & ${conditionsText(shown, block)}>`,
    `refs: ${block(refLines(shown, (name) => targetText(name, names)))}`,
  ];
};

const entryText = (collection: Collection, names: ReadonlySet<string>, keyKind: KeyKind): string =>
  `  '${collection.name}': {${linesOf(collection, names, keyKind)
    .map((line) => `\n    ${line};`)
    .join('')}\n  };\n`;

/**
 * The collections of a project as TypeScript: `export interface Schema { '<name>': {document, insert, update,
 * filter, refs} }` without imports. Equal collections and kinds of keys give equal text, valid under `strict` for
 * any schema (contract 2, "Types"). Stops when it is larger than a response may be, which is then rejected.
 */
export const typesText = (collections: readonly Collection[], keyKind: KeyKind): string => {
  const names = new Set(collections.map(({ name }) => name));
  let text = `${preamble}${names.has(usersCollection) ? publicUser : ''}\nexport interface Schema {\n`;
  for (const collection of collections.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (fitsResponse(text)) text += entryText(collection, names, keyKind);
  }
  return `${text}}\n`;
};

const titled = (name: string): string =>
  name.replaceAll(/(?:^|[_-]+)([a-z0-9])/gi, (_, letter: string) => letter.toUpperCase());

/** One collection as TypeScript, to copy: what a document has, and what an insert needs. */
export const collectionText = (collection: Collection, keyKind: KeyKind): string => {
  const [document, insert] = linesOf(collection, new Set([collection.name]), keyKind);
  const type = (name: string, line = '') =>
    `export type ${name} = ${line.slice(line.indexOf(': ') + 2).replaceAll(/^ {4}/gm, '')};\n`;
  const types = `${type(titled(collection.name), document)}\n${type(`New${titled(collection.name)}`, insert)}`;
  return `${/\bJson(?:Object)?\b/.test(types) ? `${jsonText}\n` : ''}${writtenText}${types}`;
};
