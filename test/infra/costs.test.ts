import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../infra/build/function-files.ts';
import { parts, watched } from '../../infra/operate/costs/estimate.ts';
import { costTable } from '../../infra/operate/costs/main.ts';
import { costOf, prices } from '../../infra/operate/costs/prices.ts';
import { ofType, type Resource, synthesise } from './synthesis.ts';

test.each([
  [1e6, 1],
  [300e6, 300],
  [301e6, 300.9],
])('%d requests of API Gateway cost %d dollars', (requests, dollars) => {
  expect(costOf(prices.gatewayRequest, requests)).toBeCloseTo(dollars, 6);
});

test.each(parts)('$name costs something, and not less for more requests', ({ cost }) => {
  expect(cost(1)).toBeGreaterThan(0);
  expect(cost(100)).toBeGreaterThanOrEqual(cost(1));
  expect(cost(10_000)).toBeGreaterThanOrEqual(cost(100));
});

test('the alarms, metrics and secrets are those of the templates', () => {
  const { stacks } = synthesise();
  const watch = stacks.get('Basalt-Watch') ?? new Map<string, Resource>();
  const metricsOf = ({ Properties: { Metrics } }: Resource): number =>
    (Metrics as readonly Record<string, unknown>[] | undefined)?.filter(({ MetricStat }) => MetricStat).length ?? 1;
  const alarms = [...ofType(watch, 'AWS::CloudWatch::Alarm').values()];
  expect({
    alarmMetrics: alarms.reduce((sum, alarm) => sum + metricsOf(alarm), 0),
    // What the functions behind a gateway count is one metric.
    ownMetrics: ofType(watch, 'AWS::Logs::MetricFilter').size + 2,
    secrets: ofType(stacks.get('Basalt-Data') ?? new Map(), 'AWS::SecretsManager::Secret').size,
  }).toEqual(watched);
});

test('the guide shows what the command prints', () => {
  expect(readFileSync(join(root, 'docs/deployment.md'), 'utf8')).toContain(costTable());
});
