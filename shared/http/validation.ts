import * as v from 'valibot';
import { AppError, type ErrorCode, type FieldError } from '../core/errors.ts';

type Issue = v.BaseIssue<unknown>;

/** What was wrong, in the words of contract 2: a missing key "is required", a surplus one is not known. */
const describe = (issue: Issue): string => {
  if (issue.kind === 'schema' && /^Invalid key/.test(issue.message)) {
    return issue.expected === 'never' ? 'is not a known field' : 'is required';
  }
  return issue.message;
};

const toFieldError = (issue: Issue): FieldError => {
  const field = v.getDotPath(issue) ?? '';
  return { field, message: field === '' ? describe(issue) : `${field} ${describe(issue)}` };
};

const refusal = (issues: readonly Issue[], code: ErrorCode): AppError => {
  const errors = issues.map(toFieldError);
  const [first] = errors as [FieldError, ...FieldError[]];
  if (first.field === '') return new AppError(code === 'VALIDATION_FAILED' ? 'INVALID_BODY' : code, first.message);
  return code === 'VALIDATION_FAILED'
    ? new AppError(code, `Validation failed: ${first.message}`, { errors })
    : new AppError(code, first.message, { errors });
};

/** Parses a value by a schema; the failures become one `AppError` that names each field. */
export const parseInput = <S extends v.GenericSchema>(schema: S, value: unknown, code: ErrorCode): v.InferOutput<S> => {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw refusal(result.issues, code);
};
