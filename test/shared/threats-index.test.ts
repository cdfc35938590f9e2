import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

const rows = readFileSync(path.join(root, 'test/threats.md'), 'utf8')
  .split('\n\n')
  .flatMap((block) => block.match(/^\| Attack \| What stops it \| Tests \|\n\|[-|]+\|\n((?:.+\n?)+)/)?.[1] ?? [])
  .flatMap((table) => table.trim().split('\n'))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, name = '', protection = '', tests = '']) => ({ name, protection, tests: tests.split(', ') }));

/** Paths of all tests below `test/`, without their endings. */
const tests = globSync('test/**/*.test.ts', { cwd: root }).map((file) =>
  file.replace(/^test/, '').replace(/(?:\.slow|\.bundled)?\.test\.ts$/, ''),
);

const sentencesOf = (text: string): string[] =>
  text
    .replaceAll(/\]\([^)]*\)/g, ']')
    .split(/(?<=\.)\s/)
    .filter((sentence) => sentence !== '');

test('test/threats.md names each attack one time', () => {
  const names = rows.map(({ name }) => name);
  expect(names.length).toBeGreaterThanOrEqual(150);
  expect(new Set(names).size).toBe(names.length);
});

test('test/threats.md names only tests that exist', () => {
  const named = new Set(rows.flatMap((row) => row.tests));
  expect([...named].filter((name) => !tests.some((file) => file.endsWith(`/${name}`)))).toEqual([]);
});

test('test/threats.md has a protection of at most three short sentences, and a test, for each attack', () => {
  const wrong = rows.filter(({ protection, tests: names }) => {
    const sentences = sentencesOf(protection);
    const isShort = sentences.every((sentence) => sentence.split(/\s+/).length <= 25);
    return sentences.length === 0 || sentences.length > 3 || !isShort || names.includes('');
  });
  expect(wrong).toEqual([]);
});
