import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';

const page = path.resolve(import.meta.dirname, '../../docs/threats.md');
const rows = readFileSync(page, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, name = '', holds = '', proof = '']) => ({ name, holds, proof }));

const filesIn = (proof: string): string[] =>
  [...proof.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => path.resolve(path.dirname(page), link));

describe('the page of threats', () => {
  test('has a row for each class', () => {
    expect(rows.length).toBeGreaterThanOrEqual(20);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });

  test.each(rows)('names tests that there are: $name', ({ holds, proof }) => {
    expect(holds).not.toBe('');
    const files = filesIn(proof);
    expect(files.length).toBeGreaterThan(0);
    expect(files.filter((file) => !file.endsWith('.test.ts') || !existsSync(file))).toEqual([]);
  });
});
