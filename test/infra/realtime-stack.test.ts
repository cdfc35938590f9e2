import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dashboardRoutes, publicRoutes } from '../../functions/routes.ts';
import { areaStackName } from '../../infra/stacks/area-stack.ts';
import { ofType, type Resource, type Resources, routesOf, synthesise } from './synthesis.ts';

const on = synthesise();
const off = synthesise({ realtime: 'off' });
const only = (resources: Resources, type: string): Resource['Properties'] => {
  const found = [...ofType(resources, type).values()];
  expect(found).toHaveLength(1);
  return (found[0] as Resource).Properties;
};
const variablesOf = (stacks: typeof on.stacks, area: string) =>
  routesOf(stacks.get(`Basalt-${areaStackName(area)}`) ?? new Map()).map(({ key, function: made }) => {
    const { Variables } = made.Properties.Environment as { readonly Variables: Readonly<Record<string, unknown>> };
    return [key, Object.keys(Variables).filter((name) => name.startsWith('REALTIME_'))] as const;
  });

describe('live updates', () => {
  const resources = on.stacks.get('Basalt-Realtime') ?? new Map<string, Resource>();
  const namespaceNamed = (name: string): Resource['Properties'] => {
    const all = [...ofType(resources, 'AWS::AppSync::ChannelNamespace').values()].map(({ Properties }) => Properties);
    expect(all).toHaveLength(2);
    const found = all.find(({ Name }) => Name === name);
    if (!found) throw new Error(`there is no namespace ${name}`);
    return found;
  };

  test('are an Event API with a token authorizer without cache, to which only roles publish by default', () => {
    const { EventConfig } = only(resources, 'AWS::AppSync::Api') as { readonly EventConfig: Record<string, unknown> };
    expect(EventConfig).toMatchObject({
      ConnectionAuthModes: [{ AuthType: 'AWS_LAMBDA' }],
      DefaultSubscribeAuthModes: [{ AuthType: 'AWS_LAMBDA' }],
      DefaultPublishAuthModes: [{ AuthType: 'AWS_IAM' }],
      AuthProviders: [
        { AuthType: 'AWS_LAMBDA', LambdaAuthorizerConfig: { AuthorizerResultTtlInSeconds: 0 } },
        { AuthType: 'AWS_IAM' },
      ],
    });
    expect(namespaceNamed('live')).not.toHaveProperty('PublishAuthModes');
    expect(namespaceNamed('live')).not.toHaveProperty('CodeHandlers');
    expect(only(resources, 'AWS::Lambda::Permission')).toMatchObject({
      Action: 'lambda:InvokeFunction',
      Principal: 'appsync.amazonaws.com',
    });
  });

  test('have rooms, on which only tickets publish, through a handler in the runtime of AppSync', () => {
    const { PublishAuthModes, SubscribeAuthModes, CodeHandlers } = namespaceNamed('rooms');
    expect([PublishAuthModes, SubscribeAuthModes]).toEqual([
      [{ AuthType: 'AWS_LAMBDA' }],
      [{ AuthType: 'AWS_LAMBDA' }],
    ]);
    const code = String(CodeHandlers);
    expect(code).toBe(readFileSync('infra/stacks/room-handler.js', 'utf8'));
    expect(code).toMatch(/^import \{ util \} from '@aws-appsync\/utils';\n/);
    expect(code).toContain('export function onPublish(ctx) {');
    // The runtime has none of these.
    const lines = code.split('\n').filter((line) => !line.startsWith('//'));
    expect(lines.join('\n')).not.toMatch(/\b(?:throw|try|while|continue|async|await|class|new)\b|for \(.*;|\+\+|--|~/);
  });

  test('give the publishing address only to functions that write documents', () => {
    const publishing = (area: string) =>
      variablesOf(on.stacks, area).flatMap(([key, names]) => (names.includes('REALTIME_PUBLISH_URL') ? [key] : []));
    expect(publishing('data').sort()).toEqual(
      [
        'DELETE /api/data/{collectionName}/{id}',
        'PATCH /api/data/{collectionName}',
        'PATCH /api/data/{collectionName}/{id}',
        'PATCH /api/data/{collectionName}/{id}/recover',
        'POST /api/batch',
        'POST /api/data/{collectionName}',
        'POST /api/data/{collectionName}/bulk',
        'POST /api/data/{collectionName}/delete',
        'PUT /api/data/{collectionName}/{id}',
      ].sort(),
    );
    const others = Object.keys({ ...publicRoutes, ...dashboardRoutes }).filter(
      (area) => !['data', 'dashboard/documents', 'dashboard/trash'].includes(area),
    );
    // A dry run of effects has the code of writes, but publishes nothing.
    const dryRun = 'POST /api/projects/{projectId}/collections/{collectionName}/effects/try';
    expect(others.flatMap(publishing)).toEqual(['POST /api/userAuth/invitations/accept', dryRun]);
    expect(variablesOf(on.stacks, 'realtime')).toEqual([['POST /api/realtime/tickets', ['REALTIME_URL']]]);
  });
});

test('Event API is not created when realtime=off, and exports for a deployed one stay', () => {
  expect(off.stacks.has('Basalt-Realtime')).toBe(false);
  const all = [...off.stacks.values()].flatMap((resources) => [...ofType(resources, 'AWS::AppSync::Api')]);
  expect(all).toEqual([]);
  const exported = ({ exports }: typeof on): readonly string[] => exports.get('Basalt-Jobs')?.toSorted() ?? [];
  expect(exported(off)).toEqual(exported(on));
  expect(exported(on).join()).toContain('authorizechannel');
});

test('no function has address or permission of the Event API when realtime=off', () => {
  for (const area of ['data', 'dashboard/documents', 'realtime']) {
    expect(variablesOf(off.stacks, area).flatMap(([, names]) => names)).toEqual([]);
  }
  const others = [...off.stacks].filter(([name]) => !name.endsWith('-Realtime'));
  expect(JSON.stringify(others.map(([, resources]) => [...resources.values()]))).not.toContain('appsync:');
});
