/** What every text of types begins with: the words of JSON, of documents and of conditions (contract 2, "Types"). */
export const preamble = `/** The collections of this project, as \`GET /api/types.ts\` describes them. Made by the service; fetch it again after a change. */

type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };
type Scalar = string | number | boolean | null;

/** What the service writes into every document. Dates are ISO 8601. */
interface Written {
  readonly _id: string;
  readonly isDeleted: boolean;
  readonly deletedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

interface Presence {
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
interface WrittenWhere {
  _id?: Is<string>;
  createdAt?: Is<string>;
  updatedAt?: Is<string>;
}
`;

/** Follows where there are users: what others see of one. */
export const publicUser = `
type PublicUser = Omit<Schema['users']['document'], 'email' | 'emailVerified' | 'isDeleted' | 'deletedAt'>;
`;
