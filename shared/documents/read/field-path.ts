import { cutText } from '../../core/bounded-text.ts';
import { maxDepth } from '../../core/json-value.ts';

/** No document has a field of this name: the driver takes an object with it for a value of its own. */
const driverTag = '_bsontype';

/**
 * Whether a text can name a field: dotted segments, none of them empty or starting with `$`, no NUL, at most 64 levels.
 * Everything that comes from a query string and becomes a path passes here, so that it can never be an operator.
 */
export const isFieldPath = (path: string): boolean => {
  const segments = path.split('.');
  return (
    segments.length <= maxDepth &&
    !path.includes('\0') &&
    segments.every((segment) => segment !== '' && segment !== driverTag && !segment.startsWith('$'))
  );
};

/** A caller's text as it may stand in a message: at most 64 characters. */
export const shown = (text: string): string => cutText(text, 64, '…');
