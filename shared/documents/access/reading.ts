import { couldAllowWithoutUser, isFalse, joinsOf, withUnknown } from '../../collections/rules/rule.ts';
import { isActive, isTrashed } from '../../collections/trash-conditions.ts';
import { AppError } from '../../core/errors.ts';
import { type Document, documentNotFound, type JsonObject } from '../document.ts';
import { allOf, anyOf, type Condition, type Readable } from '../query/condition.ts';
import { type AccessContext, mayRead as mayReadFixed, obeysRules, requireFactor, visibilityFilter } from './access.ts';
import { bind, needsNoLookUp } from './bind.ts';
import { decide } from './decide.ts';
import { bindingOf, decideOn, requireUserIfNeeded, requireValidTokenOf } from './decide-rule.ts';
import { filterOf } from './filter-of.ts';
import { rulesOf } from './rules-of.ts';

export const nothing: Condition = { _id: { $in: [] } };

/** A fixed mode as a condition; `undefined` if it hides nothing. */
const fixed = (context: AccessContext, includeDeleted: boolean): Readable | undefined => {
  const condition = visibilityFilter(context, includeDeleted);
  return condition && { condition };
};

const trashCondition = (condition: Condition | boolean): Condition | undefined => {
  if (condition === true) return undefined;
  return condition === false ? isActive : anyOf([isActive, condition]);
};

/**
 * The condition of the documents that a caller may read: single ones (`get`), or in lists, joins and the feed
 * (`list`); `undefined` if they may read all. In mode `rules` the look-ups of the rule run now. Throws 401
 * `TOKEN_MISSING` if only a user could be allowed, 401 `TOKEN_INVALID` for an invalid token.
 */
export const filterReadable = async (
  context: AccessContext,
  half: 'get' | 'list',
  includeDeleted: boolean,
): Promise<Readable | undefined> => {
  if (context.caller.kind === 'publishable') requireValidTokenOf(context);
  if (!obeysRules(context)) return fixed(context, includeDeleted);
  requireFactor(context);
  const { rules } = await rulesOf(context.project, context.collection);
  const rule = rules[half];
  requireUserIfNeeded(context, rule);
  if (isFalse(rule)) return { condition: nothing };
  const asked = includeDeleted ? [rule, rules.readTrash] : [rule];
  const binding = await bindingOf(context, asked);
  const bound = await Promise.all(asked.map((each) => bind(each, binding)));
  const [read, trash] = bound;
  const allowed = read ? filterOf(read, binding.user) : false;
  if (allowed === false) return { condition: nothing };
  const conditions = [
    ...(allowed === true ? [] : [allowed]),
    ...(trash ? [trashCondition(filterOf(trash, binding.user))] : []),
    includeDeleted ? visibilityFilter(context, true) : undefined,
  ].filter((each) => each !== undefined);
  if (conditions.length === 0) return undefined;
  const joins = joinsOf(bound);
  return { condition: allOf(conditions), ...(joins && { joins }) };
};

/**
 * The condition of the documents that may replace references; `none` if the caller is rejected, so that the ids
 * stay.
 */
export const filterTargets = async (
  context: AccessContext,
  includeDeleted: boolean,
): Promise<Readable | undefined | 'none'> => {
  try {
    return await filterReadable(context, 'get', includeDeleted);
  } catch (error) {
    if (error instanceof AppError && (error.code === 'TOKEN_MISSING' || error.code === 'TOKEN_INVALID')) return 'none';
    throw error;
  }
};

/** Whether the caller may read a fetched document, as `get` decides. */
export const mayGet = async (context: AccessContext, document: Document): Promise<boolean> => {
  if (!obeysRules(context)) return mayReadFixed(context, document);
  const { rules } = await rulesOf(context.project, context.collection);
  if ((await decideOn(context, rules.get, document)) !== true) return false;
  if (!isTrashed(document)) return true;
  return mayReadFixed(context, document) && (await decideOn(context, rules.readTrash, document)) === true;
};

/**
 * Decides about many documents by the `list` rule. Its look-ups run once, or once per document if a join would be
 * needed.
 */
export const listDecider = async (context: AccessContext): Promise<(document: Document) => Promise<boolean>> => {
  const { rules } = await rulesOf(context.project, context.collection);
  if (isFalse(rules.list)) return async () => false;
  const binding = await bindingOf(context, [rules.list]);
  const bound = await bind(rules.list, binding);
  const isOnce = !joinsOf([bound]);
  return async (document) => {
    const rule = isOnce ? bound : await bind(rules.list, { ...binding, document });
    return decide(rule, { document, user: binding.user }) === true;
  };
};

/** Whether `list` lets everyone read a document, without a user and without look-ups. */
export const mayListWithoutUser = async (
  { project, collection }: Omit<AccessContext, 'caller'>,
  document: Document,
): Promise<boolean> => {
  const context: AccessContext = { project, collection, caller: { kind: 'publishable' } };
  const { rules } = await rulesOf(project, collection);
  if (!couldAllowWithoutUser(rules.list) || !needsNoLookUp(rules.list)) return false;
  return (await decideOn(context, rules.list, document)) === true;
};

/** Throws 401 if the caller can list nothing, before the request is looked at. */
export const requireList = async (context: AccessContext): Promise<void> => {
  if (context.caller.kind === 'publishable') requireValidTokenOf(context);
  if (!obeysRules(context)) {
    visibilityFilter(context, true);
    return;
  }
  requireFactor(context);
  requireUserIfNeeded(context, (await rulesOf(context.project, context.collection)).rules.list);
};

/**
 * Throws 403 `RULE_DENIED` if `read` excludes every document with these values, whatever its other fields contain. Costs
 * the look-ups of the rule.
 */
export const requireListOf = async (context: AccessContext, values: JsonObject): Promise<void> => {
  if (!obeysRules(context)) return;
  const { list } = (await rulesOf(context.project, context.collection)).rules;
  const known = withUnknown(list, (field) => !Object.hasOwn(values, field));
  if ((await decideOn(context, known, values)) === true) return;
  throw new AppError(
    'RULE_DENIED',
    `The rule "read" of the collection "${context.collection.name}" allows no document with this value.`,
  );
};

/** Throws if the caller can read no document, before the id is looked at: 401, or 404 if the rule is `false`. */
export const requireGet = async (context: AccessContext, includeDeleted: boolean): Promise<void> => {
  if (context.caller.kind === 'publishable') requireValidTokenOf(context);
  if (!obeysRules(context)) {
    visibilityFilter(context, includeDeleted);
    return;
  }
  requireFactor(context);
  const { rules } = await rulesOf(context.project, context.collection);
  requireUserIfNeeded(context, rules.get);
  if (isFalse(rules.get)) throw documentNotFound();
};
