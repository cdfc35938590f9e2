import type { WriteOptions } from './collection.ts';
import { dataBy, type Send } from './connection.ts';
import type { Shape } from './schema.ts';

type Shapes<S> = { [N in keyof S]: Shape };

/** The id of write `$id` of the same batch, an earlier insert. */
export interface IdOf {
  readonly $id: number;
}

/** Fields that can hold an id take that of an earlier insert too. */
type WithIds<T> = { [K in keyof T]: T[K] | (Extract<T[K], string> extends never ? never : IdOf) };

interface One<Op, N> {
  readonly op: Op;
  readonly collection: N;
}

interface Existing<Op, N> extends One<Op, N> {
  readonly id: string | IdOf;
}

interface If<C extends Shape> {
  readonly where?: WithIds<C['filter']> | undefined;
  /** The revision that the document must be at. */
  readonly rev?: number | undefined;
}

type WriteOf<N, C extends Shape> =
  | (One<'insert', N> & { readonly document: WithIds<C['insert']>; readonly id?: string })
  | (Existing<'update', N> & { readonly changes: WithIds<C['update']> } & If<C>)
  | (Existing<'delete', N> & If<C>)
  | (Existing<'check', N> & Pick<If<C>, 'where'>);

/** A write of a batch. */
export type BatchWrite<S extends Shapes<S>> = {
  [N in Exclude<keyof S & string, 'users'>]: WriteOf<N, S[N]>;
}[Exclude<keyof S & string, 'users'>];

/** A write that is done on its own. A repeat with the same key gets the result of the first. */
export type QueuedWrite<S extends Shapes<S>> = BatchWrite<S> & { readonly idempotencyKey?: string };

type Known<T, Allowed> = { [K in keyof T]: K extends keyof Allowed ? unknown : never };

/** `never` for members and fields that do not exist: the compiler infers the type of a write, so it ignores them. */
type Checked<W, Allowed> =
  Allowed extends One<infer Op, infer N>
    ? W extends One<Op, N>
      ? Known<W, Allowed> & {
          [K in keyof W as K & ('document' | 'changes' | 'where')]: Known<
            W[K],
            NonNullable<Allowed[K & keyof Allowed]>
          >;
        }
      : never
    : never;

type AllChecked<W, Allowed> = { [I in keyof W]: Checked<W[I], Allowed> };

/** The document after an insert or update. Results of more than 5 MiB have none. */
type Outcome<S extends Shapes<S>, W> =
  W extends One<infer Op, infer N extends keyof S>
    ? { readonly status: number } & (Op extends 'insert' | 'update'
        ? { readonly document?: S[N]['document'] }
        : unknown)
    : never;

/** Why a write was rejected. */
interface Rejection {
  readonly code?: string;
  readonly message?: string;
}

export interface BatchResult<R> {
  /** In the order of the writes. */
  readonly results: R;
  /** The documents were left out, because together they are larger than 5 MiB. */
  readonly truncated?: true;
}

type Outcomes<S extends Shapes<S>, W, More = unknown> = { -readonly [I in keyof W]: Outcome<S, W[I]> & More };

interface Batch<S extends Shapes<S>> {
  /** Carries out 1 to 50 writes, all or none. Throws the error of the first rejected one, whose `errors` have its `index`. */
  <const W extends readonly BatchWrite<S>[]>(
    writes: W & AllChecked<W, BatchWrite<S>>,
    options?: WriteOptions & { readonly each?: false },
  ): Promise<BatchResult<Outcomes<S, W>> & { /** Whether they ran in a transaction. */ readonly atomic: boolean }>;
  /** The same, each on its own: a rejected write has a `code` and stops no other. */
  <const W extends readonly QueuedWrite<S>[]>(
    writes: W & AllChecked<W, QueuedWrite<S>>,
    options: WriteOptions & { readonly each: true },
  ): Promise<BatchResult<Outcomes<S, W, Rejection>>>;
}

export const batchOf = <S extends Shapes<S>>(send: Send): Batch<S> => {
  const batch = (
    writes: readonly { readonly rev?: unknown }[],
    { each, idempotencyKey, signal }: WriteOptions & { readonly each?: boolean } = {},
  ): Promise<unknown> => {
    // JSON has no `undefined`, and a condition must not get lost.
    const sent = writes.map((write) =>
      'rev' in write ? { ...write, rev: undefined, ifMatch: write.rev ?? null } : write,
    );
    const headers = { 'idempotency-key': idempotencyKey };
    return dataBy(send)('POST', '/api/batch', { body: { writes: sent, each }, headers, signal });
  };
  return batch as Batch<S>;
};
