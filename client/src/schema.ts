/** What one collection holds, as `GET /api/types.ts` says it. */
export interface Shape {
  readonly document: object;
  readonly insert: object;
  readonly update: object;
  readonly filter: object;
  /** What its fields of type `Ref` point at, by their paths. */
  readonly refs?: object;
}

/** Where no schema was given: any collection with anything in it. */
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

/** A document of which only some fields were asked for. */
export type Shown<D, P> = [P] extends [never]
  ? D
  : string extends keyof D
    ? D
    : { [K in Extract<keyof D, Head<P> | '_id'>]: D[K] };

/** The paths of fields of type `Ref`; any where the schema does not say them. */
export type RefPath<C extends Shape> = C extends { readonly refs: infer R } ? Name<R> : Path<C['document']>;

/** In the place of an id the document, or `null` for none; the id stays where its document may not be read. */
type InPlace<T, D> = T extends string ? D | T | null : T extends readonly (infer E)[] ? InPlace<E, D>[] : T;

/** Those below a field, by the rest of their paths. */
type Below<R, N> = { [P in keyof R as P extends `${N & string}.${infer Rest}` ? Rest : never]: R[P] };

type Filled<D, R> = [keyof R] extends [never]
  ? D
  : D extends readonly (infer E)[]
    ? Filled<E, R>[]
    : D extends object
      ? { [K in keyof D]: K extends keyof R ? InPlace<D[K], R[K]> : Filled<D[K], Below<R, K>> }
      : D;

/** A document in which some references are what they point at. */
export type Populated<C extends Shape, R> = C extends { readonly refs: infer Refs }
  ? Filled<C['document'], Pick<Refs, R & keyof Refs>>
  : C['document'];

/** What signed-in users see of themselves. */
export type UserOf<S> = S extends { readonly users: { readonly document: infer User } } ? User : AnyShape['document'];
