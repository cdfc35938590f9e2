import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from '../../infra/build/function-files.ts';
import {
  failuresByRoute,
  newestErrors,
  oneMail,
  oneRequest,
  slowestRoutes,
} from '../../infra/operate/watch/log-queries.ts';
import { settingNames } from '../../infra/settings/settings.ts';
import { concurrencyOf, instancesFor } from '../../infra/stacks/concurrency.ts';
import { filledSecrets } from '../../infra/stacks/secrets.ts';
import { everything, synthesise } from './synthesis.ts';

const guide = globSync('docs/operate/*.md', { cwd: root })
  .map((page) => readFileSync(join(root, page), 'utf8'))
  .join('\n');

describe('docs/operate', () => {
  test.each(settingNames)('explains the setting %s', (name) => {
    expect(guide).toContain(`| \`${name}\` |`);
  });

  test.each(Object.values(filledSecrets))('says how to fill $id', ({ variable, output }) => {
    expect(guide).toContain(variable);
    expect(guide).toContain(output);
  });

  test('has the log queries that the dashboard and the alarms speak of', () => {
    for (const query of [failuresByRoute, slowestRoutes, newestErrors, oneRequest('…'), oneMail('…')]) {
      expect(guide).toContain(query);
    }
  });

  test.each([1500, 3000, 6000])(
    'has the function instances that a cluster with %i connections supports',
    (connections) => {
      const supported = instancesFor(connections);
      const row = [connections, supported, Math.max(0, 1000 - supported)].map((number) =>
        String(number).replace(/(?<=^\d)(?=\d{3}$)/, ' '),
      );
      expect(guide).toContain(`| ${row.join(' | ')} |`);
    },
  );

  test('has the smallest mongoConnections that a deployment accepts', () => {
    const [, least = ''] = /at least (\d+)/.exec(guide) ?? [];
    expect(() => concurrencyOf(1000, Number(least) - 1)).toThrow(`must be 0 (unbounded) or at least ${least}`);
  });

  test('names stacks that there are', () => {
    const stacks = new Set([...synthesise().stacks.keys(), ...synthesise(everything).stacks.keys()]);
    const named = [...guide.matchAll(/\b(Basalt-[A-Z][A-Za-z]+)/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(5);
    for (const name of named)
      expect(
        [...stacks].some((stack) => stack.replace('Staging', 'Basalt').startsWith(name)),
        name,
      ).toBe(true);
  });
});
