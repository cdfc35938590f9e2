import type { FieldType } from '../schema/field-types.ts';

/** Three-valued logic: only `true` allows. */
export type Outcome = true | false | 'unknown';

/** `$every` and `$elemMatch` are separate nodes. */
export const comparisonOperators = [
  ...(['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$exists'] as const),
  ...(['$contains', '$startsWith', '$endsWith', '$all', '$size'] as const),
] as const;

export type ComparisonOperator = (typeof comparisonOperators)[number];

export const operandOperators: ReadonlySet<string> = new Set([
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin', '$contains', '$startsWith', '$endsWith'],
]);

export type Operand =
  | { readonly kind: 'literal'; readonly value: unknown }
  /** A field of the caller's user record; a list if an Array is on the way. */
  | { readonly kind: 'user'; readonly path: string }
  /** A field of the document, or of the target of its Ref at `ref`. */
  | {
      readonly kind: 'doc';
      readonly path: string;
      readonly ref?: { readonly path: string; readonly collection: string };
    }
  | {
      readonly kind: 'stored';
      readonly path: string;
      readonly plus?: number;
      readonly adds?: Operand;
      readonly removes?: Operand;
    }
  /** One field's values in the active documents of another collection. */
  | { readonly kind: 'from'; readonly collection: string; readonly select: string; readonly where: RuleNode }
  | { readonly kind: 'now'; readonly ms: number };

export interface RuleComparison {
  readonly kind: 'compare';
  /** The path in `INVALID_RLS`. */
  readonly at: string;
  /** '' for an element itself. */
  readonly path: string;
  /** The declared type of the value, or of a declared Array's elements. */
  readonly type: FieldType | undefined;
  /** A declared Array is on the way; one matching element is enough. */
  readonly isList: boolean;
  /** `unknown` for an undeclared array: in `create` and `update.after`. */
  readonly isStrict: boolean;
  readonly operator: ComparisonOperator;
  readonly operand: Operand;
}

type JoinStage = Readonly<Record<string, unknown>>;

/** A parsed condition on a document, a user or an element. */
export type RuleNode =
  | { readonly kind: 'constant'; readonly at: string; readonly outcome: Outcome }
  | { readonly kind: 'all' | 'any'; readonly of: readonly RuleNode[] }
  | { readonly kind: 'not'; readonly of: RuleNode }
  | RuleComparison
  /** Some or all elements of an array match; paths begin at the element. */
  | {
      readonly kind: 'elements';
      readonly at: string;
      readonly path: string;
      readonly every: boolean;
      readonly where: RuleNode;
    }
  /** Without parts: any signed-in user. */
  | { readonly kind: 'user'; readonly at: string; readonly where: RuleNode }
  /** The target of a Ref is active and matches. */
  | {
      readonly kind: 'ref';
      readonly at: string;
      readonly path: string;
      readonly collection: string;
      readonly where: RuleNode;
    }
  /** A bound `ref` with too many targets for a list of ids: `stage` stores the target in the field `as`. */
  | { readonly kind: 'joined'; readonly at: string; readonly as: string; readonly stage: JoinStage }
  | { readonly kind: 'stored'; readonly at: string; readonly where: RuleNode }
  /** The caller changes no other top-level field. */
  | { readonly kind: 'only'; readonly at: string; readonly fields: readonly string[] };

export const triedOperations = ['get', 'list', 'create', 'update', 'delete', 'recover', 'purge'] as const;

export interface RulesInput {
  readonly read?: unknown;
  readonly create?: unknown;
  readonly update?: unknown;
  readonly delete?: unknown;
  readonly readTrash?: unknown;
  readonly recover?: unknown;
  readonly purge?: unknown;
}

export interface Rules {
  readonly get: RuleNode;
  readonly list: RuleNode;
  readonly create: RuleNode;
  readonly before: RuleNode;
  readonly after: RuleNode;
  readonly delete: RuleNode;
  readonly readTrash: RuleNode;
  readonly recover: RuleNode;
  readonly purge: RuleNode;
}

const partsOf = (node: RuleNode): readonly RuleNode[] => {
  switch (node.kind) {
    case 'all':
    case 'any':
      return node.of;
    case 'not':
      return [node.of];
    case 'compare':
      return node.operand.kind === 'from' ? [node.operand.where] : [];
    case 'constant':
    case 'joined':
    case 'only':
      return [];
    default:
      return [node.where];
  }
};

export const someNode = (node: RuleNode, holds: (node: RuleNode) => boolean): boolean =>
  holds(node) || partsOf(node).some((part) => someNode(part, holds));

/** The joins that bound rules need before they can be database conditions. */
export const joinsOf = (rules: readonly RuleNode[]) => {
  const found = new Map<string, JoinStage>();
  for (const rule of rules) {
    someNode(rule, (node) => {
      if (node.kind === 'joined') found.set(node.as, node.stage);
      return false;
    });
  }
  return found.size === 0 ? undefined : { stages: [...found.values()], fields: [...found.keys()] };
};

const isUserOperand = (operand: Operand): boolean =>
  operand.kind === 'user' ||
  (operand.kind === 'stored' && [operand.adds, operand.removes].some((inner) => inner?.kind === 'user'));

export const namesUser = (rule: RuleNode): boolean =>
  someNode(rule, (node) => node.kind === 'user' || (node.kind === 'compare' && isUserOperand(node.operand)));

/** The outcomes that a rule can have without a user, for any document. */
const possibleWithoutUser = (node: RuleNode): { readonly true: boolean; readonly false: boolean } => {
  switch (node.kind) {
    case 'constant':
      return { true: node.outcome === true, false: node.outcome === false };
    case 'all':
    case 'any': {
      const parts = node.of.map(possibleWithoutUser);
      const isAll = node.kind === 'all';
      return {
        true: isAll ? parts.every((part) => part.true) : parts.some((part) => part.true),
        false: isAll ? parts.some((part) => part.false) : parts.every((part) => part.false),
      };
    }
    case 'not': {
      const inner = possibleWithoutUser(node.of);
      return { true: inner.false, false: inner.true };
    }
    case 'user':
      return { true: false, false: false };
    case 'compare': {
      if (isUserOperand(node.operand)) return { true: false, false: false };
      if (node.operand.kind !== 'from') return { true: true, false: true };
      // If no document can match without a user, the comparison is unknown.
      const { true: isKnown } = possibleWithoutUser(node.operand.where);
      return { true: isKnown, false: isKnown };
    }
    case 'elements':
      // An empty array fulfils `$every`. Without an array both are false.
      return { true: node.every || possibleWithoutUser(node.where).true, false: true };
    case 'ref':
      return { true: possibleWithoutUser(node.where).true, false: true };
    case 'stored':
      return possibleWithoutUser(node.where);
    case 'only':
    case 'joined':
      return { true: true, false: true };
  }
};

/** Depends on the rule only. */
export const couldAllowWithoutUser = (rule: RuleNode): boolean => possibleWithoutUser(rule).true;

export const isTrue = (rule: RuleNode): boolean => rule.kind === 'constant' && rule.outcome === true;

export const isFalse = (rule: RuleNode): boolean => rule.kind === 'constant' && rule.outcome === false;

/** Whether the value of a top-level field is unknown. */
type IsUnknown = (field: string) => boolean;

const fieldOf = (path: string): string => path.split('.', 1)[0] ?? '';

const operandHas = (operand: Operand, isUnknown: IsUnknown): boolean => {
  if (operand.kind === 'doc') return isUnknown(fieldOf(operand.ref?.path ?? operand.path));
  if (operand.kind !== 'from') return false;
  return someNode(operand.where, (node) => node.kind === 'compare' && operandHas(node.operand, isUnknown));
};

/**
 * A rule for a document with unknown top-level fields: whatever depends on them has the outcome that lets the rule
 * allow more, so `outcome` is false below an odd number of `$not`.
 */
export const withUnknown = (node: RuleNode, isUnknown: IsUnknown, outcome = true): RuleNode => {
  switch (node.kind) {
    case 'all':
    case 'any':
      return { ...node, of: node.of.map((part) => withUnknown(part, isUnknown, outcome)) };
    case 'not':
      return { ...node, of: withUnknown(node.of, isUnknown, !outcome) };
    case 'compare': {
      const depends = isUnknown(fieldOf(node.path)) || operandHas(node.operand, isUnknown);
      return depends ? { kind: 'constant', at: node.at, outcome } : node;
    }
    case 'elements':
    case 'ref':
      return isUnknown(fieldOf(node.path)) ? { kind: 'constant', at: node.at, outcome } : node;
    default:
      return node;
  }
};

const served: ReadonlySet<string> = new Set(['$eq', '$in']);
const servedBy: ReadonlySet<string> = new Set(['literal', 'user', 'from']);

const isServed = ({ operator, operand }: RuleComparison): boolean => served.has(operator) && servedBy.has(operand.kind);

/** True if the index of `_id`, which every collection has, supports one branch. */
const isById = (branch: RuleNode): boolean =>
  branch.kind === 'compare'
    ? branch.path === '_id' && isServed(branch)
    : branch.kind === 'all' && branch.of.some(isById);

/** The field whose index supports one branch, if any. */
const indexFieldOf = (branch: RuleNode): string | undefined => {
  if (branch.kind === 'ref') return branch.path;
  if (branch.kind === 'compare') return isServed(branch) && branch.path !== '_id' ? branch.path : undefined;
  if (branch.kind !== 'all') return undefined;
  return branch.of.map(indexFieldOf).find((path) => path !== undefined);
};

const branchesOf = (rule: RuleNode): readonly RuleNode[] => {
  if (rule.kind === 'any') return rule.of.flatMap(branchesOf);
  // One indexable condition beside the alternatives supports all of them.
  if (rule.kind === 'all' && indexFieldOf(rule) === undefined) {
    const [alternatives] = rule.of.filter(({ kind }) => kind === 'any');
    if (alternatives) return branchesOf(alternatives);
  }
  return [rule];
};

/** The fields whose indexes keep lists from scanning hidden documents. */
export const indexFields = (list: RuleNode): readonly string[] => [
  ...new Set(branchesOf(list).flatMap((branch) => indexFieldOf(branch) ?? [])),
];

/** True if a branch of a `read` rule depends on the document and no index supports it. */
export const lacksIndex = (list: RuleNode): boolean =>
  branchesOf(list).some(
    (branch) =>
      indexFieldOf(branch) === undefined &&
      !isById(branch) &&
      someNode(branch, (node) => node.kind === 'compare' && !isInsideUser(branch, node) && node.path !== '_id'),
  );

const isInsideUser = (rule: RuleNode, wanted: RuleNode): boolean =>
  someNode(rule, (node) => node.kind === 'user' && someNode(node.where, (inner) => inner === wanted));
