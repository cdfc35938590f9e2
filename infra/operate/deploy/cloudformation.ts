import { requestAws } from '../doctor/aws-clients.ts';
import type { Target } from '../doctor/check.ts';

type Aws = Target['aws'];

/** The XML that CloudFormation returns about a stack; empty if the stack does not exist. */
const describe = async (stack: string, Action: 'DescribeStacks' | 'DescribeStackEvents', aws: Aws): Promise<string> => {
  const body = String(new URLSearchParams({ Action, Version: '2010-05-15', StackName: stack }));
  const contentType = 'application/x-www-form-urlencoded';
  try {
    return await requestAws({ aws }, { service: 'cloudformation', contentType, body });
  } catch (error) {
    if (error instanceof Error && error.message.includes('ValidationError')) return '';
    throw error;
  }
};

const withDistributions = ['Files', 'Console'] as const;

/** The message for a distribution in an account that AWS has not verified. */
const unverified = /must be verified before you can add new CloudFront resources/i;

const verification = [
  'AWS has not verified this account. Until then, it cannot create CloudFront distributions, which the files and the console need.',
  'Open a case with AWS Support (Account and billing) and ask for the verification. It is free.',
];

const withoutCloudFront = [
  'Or deploy without CloudFront now and add it after the verification (docs/operate/without-cloudfront.md):',
  '  npm run deploy -- -c cloudFront=off',
];

/** True if the stack events show that AWS rejected the distributions because the account is not verified. */
const isUnverified = async (deployment: string, aws: Aws): Promise<boolean> => {
  const events = withDistributions.map((stack) => describe(`${deployment}-${stack}`, 'DescribeStackEvents', aws));
  const responses = await Promise.allSettled(events);
  return responses.some((response) => response.status === 'fulfilled' && unverified.test(response.value));
};

/** Explains what to do if AWS has not verified the account for CloudFront; otherwise returns no lines. */
export const unverifiedCloudFront = async (deployment: string, aws: Aws): Promise<readonly string[]> => {
  if (!(await isUnverified(deployment, aws))) return [];
  return [
    ...verification,
    'After the verification, run npm run deploy again. It lists the stacks that you must delete first.',
    ...withoutCloudFront,
  ];
};

/** The CDK replaces stacks whose creation failed, except protected ones. */
const protectedStacks = ['Data', 'Files', 'Network'] as const;

/** Explains how to delete protected stacks whose creation failed; with them, a new deployment would fail too. */
export const rolledBackProblem = async (deployment: string, aws: Aws): Promise<readonly string[]> => {
  const names = protectedStacks.map((stack) => `${deployment}-${stack}`);
  const responses = await Promise.all(names.map((stack) => describe(stack, 'DescribeStacks', aws)));
  const left = names.filter((_, index) => responses[index]?.includes('<StackStatus>ROLLBACK_COMPLETE</StackStatus>'));
  if (left.length === 0) return [];
  return [
    ...((await isUnverified(deployment, aws)) ? [...verification, ...withoutCloudFront] : []),
    `The last deployment could not create ${left.join(' and ')}. Delete what is left, with the same profile and region:`,
    ...left.flatMap((stack) => [
      `  aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${stack}`,
      `  aws cloudformation delete-stack --stack-name ${stack}`,
    ]),
  ];
};
