import { memoizeByObject } from '../../core/cache.ts';
import { isPlainObject } from '../../core/json.ts';
import type { Collection, EffectInput } from '../collection.ts';
import type { RuleNode } from '../rules/rule.ts';

export const effectEvents = ['create', 'update'] as const;

/** The writes after which an effect can run. */
export type EffectEvent = (typeof effectEvents)[number];

export type EffectOperator =
  | '$add'
  | '$multiply'
  | '$subtract'
  | '$divide'
  | '$concat'
  | '$minus'
  | '$round'
  | '$lower';

/** A value, or how it is computed. `at` is its path in errors. */
export type Expression =
  | { readonly kind: 'literal'; readonly value: unknown }
  /** A field of the document, or of the target of its Ref. */
  | {
      readonly kind: 'doc';
      readonly at: string;
      readonly path: string;
      readonly ref?: { readonly path: string; readonly collection: string };
    }
  | { readonly kind: 'user' | 'stored'; readonly at: string; readonly path: string }
  | { readonly kind: 'now'; readonly ms: number }
  | {
      readonly kind: 'compute';
      readonly at: string;
      readonly operator: EffectOperator;
      readonly of: readonly Expression[];
    }
  | { readonly kind: 'list'; readonly of: readonly Expression[] }
  | { readonly kind: 'object'; readonly of: readonly (readonly [key: string, value: Expression])[] };

export interface Effect {
  readonly at: string;
  readonly on: readonly EffectEvent[];
  /** Conditions of an update on the document before it, and of every write on the document after it. */
  readonly before?: RuleNode;
  readonly after?: RuleNode;
  readonly set: readonly (readonly [field: string, value: Expression])[];
  /** Its sources are read with the server's rights. */
  readonly trusted: boolean;
}

/** The expressions inside an expression, and itself. */
export const partsOf = (expression: Expression): readonly Expression[] => {
  switch (expression.kind) {
    case 'compute':
    case 'list':
      return [expression, ...expression.of.flatMap(partsOf)];
    case 'object':
      return [expression, ...expression.of.flatMap(([, value]) => partsOf(value))];
    default:
      return [expression];
  }
};

const fieldsSet = ({ set }: EffectInput): readonly string[] => (isPlainObject(set) ? Object.keys(set) : []);

const setBy = memoizeByObject((effects: readonly EffectInput[]) => ({
  all: new Set(effects.flatMap(fieldsSet)),
  create: new Set(effects.filter(({ on }) => [on].flat().includes('create')).flatMap(fieldsSet)),
  update: new Set(effects.filter(({ on }) => [on].flat().includes('update')).flatMap(fieldsSet)),
}));

const none: ReadonlySet<string> = new Set();

/** The top-level fields that effects set after one kind of write, or after any. */
export const effectFields = (
  { effects }: Pick<Collection, 'effects'>,
  event: EffectEvent | 'all' = 'all',
): ReadonlySet<string> => (effects ? setBy(effects)[event] : none);
