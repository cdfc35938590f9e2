import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { cutText } from '../../../shared/core/text.ts';

describe('a text that is cut', () => {
  test.each<[string, string, number, string]>([
    ['stays as it is when it is no longer', 'abc', 3, 'abc'],
    ['ends between two letters', 'abcdef', 3, 'abc…'],
    ['ends before a surrogate pair', 'ab😀cd', 3, 'ab…'],
    ['keeps a surrogate pair that fits', 'ab😀cd', 4, 'ab😀…'],
    ['ends before a letter with an accent of its own', 'abe\u0301f', 3, 'ab…'],
    ['ends before a family', 'a👨‍👩‍👧b', 4, 'a…'],
    ['ends between two flags', '🇩🇪🇫🇷🇮🇹', 6, '🇩🇪…'],
    ['ends between two flags after many others', `${'🇩🇪'.repeat(50)}🇫🇷`, 194, `${'🇩🇪'.repeat(48)}…`],
    ['is empty when its first character does not fit', '😀', 1, '…'],
    ['ends inside a heap of accents', `e${'\u0301'.repeat(300)}`, 200, `e${'\u0301'.repeat(199)}…`],
  ])('%s', (_name, text, most, expected) => {
    expect(cutText(text, most, '…')).toBe(expected);
  });

  test('is well-formed and within its limit at every place where it is cut', () => {
    const text = `x😀e\u0301👨‍👩‍👧‍👦🇩🇪 が한${'\u0301'.repeat(150)}😀`.repeat(3);
    for (let most = 0; most < text.length; most += 1) {
      const cut = cutText(text, most);
      expect(cut.isWellFormed()).toBe(true);
      expect(cut.length).toBeLessThanOrEqual(most);
      expect(text.startsWith(cut)).toBe(true);
    }
  });
});

/** Lists, and texts of our own of which each character is one unit. */
const allowed: readonly string[] = [
  'value.slice(0, maxItems)',
  'isScalar(user[key]))).slice(0, maxColumns)',
  'filled.slice(0, 4)',
  'issues.slice(0, maxErrors)',
  'errors.slice(0, maxErrors)',
  'namesIn(input.body).slice(0, maxFields)',
  // Characters already, as a list.
  '[...plain].slice(0, maxNameLength)',
  'ids.filter(isStale).slice(0, maxFinalized)',
  // Sanitised to ASCII before.
  'name.slice(0, maxNameLength - ending.length)',
  'time.slice(0, 8)',
  'publications.flatMap(batched).slice(0, maxRequests)',
  'time.slice(0, 10)',
  'found.slice(0, maxReturned)',
  'date.slice(0, 8)',
  'value.slice(0, maxMembers)',
  "known.has(name.split('.', 1)[0] ?? '')).slice(0, maxErrors)",
  'kept.slice(0, maxAddresses)',
  'letters.slice(0, 4)',
  'b.line)].slice(0, maxErrors)',
  'zone.slice(0, 3)',
  'fraction.slice(0, 3)',
  'madeOf.slice(0, 12)',
  'words.slice(0, 1)',
  'text.slice(0, 11)',
  'rows.slice(0, 1)',
  'words.slice(0, maxListed)',
  "=== 'users')).slice(0, maxFields)",
  "'updatedAt'].slice(0, maxFields)",
  '.has(id)).slice(0, maxErrors)',
  'paths.slice(0, maxErrors)',
  'found.slice(0, maxErrors)',
  'isUnknownPath(fields, path)).slice(0, maxErrors)',
  // A path that has passed the pattern of file addresses.
  'led.path.substring(1)',
  '...named].slice(0, mostShown)',
  'items?.slice(0, mostRows)',
  'name.slice(0, 1)',
  '...seenIn(documents)])].slice(0, mostShown)',
  '[...revisions.keys()].slice(0, maxRevisions / 2)',
  '[...pending].slice(0, maxIds)',
  'isUnknownPath(fields, path)).slice(0, maxHinted)',
  'columns.slice(0, 3)',
  '(a.documents ?? 0)).slice(0, shownCollections)',
  ': [])))].slice(0, shownColumns)',
  'rows.slice(0, shownRows)',
  'fields.slice(0, maxFields)',
  ').slice(0, maxFields)',
  // Bytes.
  'file.slice(0, most)',
  'sum.errors.slice(0, shownErrors)',
  '.includes(words)).slice(0, mostShown)',
  'Object.entries(data).slice(0, mostShown)',
  ').slice(0, mostShown)',
  // The hexadecimal name of a room.
  'name.slice(0, 8)',
];

test('external text is cut by cutText only', () => {
  const root = path.resolve(import.meta.dirname, '../../..');
  const cuts = globSync('{shared,functions,console,client/src}/**/*.{ts,tsx}', { cwd: root }).flatMap((file) => {
    const text = readFileSync(path.join(root, file), 'utf8').replaceAll(/\n\s+\./g, '.');
    const found = text.matchAll(/^.*\.(?:slice\(0, ?(?:\d|(?:max|most|longest|shown))[^)]*\)|substr(?:ing)?\().*$/gm);
    return [...found].map(([line]) => `${file}: ${line.trim()}`);
  });
  const isAscii = (line: string): boolean => /\bhash\('sha256'|\.toISOString\(\)/.test(line);
  expect(cuts.length).toBeGreaterThan(30);
  expect(cuts.filter((line) => !isAscii(line) && !allowed.some((cut) => line.includes(cut)))).toEqual([]);
});
