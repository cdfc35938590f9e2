/** A route as the gateway serves it: who answers (`<area>-<name>`), and the path of API Gateway's own spelling. */
export interface Target {
  readonly name: string;
  readonly method: string;
  readonly path: string;
}

export interface Match {
  readonly name: string;
  /** `GET /api/data/{collectionName}`, or `$default`. */
  readonly routeKey: string;
  readonly pathParameters: Record<string, string> | undefined;
}

/** A path with a percent sign that begins no valid escape; API Gateway answers 400. */
export const malformed = Symbol('malformed path');

export type FindRoute = (method: string, path: string) => Match | typeof malformed;

interface Leaf {
  readonly name: string;
  readonly routeKey: string;
  readonly parameters: readonly string[];
}

interface Node {
  readonly literals: Map<string, Node>;
  parameter: Node | undefined;
  leaf: Leaf | undefined;
}

const newNode = (): Node => ({ literals: new Map(), parameter: undefined, leaf: undefined });

const parameterName = /^\{(\w+)\}$/;

const add = (root: Node, { name, method, path }: Target): void => {
  const parameters: string[] = [];
  let node = root;
  for (const segment of path.slice(1).split('/')) {
    const parameter = parameterName.exec(segment)?.[1];
    let next = parameter === undefined ? node.literals.get(segment) : node.parameter;
    if (!next) {
      next = newNode();
      if (parameter === undefined) node.literals.set(segment, next);
      else node.parameter = next;
    }
    if (parameter !== undefined) parameters.push(parameter);
    node = next;
  }
  if (node.leaf) throw new Error(`${method} ${path} is routed twice`);
  node.leaf = { name, routeKey: `${method} ${path}`, parameters };
};

/** Walks the path from `start`; a literal beats a parameter. `values` collects the parameters as they are written. */
const walk = (node: Node, path: string, start: number, values: string[]): Leaf | undefined => {
  if (start > path.length) return node.leaf;
  const slash = path.indexOf('/', start);
  const end = slash < 0 ? path.length : slash;
  const segment = path.slice(start, end);
  const literal = node.literals.get(segment);
  const found = literal && walk(literal, path, end + 1, values);
  if (found || !node.parameter || segment === '') return found;
  values.push(segment);
  const below = walk(node.parameter, path, end + 1, values);
  if (!below) values.pop();
  return below;
};

const decoded = (value: string): string => (value.includes('%') ? decodeURIComponent(value) : value);

const isMalformed = (path: string): boolean => {
  try {
    decodeURIComponent(path);
    return false;
  } catch {
    return true;
  }
};

/**
 * Compiles routes into a look-up with the semantics of an HTTP API: the method must match, a literal segment beats a
 * parameter, a trailing slash is another path, and what matches nothing goes to `fallback`, the `$default` route.
 * Parameters are decoded once.
 */
export const compileRoutes = (targets: Iterable<Target>, fallback: string): FindRoute => {
  const roots = new Map<string, Node>();
  for (const target of targets) {
    const root = roots.get(target.method) ?? newNode();
    roots.set(target.method, root);
    add(root, target);
  }
  const unknown: Match = { name: fallback, routeKey: '$default', pathParameters: undefined };
  return (method, path) => {
    if (path.includes('%') && isMalformed(path)) return malformed;
    const root = roots.get(method);
    const values: string[] = [];
    const leaf = root && path.startsWith('/') ? walk(root, path, 1, values) : undefined;
    if (!leaf) return unknown;
    let pathParameters: Record<string, string> | undefined;
    if (values.length > 0) {
      pathParameters = {};
      for (let index = 0; index < values.length; index += 1) {
        pathParameters[leaf.parameters[index] as string] = decoded(values[index] as string);
      }
    }
    return { name: leaf.name, routeKey: leaf.routeKey, pathParameters };
  };
};
