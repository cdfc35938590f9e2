import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { jobs } from '../../functions/jobs/jobs.ts';
import { functionFiles, root } from '../../infra/build/function-files.ts';
import { type Permission, permissions, permissionsOfRoute, reachedByOf } from '../../infra/stacks/grants.ts';
import { isRead } from '../../shared/http/route.ts';
import { allPermissions, jobPermissions, reached, routePermissions } from './all-permissions.ts';

const holdersOf = (permission: Permission): readonly string[] =>
  [...allPermissions].flatMap(([name, permissions]) => (permissions.includes(permission) ? [name] : [])).sort();

describe('permissions of a function', () => {
  test('of the data API are database and decryption, and for writes notifications and idempotency keys', () => {
    const ofData = routePermissions.filter(({ area }) => area === 'data');
    const needed = new Set(ofData.flatMap(({ permissions }) => permissions));
    const queues = ['webhook-queue', 'work-queue'];
    const stores = ['answers', 'encryption', 'mongodb', 'nudges', 'repeats', 'strict-sessions'];
    expect([...needed].sort()).toEqual([...stores, ...queues].sort());
    const reads = ofData.filter(({ route }) => isRead(route));
    expect(reads.length).toBeGreaterThan(3);
    const read = new Set(reads.flatMap(({ permissions }) => permissions));
    expect([...read].sort()).toEqual(['encryption', 'mongodb']);
  });

  test.each<[Permission, readonly string[]]>([
    ['dashboard-github', ['dashboard-auth-finish-developer-sign-in']],
    ['developer-sessions', ['jobs-remove-developers']],
    ['key-group', ['jobs-rotate-link-keys']],
    ['language-model', ['dashboard-assistant-propose-schema']],
    ['link-keys', ['jobs-rotate-link-keys']],
    ['mail-webhook', ['mail-webhook-receive-webhook']],
    [
      'purge',
      ['dashboard-collections-create-collection', 'dashboard-collections-delete-collection', 'jobs-remove-projects'],
    ],
    ['verifiers', ['dashboard-database-connect-database']],
  ])('%s: these functions alone', (permission, functions) => {
    expect(holdersOf(permission)).toEqual(functions);
  });

  test('of each email event receiver include only its own secret', () => {
    expect(allPermissions.get('mail-webhook-receive-webhook')).not.toContain('encryption');
    expect(allPermissions.get('mail-webhook-receive-project-webhook')).not.toContain('mail-webhook');
  });

  test('include the session check when a route changes something for a developer', () => {
    const none = routePermissions.filter(
      ({ route, permissions }) =>
        route.access === 'developer' &&
        !isRead(route) &&
        !permissions.includes('sessions') &&
        !permissions.includes('session-check'),
    );
    expect(none).toEqual([]);
    expect(permissionsOfRoute(new Set(), { access: 'developer', method: 'GET' })).toEqual([]);
    expect(permissionsOfRoute(new Set(), { access: 'public', method: 'POST' })).toEqual([]);
  });

  test('include only the queue that starts the job', () => {
    for (const queue of ['mail', 'work', 'webhook'] as const) expect(holdersOf(`${queue}-delivery`)).toHaveLength(1);
    expect(jobPermissions.map(({ name }) => name)).toHaveLength(Object.keys(jobs).length);
  });

  test('omit the database only when the code of the route reaches none', () => {
    for (const { name, route, permissions } of routePermissions) {
      expect(route.database, name).toBe(permissions.includes('mongodb') ? undefined : false);
    }
  });
});

describe('code that needs a permission', () => {
  const declared = permissions.flatMap(reachedByOf);

  test.each([...new Set(declared)])('%s is bundled with a function', (name) => {
    expect(functionFiles().some((file) => reached(file.name).has(name))).toBe(true);
  });

  /** Modules that use a store on behalf of those that are declared, or as every function may. */
  const helpers: ReadonlySet<string> = new Set([
    'rate-limit/rate-limit.ts',
    'projects/sealed.ts',
    'files/due-uploads.ts',
    'files/bucket.ts',
    'files/images/store.ts',
    'files/images/draw.ts',
    'files/images/make.ts',
    'files/images/variant-items.ts',
    'files/list-files.ts',
    'files/upload-states.ts',
    'usage/slow-lists.ts',
    'usage/tally.ts',
    'usage/rejected-requests.ts',
    'accounts/email-proofs.ts',
    'mail/limits.ts',
  ]);

  test('is declared for every module that uses a secret, a bucket, a queue or the table', () => {
    const shared = join(root, 'shared');
    const uses =
      /import (?!type)[^;]*(?:\bsecret\b|\bonFiles\b|\bsendMessage|\bsendLater|\bonQueue)[^;]*from '|import (?!type)[^;]*from '[^']*persistence\/(?:table|counters|single-use)\.ts'/;
    const files = globSync('**/*.ts', { cwd: shared }).filter((file) =>
      uses.test(readFileSync(join(shared, file), 'utf8')),
    );
    expect(files.length).toBeGreaterThan(15);
    const known = new Set(declared.map((name) => name.split('#')[0]));
    const unknown = files.filter((file) => !known.has(file) && !helpers.has(file) && !file.startsWith('persistence/'));
    expect(unknown.sort()).toEqual([]);
  });
});
