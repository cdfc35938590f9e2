import { AppError } from './errors.ts';

// Without the MongoDB driver, which functions that only describe the API do not load.

/** Parameters by name; a repeated one throws 400 `INVALID_QUERY`. */
export const valuesByName = (parameters: Iterable<readonly [string, string]>): Map<string, string> => {
  const given = new Map<string, string>();
  for (const [name, value] of parameters) {
    if (given.has(name)) throw new AppError('INVALID_QUERY', `${name} was given more than once.`);
    given.set(name, value);
  }
  return given;
};
