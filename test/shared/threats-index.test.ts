import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { testsOfThreats } from '../support/data/threats.ts';

const root = path.resolve(import.meta.dirname, '../..');

const pages = globSync('docs/concepts/threats*.md', { cwd: root })
  .sort()
  .map((file) => {
    const tables = readFileSync(path.join(root, file), 'utf8')
      .split('\n\n')
      .flatMap((block) => block.match(/(?:^\| .+ \| What stops it \|\n\|[-|]+\|\n)((?:.+\n?)+)/)?.[1] ?? []);
    const rows = tables
      .flatMap((table) => table.trim().split('\n'))
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map(([, name = '', protection = '']) => ({ name, protection }));
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

test('threats.ts has the tests of each attack, and of no other', () => {
  const names = pages.flatMap(({ rows }) => rows.map(({ name }) => name));
  expect(Object.keys(testsOfThreats).sort()).toEqual(names.sort());
});

test('threats.ts names tests that exist', () => {
  const named = new Set(Object.values(testsOfThreats).flatMap((list) => list.split(', ')));
  expect([...named].filter((name) => !tests.some((file) => file.endsWith(`/${name}`)))).toEqual([]);
});

describe.each(pages)('$file', ({ rows }) => {
  test('has a protection of at most three short sentences for each attack', () => {
    const wrong = rows.filter(({ protection }) => {
      const sentences = sentencesOf(protection);
      const isShort = sentences.every((sentence) => sentence.split(/\s+/).length <= 25);
      return sentences.length === 0 || sentences.length > 3 || !isShort;
    });
    expect(wrong).toEqual([]);
  });
});
