import type { Field } from '../../../shared/collections/collection.ts';
import { convert, convertFields } from '../../../shared/documents/values.ts';
import { type FieldProblem, Problem } from '../../api/problem.ts';
import { t } from '../../text/words.ts';
import { changesOf, type Draft } from './document-draft.ts';

/** By the service's own code: all fields of a new document, otherwise the changed ones. */
const problemsOf = (rules: readonly Field[], draft: Draft, isNew: boolean): readonly FieldProblem[] => {
  const { value, unreadFields } = draft;
  const problems: { field: string; message: string }[] = Object.entries(unreadFields).map(([field, message]) => ({
    field,
    message,
  }));
  if (isNew) {
    convertFields(rules, value, '', problems);
    return problems;
  }
  for (const { key, after, removed } of changesOf(draft)) {
    const field = rules.find((one) => one.key === key);
    if (removed) problems.push({ field: key, message: t.documents.cannotRemove(key) });
    else if (field) convert(field, after, key, problems);
  }
  return problems;
};

/** Throws the errors that the service would return for a draft. */
export const requireFit = (rules: readonly Field[], draft: Draft, isNew: boolean): void => {
  if (draft.unread !== undefined) throw new Error(draft.unread);
  const [...errors] = problemsOf(rules, draft, isNew);
  if (errors.length > 0) throw new Problem(400, { message: `Validation failed: ${errors[0]?.message}`, errors });
};
