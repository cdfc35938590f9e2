import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import type { Areas } from '../../infra/stacks/service.ts';
import type { RouteTable } from '../../shared/http/route.ts';
import { permissionsOf } from '../../shared/http/uses.ts';
import { assembled } from './synthesis.ts';

/** What one stack gives to others and takes of them, by the names of the exports. */
export interface StackLinks {
  /** Name → what it stands for, as JSON. */
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

/** One row that uses what all of them use; those with an address of their own, which others ask for, stay. */
const asOneRow = (table: RouteTable): RouteTable => {
  const rows = Object.entries(table);
  const [first] = rows;
  if (!first) return table;
  const uses = [...new Set(rows.flatMap(([, row]) => permissionsOf(row)))];
  const apart = rows.filter(([, { ownUrl }]) => ownUrl);
  return { ...Object.fromEntries(apart), [first[0]]: { ...first[1], uses } };
};

const inShort = (areas: Areas): Areas =>
  Object.fromEntries(Object.entries(areas).map(([area, table]) => [area, asOneRow(table)]));

const tables = {
  'in full': { users: publicRoutes, developers: dashboardRoutes },
  'in short': { users: inShort(publicRoutes), developers: inShort(dashboardRoutes) },
  'without areas': { users: {}, developers: {} },
} as const;

/** How the stacks hang together with these settings; in short, each area is synthesised as one row. */
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
  );

/**
 * What CloudFormation refuses while a deployment goes from one version to another: a stack that no longer exports, or
 * as something else, what others still import as they were. Who imports comes after who exports, and a stack that the
 * later version has not stays as it was.
 */
export const refusedBetween = (before: Links, after: Links): readonly string[] =>
  [...after].flatMap(([name, { exports }]) =>
    [...(before.get(name)?.exports ?? [])].flatMap(([exported, value]) =>
      [...before].flatMap(([other, { imports }]) =>
        imports.has(exported) && exports.get(exported) !== value ? [`${other} imports ${exported}`] : [],
      ),
    ),
  );
