import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultRoutes } from '../../functions/default/routes.ts';
import { jobs } from '../../functions/jobs/jobs.ts';
import { routes } from '../../functions/routes.ts';
import { functionFiles, root } from '../../infra/build/function-files.ts';

const declared = Object.entries<object>({ ...routes, default: defaultRoutes, jobs }).flatMap(([area, table]) =>
  Object.keys(table).map((name) => `functions/${area}/${name}.ts`),
);

test('every row and job has its file, and every file its row or job', () => {
  expect(functionFiles().map(({ file }) => file)).toEqual(declared.sort());
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
