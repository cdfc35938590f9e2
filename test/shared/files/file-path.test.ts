import { afterEach, describe, expect, test } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { isPathOf, nameIn, newFilePath, sanitisedName } from '../../../shared/files/file-items.ts';

const project = '0123456789abcdef01234567';
const realNow = clock.now;

afterEach(() => {
  clock.now = realNow;
});

const names: readonly (readonly [string, string])[] = [
  ['photo.png', 'photo.png'],
  ['a b/c\\d.png', 'a_b_c_d.png'],
  ['..', '.'],
  ['.....', '.'],
  ['a..b...c', 'a.b.c'],
  ['é😀', '__'],
  ['\u202e\u200b\ufeff', '___'],
  ['\0\r\n\x7f', '____'],
  ['%2e%2e', '_2e_2e'],
  ['x'.repeat(101), 'x'.repeat(100)],
  [`${'x'.repeat(200)}.tar.gz`, `${'x'.repeat(97)}.gz`],
  [`${'x'.repeat(96)}.y.png`, `${'x'.repeat(96)}.png`],
  [`${'x'.repeat(95)}.yyy.png`, `${'x'.repeat(95)}_.png`],
  [`.${'x'.repeat(200)}`, `.${'x'.repeat(99)}`],
];

describe('a file name', () => {
  test.each(names)('%j becomes %j', (given, wanted) => {
    expect(sanitisedName(given)).toBe(wanted);
  });

  test.each(names)('%j gives a path that its project accepts', (given, wanted) => {
    const path = newFilePath(project, given);
    expect([isPathOf(project, path), nameIn(path)]).toEqual([true, wanted]);
  });
});

describe('a path', () => {
  test('sorts by its creation time', () => {
    const times = [1, 2 ** 32, Date.UTC(2026, 0), Date.UTC(2026, 0) + 1, 2 ** 47];
    const paths = times.map((time) => {
      clock.now = () => time;
      return newFilePath(project, 'a');
    });
    expect([...paths].sort()).toEqual(paths);
    expect(paths.every((path) => isPathOf(project, path))).toBe(true);
  });

  const good = `${project}/01890a5d-ac96-774b-bcce-b302099a8057_a.txt`;
  test.each([
    ['', 'is empty'],
    [good.replace(project, 'f'.repeat(24)), "is another project's"],
    [good.replace(project, project.toUpperCase()), 'is in capitals'],
    [`/${good}`, 'begins with a slash'],
    [`${good}/`, 'ends with a slash'],
    [` ${good}`, 'begins with a space'],
    [`${good}\n`, 'ends with a line break'],
    [good.replace('a.txt', ''), 'has no name'],
    [good.replace('a.txt', 'a/b.txt'), 'has folders'],
    [good.replace('a.txt', 'a..txt'), 'has two dots'],
    [good.replace('a.txt', 'ä.txt'), 'has other letters'],
    [good.replace('_a', '-a'), 'has no underscore'],
    [good.replace('-ac96', ''), 'has half a uuid'],
    [`${good}${'a'.repeat(100)}`, 'is too long'],
  ])('%j is malformed: it %s', (path) => {
    expect(isPathOf(project, path)).toBe(false);
  });

  test('is accepted as it was issued', () => {
    expect(isPathOf(project, good)).toBe(true);
  });
});
