import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultRoutes } from '../../functions/default/routes.ts';
import { jobs } from '../../functions/jobs/jobs.ts';
import { routes } from '../../functions/routes.ts';
import { functionFiles, root } from '../../infra/build/function-files.ts';

const declared = Object.entries<object>({ ...routes, default: defaultRoutes, jobs }).flatMap(([area, table]) =>
  Object.keys(table).map((name) => `functions/${area}/${name}.ts`),
);

test('every row and job has its handler, and every handler its row or job', () => {
  const files = functionFiles().map(({ file }) => file);
  const missing = declared.filter((file) => !files.includes(file));
  const unknown = files.filter((file) => !declared.includes(file));
  expect([
    ...missing.map((file) => `${file} is missing: the row ${basename(file, '.ts')} has no handler`),
    ...unknown.map((file) => `${file} has no row of its name in the table of ${dirname(file)}`),
  ]).toEqual([]);
});

test('no two functions have the same name', () => {
  const names = functionFiles().map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

const handlers = functionFiles().filter(({ file }) => !file.startsWith('functions/jobs/'));

test.each(handlers)('$file handles the row of its own name', ({ file }) => {
  const source = readFileSync(join(root, file), 'utf8');
  const rows = [...source.matchAll(/Routes\['([^']+)'\]/g)].map(([, row]) => row);
  expect(rows).toEqual([basename(file, '.ts')]);
  expect(source).toMatch(/^export const handler(?:: LambdaHandler)? = /m);
});
