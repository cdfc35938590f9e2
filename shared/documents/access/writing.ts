import { isFalse, isTrue, type RuleNode, type Rules, withUnknown } from '../../collections/rules/rule.ts';
import { type Document, documentNotFound, type JsonObject } from '../document.ts';
import { allOf, type Condition } from '../query/condition.ts';
import { type AccessContext, requireFactor, tokenMissing } from './access.ts';
import { bind, needsNoLookUp } from './bind.ts';
import {
  bindingOf,
  decideOn,
  deniedError,
  isUntouched,
  type RuleName,
  requireUserIfNeeded,
  requireValidToken,
  ruleDenied,
} from './decide-rule.ts';
import { filterOf } from './filter-of.ts';
import { mayGet, nothing } from './reading.ts';
import { rulesOf } from './rules-of.ts';

/**
 * Throws 403 `RULE_DENIED` or 401 `TOKEN_MISSING` if the `create` rule, or with `after` the rule of updates, does
 * not allow a document.
 */
export const requireCreate = async (
  context: AccessContext,
  document: JsonObject,
  names: readonly ('create' | 'after')[] = ['create'],
): Promise<void> => {
  const { rules } = await rulesOf(context.project, context.collection);
  for (const name of names) {
    if ((await decideOn(context, rules[name], document)) !== true) throw deniedError(context, name, rules[name]);
  }
};

/** The same while a top-level field of the document is unknown: what depends on it counts as allowed. */
export const requireCreateWithout = async (
  context: AccessContext,
  document: JsonObject,
  field: string,
): Promise<void> => {
  const { create } = (await rulesOf(context.project, context.collection)).rules;
  if (
    (await decideOn(
      context,
      withUnknown(create, (name) => name === field),
      document,
    )) !== true
  ) {
    throw deniedError(context, 'create', create);
  }
};

/** Whether other documents decide about inserts too. */
export const createLooksUp = async ({ project, collection }: AccessContext): Promise<boolean> =>
  !needsNoLookUp((await rulesOf(project, collection)).rules.create);

/** Throws if the caller can insert nothing: an invalid or missing token, or no user for the owner field. */
export const requireCreateAccess = async (context: AccessContext): Promise<void> => {
  requireValidToken(context);
  requireFactor(context);
  if (context.caller.userId === undefined && context.collection.rls.ownerField !== '') throw tokenMissing();
  const { rules } = await rulesOf(context.project, context.collection);
  requireUserIfNeeded(context, rules.create);
  if (isFalse(rules.create)) throw ruleDenied(context, 'create');
};

/** A write of one document; `upsert` is an update whose result must also pass `create`. */
export type DocumentWrite = 'update' | 'upsert' | 'delete' | 'recover' | 'purge';

const rulesFor = (rules: Rules, operation: DocumentWrite): readonly (readonly [RuleName, RuleNode])[] => {
  switch (operation) {
    case 'update':
    case 'upsert':
      return [['before', rules.before]];
    case 'purge':
      return [
        ['delete', rules.delete],
        ['purge', rules.purge],
      ];
    default:
      return [[operation, rules[operation]]];
  }
};

/** The result of an update, and the top-level fields that it sets. */
export interface Applied {
  readonly fields: ReadonlySet<string>;
  readonly to: (document: Document) => Document;
}

/** The decision of the rules about one write of a document. */
export interface RuleDecision {
  /** The condition of the documents for which every rule holds; `undefined` if only a fetched document can tell. */
  readonly condition: Condition | undefined;
  /** Whether other documents decide too. */
  readonly looksUp: boolean;
  /**
   * Throws if the document may not be written: 404 if hidden, 403 or 401 if a rule denies it, or the error of
   * `between`. `between` may return the result of the update for this document.
   */
  readonly require: (document: Document, between: () => Promise<Applied | undefined>) => Promise<void>;
}

/** Rules that need no look-up become a condition of the write, so that one command decides. */
const conditionFor = async (context: AccessContext, rules: readonly RuleNode[]): Promise<Condition | undefined> => {
  if (!rules.every(needsNoLookUp)) return undefined;
  const binding = await bindingOf(context, rules);
  const filters = await Promise.all(rules.map(async (rule) => filterOf(await bind(rule, binding), binding.user)));
  if (filters.includes(false)) return nothing;
  return allOf(filters.filter((filter) => typeof filter !== 'boolean'));
};

/**
 * Decides by the rules about a write of one document. Throws 401 before any look-up if only a user could be allowed.
 * `applied` is the result of an update, for its `after` rule.
 */
export const decideWrite = async (
  context: AccessContext,
  operation: DocumentWrite,
  applied?: Applied,
): Promise<RuleDecision> => {
  requireValidToken(context);
  requireFactor(context);
  const { rules } = await rulesOf(context.project, context.collection);
  const before = rulesFor(rules, operation);
  for (const [, rule] of before) requireUserIfNeeded(context, rule);
  const judged = operation === 'upsert' ? (['after', 'create'] as const) : (['after'] as const);
  const after = applied ? judged.filter((name) => !isTrue(rules[name])) : [];
  for (const name of after) requireUserIfNeeded(context, rules[name]);
  const isDirect = after.every((name) => applied !== undefined && isUntouched(rules[name], applied.fields));
  const all = [rules.get, ...before.map(([, rule]) => rule), ...after.map((name) => rules[name])];
  const readsTrash = operation === 'recover' || operation === 'purge';
  const isSettled =
    isDirect && (!readsTrash || (isTrue(rules.readTrash) && context.collection.rls.trash === 'everyone'));
  return {
    condition: isSettled ? await conditionFor(context, all) : undefined,
    looksUp: !all.every(needsNoLookUp),
    require: async (document, between) => {
      if (!(await mayGet(context, document))) throw documentNotFound();
      for (const [name, rule] of before) {
        if ((await decideOn(context, rule, document)) !== true) throw deniedError(context, name, rule);
      }
      const settled = await between();
      if (!applied) return;
      const made = (settled ?? applied).to(document);
      for (const name of after) {
        // A rule for creation has no stored document.
        const stored = name === 'after' ? document : undefined;
        if ((await decideOn(context, rules[name], made, stored)) !== true)
          throw deniedError(context, name, rules[name]);
      }
    },
  };
};
