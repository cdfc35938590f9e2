import { AppError, type ErrorDetail, maxErrors, statusOf } from '../../core/errors.ts';

/** The errors of an item with its index. An error without a field applies to the whole item. */
export const atIndex = ({ code, errors = [], message }: AppError, index: number): ErrorDetail[] =>
  code === 'EFFECT_REFUSED'
    ? errors.map((error) => ({ ...error, index }))
    : (errors.length > 0 ? errors : [{ field: '', message }]).map((error) => ({ index, field: '', ...error }));

/** The error of one of several items or writes, with its index. A failure of the service belongs to none of them. */
export const numbered = (error: unknown, noun: 'item' | 'write', index: number): unknown => {
  if (!(error instanceof AppError) || statusOf[error.code] >= 500) return error;
  const { code, message, retryAfter, data, etag, cause, logged } = error;
  return new AppError(code, `${message} (${noun} ${index})`, {
    errors: atIndex(error, index),
    cause,
    logged: logged?.map((each) => ({ ...each, index })),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(data !== undefined && { data }),
    ...(etag !== undefined && { etag }),
  });
};

/** Runs `act` for an item, whose index is added to an error. */
export const forItem = async <T>(index: number, act: () => T | Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    throw numbered(error, 'item', index);
  }
};

/** Makes every item. The first 100 validation errors are reported together, other errors immediately. */
export const eachValid = <Item, Made>(items: readonly Item[], make: (item: Item) => Made): Made[] => {
  const errors: ErrorDetail[] = [];
  let first: string | undefined;
  const made = items.flatMap((item, index) => {
    try {
      return [make(item)];
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'VALIDATION_FAILED') throw numbered(error, 'item', index);
      first ??= `${error.message} (item ${index})`;
      errors.push(...atIndex(error, index));
      return [];
    }
  });
  if (!first) return made;
  const named = errors.slice(0, maxErrors);
  const cut = named.length < errors.length ? `; errors has the first ${maxErrors} of at least ${errors.length}` : '';
  throw new AppError('VALIDATION_FAILED', first + cut, { errors: named });
};
