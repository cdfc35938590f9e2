import { expect, test } from 'vitest';
import { everything, ofType, type Resource, synthesise } from './synthesis.ts';

const { stacks, outputs } = synthesise(everything);
const inStack = (name: string, type: string): readonly Resource[] => [
  ...ofType(stacks.get(`Staging-${name}`) ?? new Map<string, Resource>(), type).values(),
];

test.each([
  ['PublicApi', 'api.example.com'],
  ['DashboardApi', 'dashboard-api.example.com'],
])('%s responds at %s with TLS 1.2', (stack, name) => {
  const [domain] = inStack(stack, 'AWS::ApiGatewayV2::DomainName');
  expect(domain?.Properties).toMatchObject({
    DomainName: name,
    DomainNameConfigurations: [{ CertificateArn: everything.apiCertificateArn, SecurityPolicy: 'TLS_1_2' }],
  });
  expect(inStack(stack, 'AWS::ApiGatewayV2::ApiMapping')).toHaveLength(1);
  expect(outputs.get(`Staging-${stack}`)).toEqual(['DomainTarget', 'Url']);
});

test.each([
  ['PublicApi', 'api.example.com'],
  ['DashboardApi', 'dashboard-api.example.com'],
  ['Files', 'files.example.com'],
  ['Console', 'console.example.com'],
])('%s has the records of %s in the hosted zone', (stack, name) => {
  const records = inStack(stack, 'AWS::Route53::RecordSet').map(({ Properties }) => Properties);
  expect(records.map(({ Type }) => Type).sort()).toEqual(['A', 'AAAA']);
  for (const record of records) {
    expect(record).toMatchObject({ Name: `${name}.`, HostedZoneId: everything.hostedZoneId });
  }
});

test('stacks have no domain names or records when no domain is configured', () => {
  for (const [, resources] of synthesise().stacks) {
    for (const type of ['AWS::ApiGatewayV2::DomainName', 'AWS::Route53::RecordSet']) {
      expect(ofType(resources, type).size).toBe(0);
    }
  }
});
