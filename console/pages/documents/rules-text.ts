import { isPlainObject } from '../../../shared/core/json.ts';
import { Problem } from '../../api/problem.ts';
import { t } from '../../text/words.ts';

/** The object that a text of JSON holds; anything else is a problem of its field. */
export const objectIn = (field: string, text: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isPlainObject(value)) return value;
  throw new Problem(400, { message: t.rls.noObject, errors: [{ field, message: t.rls.noObject }] });
};
