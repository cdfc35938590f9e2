import type { ListShape } from '../../insight/usage/slow-lists.ts';
import type { Comparison, ParsedFilter } from './filter.ts';

/** Which fields are compared for equality, and which in other ways that an index can serve; each once, by name. */
export type ComparedFields = Pick<ListShape, 'equal' | 'range'>;

const equality: ReadonlySet<string> = new Set(['$eq', '$in', '$all']);

type Leaf = Pick<Comparison, 'path' | 'operator'>;

/** The paths of all fields that filters name, those of elements behind the path of their array. */
export const pathsOf = (filters: readonly ParsedFilter[], prefix = ''): readonly string[] =>
  filters.flatMap((filter) => {
    if ('all' in filter) return pathsOf(filter.all, prefix);
    if ('any' in filter) return pathsOf(filter.any, prefix);
    if ('not' in filter) return pathsOf([filter.not], prefix);
    const path = prefix + filter.path;
    if (!('element' in filter) || 'length' in filter.element) return [path];
    return pathsOf([filter.element], `${path}.`);
  });

/** The comparisons that hold for every document that is found, and the first alternative among the filters. */
interface Split {
  readonly leaves: Leaf[];
  any: readonly ParsedFilter[] | undefined;
}

const split = (filters: readonly ParsedFilter[], prefix: string, into: Split): Split => {
  for (const filter of filters) {
    if ('operator' in filter) {
      if (filter.operator !== '$size') into.leaves.push({ path: prefix + filter.path, operator: filter.operator });
    } else if ('element' in filter) {
      const { element } = filter;
      const path = prefix + filter.path;
      if (!('length' in element)) split([element], `${path}.`, into);
      else for (const test of element) if ('operator' in test) into.leaves.push({ path, operator: test.operator });
    } else if ('all' in filter) split(filter.all, prefix, into);
    else if ('any' in filter && prefix === '') into.any ??= filter.any;
  }
  return into;
};

const fieldsOf = (leaves: readonly Leaf[]): ComparedFields => {
  const named = (isEqual: boolean) => [
    ...new Set(leaves.filter(({ operator }) => equality.has(operator) === isEqual).map(({ path }) => path)),
  ];
  return { equal: named(true).sort(), range: named(false).sort() };
};

/**
 * What the filters compare, once for each index that they need: every branch of an alternative needs one of its own.
 * The first is of what must hold for all documents where branches differ.
 */
export const comparedFields = (
  filters: readonly ParsedFilter[],
): { readonly always: ComparedFields; readonly branches: readonly ComparedFields[] } => {
  const { leaves, any } = split(filters, '', { leaves: [], any: undefined });
  if (!any) {
    const always = fieldsOf(leaves);
    return { always, branches: [always] };
  }
  const branches = new Map<string, ComparedFields>();
  for (const branch of any) {
    const fields = fieldsOf([...leaves, ...split([branch], '', { leaves: [], any: undefined }).leaves]);
    branches.set(JSON.stringify(fields), fields);
  }
  const [first, ...others] = branches.values();
  return { always: first && others.length === 0 ? first : fieldsOf(leaves), branches: [...branches.values()] };
};
