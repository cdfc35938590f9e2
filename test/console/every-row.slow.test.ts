import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { dashboardRoutes } from '../../functions/routes.ts';
import { methodsOf, type Route } from '../../shared/http/route.ts';
import { askedOfApi } from '../support/clients/chromium.ts';

/** Those that only look at screens reach no row that the others do not. */
const apart = new Set(['every-row', 'every-screen', 'phone', 'policy']);
const files = (await readdir(import.meta.dirname)).filter(
  (file) => file.endsWith('.test.ts') && !apart.has(file.split('.', 1)[0] ?? ''),
);

// What pages ask is kept by process, and each test file has one of its own: so all of them are run in this one.
for (const file of files) {
  describe(file, async () => {
    await import(path.join(import.meta.dirname, file));
  });
}

const rows: readonly (Route & { readonly id: string })[] = Object.values(dashboardRoutes).flatMap((area) =>
  Object.values(area),
);

const parametersOf = ({ path: at }: Route): number => at.split('{').length;

/**
 * The row that answers a request of the dashboard API, `GET http://127.0.0.1:4100/api/projects`: of several that fit
 * the one with the fewest parameters. The public API has some paths in common with it.
 */
const rowOf = (request: string): string | undefined => {
  const [method, url = ''] = request.split(' ');
  const { origin, pathname: at } = new URL(url);
  // Passkeys are on the pages by name.
  if (origin.replace('localhost', '127.0.0.1') !== inject('stack').dashboardUrl) return undefined;
  return rows
    .filter((row) => methodsOf(row).some((one) => one === method))
    .filter((row) => new RegExp(`^${row.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(at))
    .toSorted((a, b) => parametersOf(a) - parametersOf(b))[0]?.id;
};

test('every row of the dashboard’s route table is reached by a page in a browser', () => {
  const reached = new Set([...askedOfApi].map(rowOf));
  expect(rows.map(({ id }) => id).filter((id) => !reached.has(id))).toEqual([]);
});
