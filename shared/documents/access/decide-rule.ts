import type { Collection } from '../../collections/collection.ts';
import {
  couldAllowWithoutUser,
  isFalse,
  namesUser,
  type Outcome,
  type RuleNode,
  type Rules,
} from '../../collections/rules/rule.ts';
import { AppError } from '../../core/errors.ts';
import type { Caller, Project } from '../../projects/project.ts';
import type { JsonObject } from '../document.ts';
import { type AccessContext, refusesInvalidTokens, tokenInvalid, tokenMissing } from './access.ts';
import { bind, needsRecord } from './bind.ts';
import { decide } from './decide.ts';
import type { Binding } from './rule-look-ups.ts';
import { type CallerRule, callerRuleOf, rulesOf, userOf } from './rules-of.ts';

export type RuleName = Exclude<keyof Rules, 'get' | 'list' | 'readTrash'>;

/** The names of rules in messages: what the developer would have to change. */
const spoken: Readonly<Record<RuleName, string>> = {
  create: 'create',
  before: 'update',
  after: 'update',
  delete: 'delete',
  recover: 'recover',
  purge: 'purge',
};

export const ruleDenied = ({ collection }: AccessContext, rule: RuleName): AppError =>
  new AppError('RULE_DENIED', `The rule "${spoken[rule]}" of the collection "${collection.name}" does not allow this.`);

/** The error of a write that a rule forbids: 401 if a user could be allowed more, otherwise 403. */
export const deniedError = (context: AccessContext, name: RuleName, rule: RuleNode): AppError =>
  context.caller.userId === undefined && namesUser(rule) ? tokenMissing() : ruleDenied(context, name);

export const bindingOf = async (context: AccessContext, rules: readonly RuleNode[]): Promise<Binding> => {
  const { project, caller, collection } = context;
  const { known } = await rulesOf(project, collection);
  return { project, caller, collection, known, user: await userOf(project, caller, known, needsRecord(rules)) };
};

/** Throws 401 if only a user could be allowed. The rule alone decides, before any look-up. */
export const requireUserIfNeeded = ({ caller }: AccessContext, rule: RuleNode): void => {
  if (caller.userId === undefined && !isFalse(rule) && !couldAllowWithoutUser(rule)) throw tokenMissing();
};

export const requireValidToken = ({ caller }: AccessContext): void => {
  if (caller.hasInvalidToken) throw tokenInvalid();
};

export const requireValidTokenOf = (context: AccessContext): void => {
  if (refusesInvalidTokens(context.collection.rls)) requireValidToken(context);
};

export const decideOn = async (
  context: AccessContext,
  rule: RuleNode,
  document: JsonObject,
  stored?: JsonObject,
): Promise<Outcome> => {
  if (rule.kind === 'constant') return rule.outcome;
  const binding = await bindingOf(context, [rule]);
  const bound = await bind(rule, { ...binding, document, stored });
  return decide(bound, { document, user: binding.user, ...(stored && { stored }) });
};

export const isUntouched = (rule: RuleNode, fields: ReadonlySet<string>): boolean => {
  switch (rule.kind) {
    case 'constant':
    case 'user':
      return true;
    case 'all':
    case 'any':
      return rule.of.every((part) => isUntouched(part, fields));
    case 'not':
      return isUntouched(rule.of, fields);
    case 'compare': {
      const isOfDocument = rule.operand.kind === 'doc' ? !fields.has(rule.operand.path.split('.', 1)[0] ?? '') : true;
      return rule.operand.kind !== 'stored' && isOfDocument && !fields.has(rule.path.split('.', 1)[0] ?? '');
    }
    case 'elements':
      return !fields.has(rule.path.split('.', 1)[0] ?? '');
    default:
      return false;
  }
};

/**
 * Decides a rule about the caller alone. Throws 403 `RULE_DENIED`, or 401 `TOKEN_MISSING` if only a user could be
 * allowed and nobody is signed in. Costs one command if the rule needs the user's record.
 */
export const requireCallerRule = async (
  project: Project,
  users: Collection,
  caller: Caller,
  asked: CallerRule,
): Promise<void> => {
  const { rules: rule, known } = await callerRuleOf(project, users, asked);
  const isAnyone = caller.userId !== undefined || couldAllowWithoutUser(rule);
  if (!isAnyone && !isFalse(rule)) throw tokenMissing();
  const user = isFalse(rule) ? undefined : await userOf(project, caller, known, needsRecord([rule]));
  const bound = await bind(rule, { project, caller, collection: users, known, user, document: {} });
  if (decide(bound, { document: {}, user }) === true) return;
  throw new AppError('RULE_DENIED', `The rule "${asked.at}" of the project does not allow this.`);
};
