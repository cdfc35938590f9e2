import { createHash } from 'node:crypto';
import { App } from 'aws-cdk-lib/core';
import { expect, test } from 'vitest';
import { DataStack } from '../../infra/stacks/data-stack.ts';
import { ofType, resourcesOfStack } from './synthesis.ts';

const resourcesWith = (tableWritesPerSecond: number) =>
  resourcesOfStack(
    new DataStack(new App({ builtinCloudFormationValidation: false }), 'Data', { tableWritesPerSecond }),
  );
const tableIn = (found: ReturnType<typeof resourcesWith>) =>
  ofType(found, 'AWS::DynamoDB::GlobalTable').values().next();

const resources = resourcesWith(0);
const table = tableIn(resources).value;
const secrets = ofType(resources, 'AWS::SecretsManager::Secret');

test('table has the keys pk and sk and is paid per request', () => {
  expect(table?.Properties).toMatchObject({
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
    ],
  });
});

test('table has provisioned capacity when tableWritesPerSecond is set', () => {
  const scaled = (MinCapacity: number) => ({
    MinCapacity,
    MaxCapacity: 20_000,
    TargetTrackingScalingPolicyConfiguration: { TargetValue: 70 },
  });
  expect(tableIn(resourcesWith(20_000)).value?.Properties).toMatchObject({
    BillingMode: 'PROVISIONED',
    WriteProvisionedThroughputSettings: { WriteCapacityAutoScalingSettings: scaled(5000) },
    Replicas: [{ ReadProvisionedThroughputSettings: { ReadCapacityAutoScalingSettings: scaled(1000) } }],
  });
});

test('table deletes items when expiresAt has passed', () => {
  expect(table?.Properties.TimeToLiveSpecification).toEqual({ AttributeName: 'expiresAt', Enabled: true });
});

test('table has point-in-time recovery and deletion protection', () => {
  expect(table?.Properties.Replicas).toMatchObject([
    { DeletionProtectionEnabled: true, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
  ]);
});

test.each([...resources])('%s outlives its stack', (_id, { DeletionPolicy }) => {
  expect(DeletionPolicy).toBe('Retain');
});

test('master key is generated as base64 of 32 bytes', () => {
  const generated = [...secrets].find(([id]) => id.startsWith('EncryptionKey'))?.[1].Properties.GenerateSecretString;
  expect(generated).toEqual({ ExcludePunctuation: true, PasswordLength: 43 });
  for (let sample = 0; sample < 100; sample++) {
    const letters = createHash('sha512').update(String(sample)).digest('base64').replaceAll(/[+/=]/g, 'x').slice(0, 43);
    expect(Buffer.from(letters, 'base64')).toHaveLength(32);
  }
});
