import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { dashboardRoutes } from '../../functions/routes.ts';
import { methodsOf, type Route } from '../../shared/http/route.ts';
import { askedOfApi } from '../support/clients/chromium.ts';

/** These files request no route that the other files do not. */
const apart = new Set(['every-row', 'every-screen', 'phone', 'policy']);
const files = (await readdir(import.meta.dirname)).filter(
  (file) => file.endsWith('.test.ts') && !apart.has(file.split('.', 1)[0] ?? ''),
);

// Each test file runs in its own process, which collects its requests, so this file imports the others.
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
 * Returns the id of the dashboard route that a request such as `GET http://127.0.0.1:4100/api/projects` matches. Of
 * several matching routes it takes the one with the fewest parameters. The public API has some of the same paths.
 */
const rowOf = (request: string): string | undefined => {
  const [method, url = ''] = request.split(' ');
  const { origin, pathname: at } = new URL(url);
  // Pages that use passkeys have the host name `localhost`.
  if (origin.replace('localhost', '127.0.0.1') !== inject('stack').dashboardUrl) return undefined;
  return rows
    .filter((row) => methodsOf(row).some((one) => one === method))
    .filter((row) => new RegExp(`^${row.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(at))
    .toSorted((a, b) => parametersOf(a) - parametersOf(b))[0]?.id;
};

test('every route of the dashboard is requested by a page in a browser', () => {
  const reached = new Set([...askedOfApi].map(rowOf));
  expect(rows.map(({ id }) => id).filter((id) => !reached.has(id))).toEqual([]);
});
