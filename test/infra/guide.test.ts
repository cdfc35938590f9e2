import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { root } from '../../infra/build/function-files.ts';
import {
  failuresByRoute,
  newestErrors,
  oneMail,
  oneRequest,
  slowestRoutes,
} from '../../infra/operate/watch/log-queries.ts';
import { settingNames } from '../../infra/settings/settings.ts';
import { deploymentConcurrency, instancesFor } from '../../infra/stacks/concurrency.ts';
import { filledSecrets } from '../../infra/stacks/secrets.ts';
import { everything, synthesise } from './synthesis.ts';

const guide = globSync('docs/operate/*.md', { cwd: root })
  .map((page) => readFileSync(join(root, page), 'utf8'))
  .join('\n');

describe('docs/operate', () => {
  test.each(settingNames)('leads to a page that explains the setting %s', (name) => {
    expect(guide).toContain('(../reference/settings.md#deployment)');
    expect(readFileSync(join(root, 'docs/reference/settings.md'), 'utf8')).toContain(`| \`${name}\` |`);
  });

  test.each(Object.values(filledSecrets))('says how to fill $id', ({ variable, output }) => {
    expect(guide).toContain(variable);
    expect(guide).toContain(output);
  });

  test('has the log queries of dashboard and alarms', () => {
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

  test.each(['on', 'added'] as const)('has the smallest mongoConnections when cloudFront is %s', (cloudFront) => {
    const message = vi.fn(() => deploymentConcurrency({ accountConcurrency: 1000, mongoConnections: 1, cloudFront }));
    expect(message).toThrow(/at least \d+$/);
    const [least = ''] = /\d+$/.exec(String(message.mock.results[0]?.value)) ?? [];
    expect(guide).toMatch(new RegExp(`\\b${least}\\b`));
  });

  test('names only stacks that exist', () => {
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
