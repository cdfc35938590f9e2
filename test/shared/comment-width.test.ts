import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.resolve(import.meta.dirname, '../..');
const sources = ['shared', 'functions', 'infra', 'bench', 'scripts', 'test'].map((folder) => `${folder}/**/*.{ts,mjs}`);

test('no line of a comment is wider than 120 columns, which the formatter leaves alone', () => {
  const files = globSync(sources, { cwd: root, exclude: ['**/node_modules/**'] });
  expect(files.length).toBeGreaterThan(1000);
  const wide = files.flatMap((file) =>
    readFileSync(path.join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, at) => (line.length > 120 && /^\s*(\*|\/\/|\/\*)/.test(line) ? [`${file}:${at + 1}`] : [])),
  );
  expect(wide).toEqual([]);
});
