import { describe, expect, test } from 'vitest';
import { fileDisposition } from '../../../shared/files/file-headers.ts';
import { dispositionOf, newFilePath, toDisplayName } from '../../../shared/files/file-items.ts';

const names: readonly (readonly [string, string, string])[] = [
  ['is kept as it is', 'summer photo (1).png', 'summer photo (1).png'],
  ['keeps the letters of every script', 'Ünïcödé 東京 ชื่อ ملف.txt', 'Ünïcödé 東京 ชื่อ ملف.txt'],
  ['is normalised to NFC', 'u\u0308ber.txt', '\u00fcber.txt'],
  ['is normalised to NFC where it loses a control', 'e\0\u0301.txt', '\u00e9.txt'],
  ['keeps emoji and what joins them', '👨‍👩‍👧 🪨.png', '👨‍👩‍👧 🪨.png'],
  ['keeps quotes', `"it's".txt`, `"it's".txt`],
  ['loses line breaks and other controls', 'a\r\nb\0c\x7f\u0085\u2028\u2029d.txt', 'abcd.txt'],
  ['loses marks that change the direction of text', 'a\u202egnp.exe\u200f\u2066', 'agnp.exe'],
  ['loses halves of characters', 'a\ud83d.txt', 'a.txt'],
  ['has no slashes', '../a\\b/c.txt', '.._a_b_c.txt'],
  ['has no spaces at its ends', ' a b \ufeff', 'a b'],
  ['is empty when nothing of it can be seen', '\u202e\0 ', ''],
  ['of 200 characters is kept', `${'x'.repeat(196)}.txt`, `${'x'.repeat(196)}.txt`],
  ['of more is cut before its ending', `${'x'.repeat(300)}.tar.gz`, `${'x'.repeat(197)}.gz`],
  ['of more is cut between two characters', `${'🪨'.repeat(200)}.png`, `${'🪨'.repeat(98)}.png`],
  ['of more without an ending is cut', `.${'ü'.repeat(300)}`, `.${'ü'.repeat(199)}`],
];

test.each(names)('a display name %s', (_what, given, shown) => {
  expect(toDisplayName(given)).toBe(shown);
  expect(shown.length).toBeLessThanOrEqual(200);
});

/** The file name that a browser reads from `Content-Disposition`. */
const readName = (disposition: string): string => {
  const [, extended] = /filename\*=UTF-8''([^;]+)$/.exec(disposition) ?? [];
  return extended === undefined ? (/filename="([^"]+)"/.exec(disposition)?.[1] ?? '') : decodeURIComponent(extended);
};

describe('the Content-Disposition of a file', () => {
  const project = '0123456789abcdef01234567';

  test.each(names.filter(([, , shown]) => shown !== ''))('has the name when it %s', (_what, given, name) => {
    const disposition = dispositionOf(newFilePath(project, given), { name });
    expect(readName(disposition)).toBe(name);
    expect(disposition).toMatch(/^inline; filename="[A-Za-z0-9._-]+"(; filename\*=UTF-8''[A-Za-z0-9._~!%-]+)?$/);
    // The origin of files accepts it.
    expect(fileDisposition('text/html', disposition)).toBe(disposition.replace('inline', 'attachment'));
  });

  test('is encoded by RFC 8187', () => {
    const disposition = dispositionOf(newFilePath(project, 'x'), { name: `a'b"(c)*;%ü.txt` });
    expect(disposition).toBe(`inline; filename="x"; filename*=UTF-8''a%27b%22%28c%29%2A%3B%25%C3%BC.txt`);
  });

  test('has the end of the path when the file has no name', () => {
    expect(dispositionOf(newFilePath(project, 'a b.txt'), {})).toBe('inline; filename="a_b.txt"');
  });

  test('is accepted by the origin of files with the longest name', () => {
    const disposition = dispositionOf(newFilePath(project, 'x'.repeat(100)), { name: '東'.repeat(200) });
    expect(fileDisposition('image/png', disposition)).toBe(disposition);
  });
});
