import { rows } from 'basalt:rows';
import type { GenericSchema, InferInput, InferOutput } from 'valibot';
import type { dashboardRoutes } from '../../functions/routes.ts';
import type { PathParams } from '../../shared/http/route.ts';

type Areas = typeof dashboardRoutes;
type AnyRow = { [Area in keyof Areas]: Areas[Area][keyof Areas[Area]] }[keyof Areas];

/** The name of a dashboard route. */
export type RowId = AnyRow['id'];
type Row<Id extends RowId> = Extract<AnyRow, { readonly id: Id }>;

/** A value as it arrives: dates are ISO texts. */
type Wire<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? Wire<Item>[]
    : T extends object
      ? { [Key in keyof T]: Wire<T[Key]> }
      : T;

/** Query parameters. Empty and `undefined` ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

type BodyOf<R> = R extends { readonly body: infer S extends GenericSchema }
  ? { readonly body: InferInput<S> }
  : unknown;

/** What every route accepts: a query, and the revision that a write is for. */
interface Common {
  readonly query?: Query;
  readonly ifMatch?: string | undefined;
}

/** The input of a route: its path parameters, a query, and its body. */
export type Input<Id extends RowId> = PathParams<Row<Id>['path']> & BodyOf<Row<Id>> & Common;

/** The input of a route that reads. */
export type ReadInput<Id extends RowId> = PathParams<Row<Id>['path']> & { readonly query?: Query };

export type Answer<Id extends RowId> = Wire<InferOutput<Row<Id>['response']['body']>>;

/** The `data` of a route's answer. */
export type Data<Id extends RowId> = Answer<Id> extends { readonly data: infer D } ? D : never;

export interface PageOf<T> {
  readonly items: readonly T[];
  readonly total: number;
}

export type Item<Id extends RowId> = Data<Id> extends { readonly items: readonly (infer I)[] } ? I : never;

const queryText = (query: Query | undefined): string => {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== '') text.append(name, String(value));
  }
  return text.size === 0 ? '' : `?${text}`;
};

/** Method, path and query of a call. Parameters are percent-encoded. */
export const callOf = (
  id: RowId,
  input: object,
): { readonly method: string; readonly path: string; readonly query: string } => {
  const [method = 'GET', path = '/'] = rows[id] ?? [];
  const values = input as Readonly<Record<string, unknown>>;
  return {
    method,
    path: path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name]).toWellFormed())),
    query: queryText(values.query as Query | undefined),
  };
};
