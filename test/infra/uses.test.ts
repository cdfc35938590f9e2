import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stop } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';
import { defaultRoutes } from '../../functions/default/routes.ts';
import { type Job, jobs, usesOfJob } from '../../functions/jobs/jobs.ts';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { functionName, root } from '../../infra/build/function-files.ts';
import { methodsOf, type NamedRoute, type RouteTable } from '../../shared/http/route.ts';
import { type Permission, permissionsOf } from '../../shared/http/uses.ts';
import { bundledNames } from './bundled-names.ts';
import { evidence, helpers, sessionEvidence, userSessionEvidence } from './evidence.ts';

const bundles = await bundledNames();
afterAll(stop);

const namesOf = (name: string): ReadonlySet<string> => {
  const names = bundles.get(name);
  if (!names) throw new Error(`${name} was not bundled`);
  return names;
};

const hasAny = (names: ReadonlySet<string>, wanted: readonly string[]): boolean =>
  wanted.some((name) => names.has(name));

/** What code of it needs, whoever calls it. */
const neededBy = (names: ReadonlySet<string>): readonly Permission[] =>
  (Object.entries(evidence) as [Permission, readonly string[]][]).flatMap(([use, wanted]) =>
    hasAny(names, wanted) ? [use] : [],
  );

/** Both receive deliveries with one function, which asks for the one secret or the other by its path. */
const neverReached: Readonly<Record<string, Permission>> = {
  'mail-webhook-receive-webhook': 'encryption',
  'mail-webhook-receive-project-webhook': 'mail-webhook',
};

/** A statement that another use covers. */
const covered: readonly (readonly [Permission, Permission])[] = [
  ['mail-quota', 'usage'],
  ['session-check', 'sessions'],
];

const reduced = (name: string, uses: readonly Permission[]): readonly Permission[] => {
  const gone = covered.flatMap(([less, more]) => (uses.includes(more) ? [less] : []));
  return uses.filter((use) => !gone.includes(use) && neverReached[name] !== use).sort();
};

const neededByRow = (name: string, row: NamedRoute): readonly Permission[] => {
  const names = namesOf(name);
  const changes = row.access === 'developer' && methodsOf(row).some((method) => method !== 'GET');
  const ofUsers = hasAny(names, userSessionEvidence);
  return reduced(name, [
    ...neededBy(names),
    ...(hasAny(names, sessionEvidence) ? [ofUsers ? ('user-sessions' as const) : ('sessions' as const)] : []),
    ...(changes ? (['session-check'] as const) : []),
  ]);
};

const deliveries = { mail: 'mail-delivery', work: 'work-delivery', webhooks: 'webhook-delivery' } as const;

const neededByJob = (name: string, { starts }: Job): readonly Permission[] => {
  const names = namesOf(name);
  return reduced(name, [
    ...neededBy(names),
    ...(hasAny(names, sessionEvidence)
      ? [hasAny(names, userSessionEvidence) ? ('user-sessions' as const) : ('developer-sessions' as const)]
      : []),
    ...(typeof starts === 'object' && 'queue' in starts ? [deliveries[starts.queue]] : []),
  ]);
};

const rows = Object.entries<RouteTable>({ ...publicRoutes, ...dashboardRoutes, default: defaultRoutes }).flatMap(
  ([area, table]) => Object.entries(table).map(([name, row]) => [functionName(area, name), row] as const),
);

describe('uses are what the code of a function needs, no more and no less', () => {
  test.each(rows)('%s', (name, row) => {
    expect([...permissionsOf(row)].sort()).toEqual(neededByRow(name, row));
  });

  test.each(Object.entries<Job>(jobs))('job %s', (name, job) => {
    expect([...usesOfJob(job)].sort()).toEqual(neededByJob(functionName('jobs', name), job));
  });
});

/** What it names that it would have without naming it. */
const repeated = <T extends { readonly uses?: readonly Permission[] }>(
  row: T,
  all: (row: T) => readonly Permission[],
) =>
  (row.uses ?? []).filter((use, at, uses) =>
    all({ ...row, uses: uses.filter((_, other) => other !== at) }).includes(use),
  );

describe('nothing is named that access and method, or the start of a job, imply already', () => {
  test.each(rows)('%s', (_name, row) => {
    expect(repeated(row, permissionsOf)).toEqual([]);
  });

  test.each(Object.entries<Job>(jobs))('job %s', (_name, job) => {
    expect(repeated(job, usesOfJob)).toEqual([]);
  });
});

describe('the evidence', () => {
  const named = [...Object.values(evidence).flat(), ...sessionEvidence, ...userSessionEvidence];

  test.each([...new Set(named)])('%s is bundled with a function', (name) => {
    expect([...bundles.values()].some((names) => names.has(name))).toBe(true);
  });

  test('names every module that asks a store, or knows it as a helper of those', () => {
    const shared = join(root, 'shared');
    const asks =
      /import (?!type)[^;]*(?:\bsecret\b|\bonFiles\b|\bsendMessage|\bonQueue)[^;]*from '|import (?!type)[^;]*from '[^']*table\/(?:item|transact)\.ts'/;
    const files = globSync('**/*.ts', { cwd: shared }).filter((file) =>
      asks.test(readFileSync(join(shared, file), 'utf8')),
    );
    const known = new Set([...named.map((name) => name.split('#')[0]), ...helpers]);
    expect(files.filter((file) => !known.has(file) && !/^(?:clients|table)\//.test(file)).sort()).toEqual([]);
  });
});
