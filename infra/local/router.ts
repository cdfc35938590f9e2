import { defaultRoutes } from '../../functions/default/routes.ts';
import { type RouteTable, routedMethodsOf } from '../../shared/http/route.ts';
import { functionName } from '../build/function-files.ts';

/** A route of API Gateway and the function that serves it. */
interface Target {
  readonly name: string;
  readonly method: string;
  /** Such as `/api/data/{collectionName}`. */
  readonly path: string;
}

export interface Match {
  readonly name: string;
  /** Such as `GET /api/data/{collectionName}`, or `$default`. */
  readonly routeKey: string;
  readonly pathParameters: Record<string, string> | undefined;
}

/** The path has an invalid percent escape; API Gateway returns 400. */
export const malformed = Symbol('malformed path');

export type FindRoute = (method: string, path: string) => Match | typeof malformed;

interface CompiledRoute {
  readonly name: string;
  readonly routeKey: string;
  /** A text for a literal segment, an object for a parameter. */
  readonly segments: readonly (string | { readonly parameter: string })[];
}

const splitPath = (path: string): string[] => path.slice(1).split('/');

const compile = ({ name, method, path }: Target): CompiledRoute => ({
  name,
  routeKey: `${method} ${path}`,
  segments: splitPath(path).map((segment) => {
    const parameter = /^\{(\w+)\}$/.exec(segment)?.[1];
    return parameter === undefined ? segment : { parameter };
  }),
});

const matches = ({ segments }: CompiledRoute, path: readonly string[]): boolean =>
  segments.every((segment, index) => (typeof segment === 'string' ? segment === path[index] : path[index] !== ''));

/** `0` for each literal and `1` for each parameter, so that of all matching routes the smallest wins. */
const rankOf = ({ segments }: CompiledRoute): string =>
  segments.map((segment) => (typeof segment === 'string' ? '0' : '1')).join('');

const decode = (value: string): string => (value.includes('%') ? decodeURIComponent(value) : value);

const isMalformed = (path: string): boolean => {
  try {
    decodeURIComponent(path);
    return false;
  } catch {
    return true;
  }
};

const parametersOf = ({ segments }: CompiledRoute, path: readonly string[]): Record<string, string> | undefined => {
  const found = segments.flatMap((segment, index) =>
    typeof segment === 'string' ? [] : [[segment.parameter, decode(path[index] ?? '')] as const],
  );
  return found.length === 0 ? undefined : Object.fromEntries(found);
};

/**
 * Compiles routes into a look-up that behaves like an HTTP API of API Gateway: a literal segment wins over a parameter,
 * a trailing slash makes another path, and a path without a route goes to the function `fallback` as `$default`.
 */
export const compileRoutes = (targets: Iterable<Target>, fallback: string): FindRoute => {
  /** By method and number of segments. */
  const routes = new Map<string, CompiledRoute[]>();
  const shapes = new Set<string>();
  for (const target of targets) {
    const shape = `${target.method} ${target.path.replaceAll(/\{\w+\}/g, '{}')}`;
    if (shapes.has(shape)) throw new Error(`${target.method} ${target.path} is routed twice`);
    shapes.add(shape);
    const route = compile(target);
    const key = `${target.method} ${route.segments.length}`;
    routes.set(key, [...(routes.get(key) ?? []), route]);
  }
  for (const list of routes.values()) list.sort((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
  const unknown: Match = { name: fallback, routeKey: '$default', pathParameters: undefined };
  return (method, path) => {
    if (path.includes('%') && isMalformed(path)) return malformed;
    if (!path.startsWith('/')) return unknown;
    const segments = splitPath(path);
    const route = routes.get(`${method} ${segments.length}`)?.find((candidate) => matches(candidate, segments));
    if (!route) return unknown;
    return { name: route.name, routeKey: route.routeKey, pathParameters: parametersOf(route, segments) };
  };
};

const unknownRoute = functionName('default', defaultRoutes['not-found'].id);

/** The look-up of an API, from the route tables of its areas. Functions are named `<area>-<route>`. */
export const findRouteIn = (tables: Readonly<Record<string, RouteTable>>): FindRoute =>
  compileRoutes(
    Object.entries(tables).flatMap(([area, table]) =>
      Object.entries(table).flatMap(([id, route]) =>
        routedMethodsOf(route).map((method) => ({ name: functionName(area, id), method, path: route.path })),
      ),
    ),
    unknownRoute,
  );
