import type { Collection } from '../../collections/collection.ts';
import { couldAllowWithoutUser, isFalse } from '../../collections/rules/rule.ts';
import { AppError } from '../../core/errors.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { tokenMissing } from './access.ts';
import { bind, needsRecord } from './bind.ts';
import { decide } from './decide.ts';
import { type CallerRule, callerRuleOf, userOf } from './rules-of.ts';

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
