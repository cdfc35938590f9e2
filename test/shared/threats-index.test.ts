import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');

const pages = globSync('docs/concepts/threats*.md', { cwd: root })
  .sort()
  .map((file) => {
    const tables = readFileSync(path.join(root, file), 'utf8')
      .split('\n\n')
      .flatMap((block) => block.match(/(?:^\| .+ \| Tests \|\n\|[-|]+\|\n)((?:.+\n?)+)/)?.[1] ?? []);
    const rows = tables
      .flatMap((table) => table.trim().split('\n'))
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map(([, name = '', protection = '', tests = '']) => ({ name, protection, tests: tests.split(', ') }));
    return { file, rows };
  });

/** Paths of all tests below `test/`, without their endings. */
const tests = globSync('test/**/*.test.ts', { cwd: root }).map((file) =>
  file.replace(/^test/, '').replace(/(?:\.slow|\.bundled)?\.test\.ts$/, ''),
);

const sentencesOf = (text: string): string[] =>
  text
    .replaceAll(/\]\([^)]*\)/g, ']')
    .split(/(?<=\.)\s/)
    .filter((sentence) => sentence !== '');

test('the threat model names each attack one time', () => {
  const names = pages.flatMap(({ rows }) => rows.map(({ name }) => name));
  expect(names.length).toBeGreaterThanOrEqual(150);
  expect(new Set(names).size).toBe(names.length);
});

describe.each(pages)('$file', ({ rows }) => {
  test('names tests that exist', () => {
    const named = new Set(rows.flatMap((row) => row.tests));
    expect([...named].filter((name) => !tests.some((file) => file.endsWith(`/${name}`)))).toEqual([]);
  });

  test('has a protection of at most three short sentences, and a test, for each attack', () => {
    const wrong = rows.filter(({ protection, tests: names }) => {
      const sentences = sentencesOf(protection);
      const isShort = sentences.every((sentence) => sentence.split(/\s+/).length <= 25);
      return sentences.length === 0 || sentences.length > 3 || !isShort || names.includes('');
    });
    expect(wrong).toEqual([]);
  });
});
