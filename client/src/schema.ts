/** The types of one collection, from `GET /api/types.ts`. */
export interface Shape {
  readonly document: object;
  readonly insert: object;
  readonly update: object;
  readonly filter: object;
  /** The targets of its `Ref` fields, by path. */
  readonly refs?: object;
}

/** Used without a schema: any collection with any fields. */
export interface AnyShape extends Shape {
  readonly document: { readonly _id: string; readonly [field: string]: unknown };
  readonly insert: { readonly [field: string]: unknown };
  readonly update: { readonly [field: string]: unknown };
  readonly filter: { readonly [field: string]: unknown };
}

type Name<D> = Extract<keyof D, string>;

/** A field, or a dotted path into one. */
export type Path<D> = Name<D> | `${Name<D>}.${string}`;

/** A field to sort by: `views`, `-views`, `views:desc`. */
export type SortKey<D> = Path<D> | `-${Path<D>}` | `${Path<D>}:${'asc' | 'desc'}`;

type Head<P> = P extends `${infer First}.${string}` ? First : P;

/** A document with only the requested fields. */
export type Shown<D, P> = [P] extends [never]
  ? D
  : string extends keyof D
    ? D
    : { [K in Extract<keyof D, Head<P> | '_id'>]: D[K] };

/** The paths of `Ref` fields; any path if the schema does not list them. */
export type RefPath<C extends Shape> = C extends { readonly refs: infer R } ? Name<R> : Path<C['document']>;

/** Instead of an id, the document or `null` if it is missing. The id stays if the document may not be read. */
type InPlace<T, D> = T extends string ? D | T | null : T extends readonly (infer E)[] ? InPlace<E, D>[] : T;

/** The references below a field, by the rest of their paths. */
type Below<R, N> = { [P in keyof R as P extends `${N & string}.${infer Rest}` ? Rest : never]: R[P] };

type Filled<D, R> = [keyof R] extends [never]
  ? D
  : D extends readonly (infer E)[]
    ? Filled<E, R>[]
    : D extends object
      ? { [K in keyof D]: K extends keyof R ? InPlace<D[K], R[K]> : Filled<D[K], Below<R, K>> }
      : D;

/** A document with some references replaced by their documents. */
export type Populated<C extends Shape, R> = C extends { readonly refs: infer Refs }
  ? Filled<C['document'], Pick<Refs, R & keyof Refs>>
  : C['document'];

/** What signed-in users see of themselves. */
export type UserOf<S> = S extends { readonly users: { readonly document: infer User } } ? User : AnyShape['document'];
