import { AppError } from '../../core/errors.ts';

/** 400 `INVALID_SCHEMA` for one field, named by its dot path; an empty path stands for the schema as a whole. */
export const schemaError = (path: string, message: string): AppError => {
  const text = path ? `${path} ${message}` : message;
  return new AppError('INVALID_SCHEMA', text, { errors: [{ field: path || 'schema', message: text }] });
};
