import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const docs = path.resolve(import.meta.dirname, '../../docs');

const pages = globSync('threats*.md', { cwd: docs })
  .sort()
  .map((file) => {
    const text = readFileSync(path.join(docs, file), 'utf8');
    const links = new Map([...text.matchAll(/^\[(.+)\]: (.+)$/gm)].map(([, label = '', link = '']) => [label, link]));
    const tables = text
      .split('\n\n')
      .flatMap((block) => block.match(/(?:^\| .+ \| Tests \|\n\|[-|]+\|\n)((?:.+\n?)+)/)?.[1] ?? []);
    const rows = tables
      .flatMap((table) => table.trim().split('\n'))
      .map((line) => line.split('|').map((cell) => cell.trim()))
      .map(([, name = '', protection = '', tests = '']) => ({ name, protection, tests }));
    return { file, links, rows };
  });

const labelsIn = (tests: string): string[] => [...tests.matchAll(/\[([^\]]+)\]/g)].map(([, label = '']) => label);

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

describe.each(pages)('$file', ({ links, rows }) => {
  test('links to tests that exist', () => {
    const missing = [...links.values()].filter(
      (link) => !link.endsWith('.test.ts') || !existsSync(path.resolve(docs, link)),
    );
    expect(missing).toEqual([]);
  });

  test('defines each link that a row names, and no other', () => {
    const named = new Set(rows.flatMap(({ tests }) => labelsIn(tests)));
    expect([...named].sort()).toEqual([...links.keys()].sort());
  });

  test('has a protection of at most three short sentences, and a test, for each attack', () => {
    const wrong = rows.filter(({ protection, tests }) => {
      const sentences = sentencesOf(protection);
      const isShort = sentences.every((sentence) => sentence.split(/\s+/).length <= 25);
      return sentences.length === 0 || sentences.length > 3 || !isShort || labelsIn(tests).length === 0;
    });
    expect(wrong).toEqual([]);
  });
});
