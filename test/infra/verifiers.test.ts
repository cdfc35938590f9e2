import { describe, expect, test } from 'vitest';
import { dashboardDatabaseRoutes } from '../../functions/dashboard/database/routes.ts';
import { jobs } from '../../functions/jobs/jobs.ts';
import { areaStackName } from '../../infra/stacks/area-stack.ts';
import { everything, ofType, synthesise } from './synthesis.ts';

const { stacks } = synthesise(everything);
const stack = (name: string) => stacks.get(`Staging-${name}`) ?? new Map();
const functionsOf = (name: string) => [...ofType(stack(name), 'AWS::Lambda::Function').values()];

describe.each(['verify-database-a', 'verify-database-b'] as const)('%s', (name) => {
  const verifier = functionsOf('Jobs').find(({ Properties }) => Properties.Description === jobs[name].summary);

  test('has a fixed name and a shorter timeout than its caller', () => {
    expect(verifier?.Properties).toMatchObject({ FunctionName: `Staging-${name}`, Timeout: 10 });
  });

  test('has the master key and no database', () => {
    const variables = JSON.stringify(verifier?.Properties.Environment);
    expect(variables).toContain('ENCRYPTION_SECRET_ARN');
    expect(variables).not.toContain('MONGODB');
  });

  test('has no trigger', () => {
    const id = [...stack('Jobs')].find(([, resource]) => resource === verifier)?.[0] ?? 'none';
    for (const type of ['AWS::Events::Rule', 'AWS::Lambda::EventSourceMapping', 'Custom::Trigger']) {
      expect(JSON.stringify([...ofType(stack('Jobs'), type).values()])).not.toContain(id);
    }
  });
});

const environmentOf = (resources: ReturnType<typeof functionsOf>) =>
  resources.find(({ Properties }) => Properties.Description === dashboardDatabaseRoutes['connect-database'].summary)
    ?.Properties.Environment;

test('function that connects a database has both verifiers and both addresses', () => {
  expect(environmentOf(functionsOf(areaStackName('dashboard/database')))).toMatchObject({
    Variables: {
      VERIFIER_A: 'Staging-verify-database-a',
      VERIFIER_B: 'Staging-verify-database-b',
      VERIFIER_IP_A: { 'Fn::ImportValue': expect.stringMatching(/^Staging-Network:.*ElasticA.*PublicIp/) as unknown },
      VERIFIER_IP_B: { 'Fn::ImportValue': expect.stringMatching(/^Staging-Network:.*ElasticB.*PublicIp/) as unknown },
    },
  });
});

test('addresses are empty when egress is none', () => {
  const plain = synthesise().stacks.get(`Basalt-${areaStackName('dashboard/database')}`) ?? new Map();
  const environment = environmentOf([...ofType(plain, 'AWS::Lambda::Function').values()]);
  expect(JSON.stringify(environment)).not.toContain('VERIFIER_IP');
});
