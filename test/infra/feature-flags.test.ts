import { FLAGS } from 'aws-cdk-lib/cx-api';
import { expect, test } from 'vitest';
import { configuredContext } from './synthesis.ts';

/** Those of this version of the CDK that behave otherwise than it recommends unless they are chosen. */
const open = Object.entries(FLAGS).flatMap(([name, { introducedIn, recommendedValue, unconfiguredBehavesLike }]) =>
  introducedIn.v2 !== undefined && recommendedValue !== (unconfiguredBehavesLike?.v2 ?? false) ? [name] : [],
);

test('every feature flag of the CDK is set', () => {
  expect(open.length).toBeGreaterThan(50);
  expect(open.filter((name) => !(name in configuredContext))).toEqual([]);
});

test('stacks depend on their imports and have tags, and grants are separate statements', () => {
  expect(configuredContext).toMatchObject({
    '@aws-cdk/core:defaultCrossStackReferences': 'strong',
    '@aws-cdk/aws-iam:minimizePolicies': false,
    '@aws-cdk/core:explicitStackTags': false,
  });
});
