import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { functionName } from '../../infra/build/function-files.ts';
import type { Reached } from '../../infra/build/reached-names.ts';
import type { Areas } from '../../infra/stacks/service.ts';
import type { RouteTable } from '../../shared/http/route.ts';
import { reached } from './all-permissions.ts';
import { assembled } from './synthesis.ts';

/** The exports and imports of a stack, by name. */
export interface StackLinks {
  /** Name → value as JSON. */
  readonly exports: ReadonlyMap<string, string>;
  readonly imports: ReadonlySet<string>;
}

/** Stack → its links. */
export type Links = ReadonlyMap<string, StackLinks>;

interface Output {
  readonly Value: unknown;
  readonly Export?: { readonly Name: string };
}

const exportsOf = (outputs: Readonly<Record<string, Output>>): StackLinks['exports'] =>
  new Map(
    Object.values(outputs).flatMap(({ Value, Export }) => (Export ? [[Export.Name, JSON.stringify(Value)]] : [])),
  );

const importsOf = (template: unknown): StackLinks['imports'] =>
  new Set([...JSON.stringify(template).matchAll(/"Fn::ImportValue":"([^"]+)"/g)].map(([, name = '']) => name).sort());

/** The first route of an area alone; those with an address of their own, which others import, stay. */
const firstRoute = (table: RouteTable): RouteTable =>
  Object.fromEntries(Object.entries(table).filter(([, { ownUrl }], at) => at === 0 || ownUrl));

const inShort = (areas: Areas): Areas =>
  Object.fromEntries(Object.entries(areas).map(([area, table]) => [area, firstRoute(table)]));

/** The first route of an area reaches what all of its routes reach. */
const reachedInShort: Reached = (() => {
  const all = new Map(
    Object.entries<RouteTable>({ ...publicRoutes, ...dashboardRoutes }).map(([area, table]) => {
      const names = Object.keys(table).map((id) => functionName(area, id));
      return [names[0], new Set(names.flatMap((name) => [...reached(name)]))];
    }),
  );
  return (name) => all.get(name) ?? reached(name);
})();

const tables = {
  'in full': { users: publicRoutes, developers: dashboardRoutes },
  'in short': { users: inShort(publicRoutes), developers: inShort(dashboardRoutes) },
  'without areas': { users: {}, developers: {} },
} as const;

/** The links of the stacks with these settings. `in short` synthesises each area with one route. */
export const linksOf = (context: Readonly<Record<string, string>>, how: keyof typeof tables = 'in short'): Links =>
  assembled(
    context,
    ({ stacks }) =>
      new Map(
        stacks.map(({ id, template }) => {
          const { Outputs = {} } = template as { readonly Outputs?: Readonly<Record<string, Output>> };
          return [id, { exports: exportsOf(Outputs), imports: importsOf(template) }];
        }),
      ),
    { tables: tables[how] },
    how === 'in short' ? reachedInShort : reached,
  );

/**
 * What CloudFormation rejects during an upgrade: a stack removes or changes an export that other stacks still import.
 * Importing stacks are updated after exporting ones, and a stack that the new version lacks stays unchanged.
 */
export const refusedBetween = (before: Links, after: Links): readonly string[] =>
  [...after].flatMap(([name, { exports }]) =>
    [...(before.get(name)?.exports ?? [])].flatMap(([exported, value]) =>
      [...before].flatMap(([other, { imports }]) =>
        imports.has(exported) && exports.get(exported) !== value ? [`${other} imports ${exported}`] : [],
      ),
    ),
  );
