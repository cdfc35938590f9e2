import { describe, expect, test } from 'vitest';
import { areaStackName } from '../../infra/stacks/area-stack.ts';
import { jobPermissions, jobsBesideCloudFront, routePermissions } from './all-permissions.ts';
import { everything, ofType, type Resource, routesOf, synthesise } from './synthesis.ts';

const { stacks, outputs } = synthesise(everything);
const resourcesOf = (name: string) => stacks.get(`Staging-${name}`) ?? new Map<string, Resource>();
const network = resourcesOf('Network');

test('network does not exist when egress is none', () => {
  expect(synthesise().stacks.has('Basalt-Network')).toBe(false);
  const connected = [...synthesise().stacks.values()].flatMap((resources) =>
    [...ofType(resources, 'AWS::Lambda::Function').values()].filter(({ Properties }) => Properties.VpcConfig),
  );
  expect(connected).toEqual([]);
});

test('network has two NAT gateways, whose addresses outlive the stack and are outputs', () => {
  const addresses = [...ofType(network, 'AWS::EC2::EIP').values()];
  expect(addresses.map(({ DeletionPolicy }) => DeletionPolicy)).toEqual(['Retain', 'Retain']);
  const gateways = [...ofType(network, 'AWS::EC2::NatGateway').values()];
  expect(new Set(gateways.map(({ Properties }) => JSON.stringify(Properties.AllocationId))).size).toBe(2);
  expect(outputs.get('Staging-Network')).toEqual(['AddressA', 'AddressB']);
});

test('network accepts no connections and allows only TCP out', () => {
  const [group] = ofType(network, 'AWS::EC2::SecurityGroup').values();
  expect(group?.Properties.SecurityGroupIngress).toBeUndefined();
  expect(group?.Properties.SecurityGroupEgress).toMatchObject([
    { CidrIp: '0.0.0.0/0', IpProtocol: 'tcp', FromPort: 0, ToPort: 65535 },
  ]);
});

test('traffic to the table and the files does not pass the NAT gateways', () => {
  const services = [...ofType(network, 'AWS::EC2::VPCEndpoint').values()].map(({ Properties }) =>
    JSON.stringify(Properties.ServiceName),
  );
  expect(services).toHaveLength(2);
  expect(services.join()).toMatch(/dynamodb.*s3|s3.*dynamodb/);
});

const subnetsOf = (lambda: Resource | undefined): readonly string[] => {
  const config = lambda?.Properties.VpcConfig as { readonly SubnetIds: readonly object[] } | undefined;
  return (config?.SubnetIds ?? []).map((id) => JSON.stringify(id));
};

const routes = routePermissions.filter(({ area }) => area !== 'default');

describe('traffic through the two addresses', () => {
  const deployed = new Map(
    [...stacks].flatMap(([name, resources]) =>
      routesOf(resources).map(({ function: lambda }) => [`${name} ${String(lambda.Properties.Description)}`, lambda]),
    ),
  );

  test('comes from every route that uses MongoDB, and no other', () => {
    for (const { area, name, route, permissions } of routes) {
      const lambda = deployed.get(`Staging-${areaStackName(area)} ${route.summary}`);
      expect(subnetsOf(lambda).length, name).toBe(permissions.includes('mongodb') ? 2 : 0);
    }
  });

  const jobFunctions = ['Jobs', 'Files'].flatMap((stack) => [
    ...ofType(resourcesOf(stack), 'AWS::Lambda::Function').values(),
  ]);
  const jobOf = (id: string) =>
    jobFunctions.find(
      ({ Properties }) => Properties.Description === jobPermissions.find((one) => one.id === id)?.job.summary,
    );

  test('comes from every job', () => {
    for (const { id, permissions } of jobsBesideCloudFront) {
      const ways = permissions.includes('mongodb') ? 2 : 0;
      expect(subnetsOf(jobOf(id)).length, id).toBe(id.startsWith('verify-database') ? 1 : ways);
    }
  });

  test('comes from each verifier through its own address', () => {
    const [a] = subnetsOf(jobOf('verify-database-a'));
    const [b] = subnetsOf(jobOf('verify-database-b'));
    expect(a).not.toBe(b);
  });
});
