/** What one collection holds, as `GET /api/types.ts` says it. */
export interface Shape {
  readonly document: object;
  readonly insert: object;
  readonly update: object;
  readonly filter: object;
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

/** What signed-in users see of themselves. */
export type UserOf<S> = S extends { readonly users: { readonly document: infer User } } ? User : AnyShape['document'];
