/**
 * The largest text in characters that a pattern matches, by the number of its repetitions: one, two, more. A repeated
 * group counts as two, because MongoDB keeps each round of it in a small memory, and finds nothing when that is full.
 *
 * MongoDB tries each way to divide a text among the repetitions, at each place of the text, and cannot be interrupted
 * inside a document: `a.*[bc]` takes 100 s on 100 000 characters. With these limits a text takes under a second.
 */
const maxTexts = [5000, 300, 100] as const;

/** The same texts match without them. */
const dotsAtTheEnds = /^\^?\.\*(?![?+])|\.\*\$?$/g;
const escapes = /\\(?:[pPxoN]\{[^}]*\}|[gk](?:\{[^}]*\}|<[^>]*>|'[^']*')|.)/gs;
const classes = /\[\^?\]?(?:\[:\^?\w+:\]|[^\]])*\]/g;
/** Also calls of a group, which repeat what is in it. */
const repetitions = /[*+](?![*+?])|[*+][+?]|\)\{\d+\}|\{(?!0,1\})\d*,\d*\}|\(\?(?:[R&\d+-]|P[>=])/g;

const repeatedGroups = /\)(?:[*+]|\{(?!0,1\})[\d,]+\})/g;

/** Begins at the start of a text and has one repetition, so it takes one pass. An index finds its first characters. */
const isOnePass = (simplified: string): boolean => simplified.startsWith('^') && !/[|()]/.test(simplified);

/** The length in characters up to which a text can match the pattern; `Infinity` for any length. */
export const longestMatched = (pattern: string): number => {
  // Escapes and classes stand for one character each. References to a group and calls of it repeat.
  const simplified = pattern
    .replace(escapes, (part) => (/^\\[gk1-9]/.test(part) ? 'x*' : 'x'))
    .replace(classes, 'x')
    .replace(dotsAtTheEnds, '');
  const count = [...simplified.matchAll(repetitions)].length + [...simplified.matchAll(repeatedGroups)].length;
  if (count === 0 || (count === 1 && isOnePass(simplified))) return Number.POSITIVE_INFINITY;
  return maxTexts[Math.min(count, maxTexts.length) - 1] ?? 0;
};

/** The beginning of a pattern that matches no text of more than `length` characters. */
const onlyUpTo = (length: number): string => `\\A[\\s\\S]{${length + 1}}(*COMMIT)(*F)|`;

/** The pattern for MongoDB. It does not match texts that are longer than `longestMatched`. */
export const boundedPattern = (pattern: string): string => {
  const longest = longestMatched(pattern);
  return longest === Number.POSITIVE_INFINITY ? pattern : onlyUpTo(longest) + pattern;
};

/** For a pattern that MongoDB computes. */
export const strictestBound = onlyUpTo(maxTexts[maxTexts.length - 1] ?? 0);
