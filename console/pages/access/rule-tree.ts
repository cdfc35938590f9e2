import { isPlainObject } from '../../../shared/core/json.ts';

export interface Clause {
  readonly kind: 'clause';
  /** Its path in the API: `rules.read.$or.1.team`. */
  readonly at: string;
  /** After *if*: "`author` is their id". */
  readonly text: string;
  /** After *whose*, if the clause describes the user: "id is `author`". Empty for any signed-in user. */
  readonly user?: string;
  readonly needsUser: boolean;
  /** The text contains *and*, *or* or *not*. */
  readonly isCompound?: true;
}

/** A rule as parts of which all, or some, must hold. */
export type RuleTree =
  | Clause
  | {
      readonly kind: 'all' | 'any';
      readonly of: readonly RuleTree[];
      /** The path of a reference, whose condition the API evaluates as a whole. */
      readonly at?: string;
    }
  | { readonly kind: 'not'; readonly of: RuleTree };

/** Thrown for a rule that is incomplete or that the API would reject. */
export class UnclearRule extends Error {}

export const entriesOf = (value: unknown): readonly (readonly [key: string, value: unknown])[] => {
  const entries = isPlainObject(value) ? Object.entries(value) : [];
  if (entries.length === 0) throw new UnclearRule();
  return entries;
};

export const allOf = (parts: readonly RuleTree[]): RuleTree => {
  const [first] = parts;
  return first && parts.length === 1 ? first : { kind: 'all', of: parts };
};

export const needsUser = (tree: RuleTree): boolean => {
  if (tree.kind === 'clause') return tree.needsUser;
  return tree.kind === 'not' ? needsUser(tree.of) : tree.of.some(needsUser);
};

/** The text of a tree, for use after *if*. */
export const textOf = (tree: RuleTree): string => {
  if (tree.kind === 'clause') return tree.text;
  if (tree.kind === 'not') return `it is not true that ${inner(tree.of)}`;
  return tree.of.map(inner).join(tree.kind === 'all' ? ' and ' : ' or ');
};

/** Parentheses keep *and* and *or* apart. */
const inner = (tree: RuleTree): string => (tree.kind === 'clause' ? tree.text : `(${textOf(tree)})`);

export const together = (clauses: readonly Clause[]): string =>
  clauses.map(({ text, isCompound }) => (isCompound && clauses.length > 1 ? `(${text})` : text)).join(' and ');

const clauseOf = (tree: RuleTree): Clause =>
  tree.kind === 'clause'
    ? tree
    : { kind: 'clause', at: '', text: textOf(tree), needsUser: needsUser(tree), isCompound: true };

/** More alternatives become one sentence with *or*. */
const maxBranches = 6;

/** The alternatives of a rule, each a list of clauses that must all hold. */
export const branchesOf = (tree: RuleTree): readonly (readonly Clause[])[] => {
  if (tree.kind === 'any') return tree.of.flatMap(branchesOf);
  if (tree.kind !== 'all') return [[clauseOf(tree)]];
  const parts = tree.of.map(branchesOf);
  const count = parts.reduce((product, { length }) => product * length, 1);
  if (count > maxBranches) return [tree.of.map(clauseOf)];
  return parts.reduce<readonly (readonly Clause[])[]>(
    (branches, alternatives) => branches.flatMap((branch) => alternatives.map((next) => [...branch, ...next])),
    [[]],
  );
};
