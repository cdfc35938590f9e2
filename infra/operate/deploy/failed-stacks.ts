import { askAws } from '../doctor/ask-aws.ts';
import type { Target } from '../doctor/check.ts';

type Aws = Target['aws'];

/** What CloudFormation tells of a stack, as XML; empty if there is no such stack. */
const askOf = async (stack: string, Action: 'DescribeStacks' | 'DescribeStackEvents', aws: Aws): Promise<string> => {
  const body = String(new URLSearchParams({ Action, Version: '2010-05-15', StackName: stack }));
  const contentType = 'application/x-www-form-urlencoded';
  try {
    return await askAws({ aws }, { service: 'cloudformation', contentType, body });
  } catch (error) {
    if (error instanceof Error && error.message.includes('ValidationError')) return '';
    throw error;
  }
};

const withDistributions = ['Files', 'Console'] as const;

/** What AWS answers to a distribution in an account that it has not verified. */
const unverified = /must be verified before you can add new CloudFront resources/i;

const verification = [
  'AWS has not verified this account, so it may not create CloudFront distributions, which files and console need.',
  'Open a case with AWS Support (Account and billing) and ask for the verification. It is free.',
];

const withoutCloudFront = [
  'Or deploy without CloudFront now, and add it once AWS has verified the account (docs/operate/without-cloudfront.md):',
  '  npm run deploy -- -c cloudFront=off',
];

/** Whether AWS refused this deployment its distributions because the account is not verified; false if it does not tell. */
const isUnverified = async (deployment: string, aws: Aws): Promise<boolean> => {
  const events = withDistributions.map((stack) => askOf(`${deployment}-${stack}`, 'DescribeStackEvents', aws));
  const told = await Promise.allSettled(events);
  return told.some((one) => one.status === 'fulfilled' && unverified.test(one.value));
};

/** Says what to do if AWS refused this deployment its distributions because the account is not verified, or nothing. */
export const unverifiedCloudFront = async (deployment: string, aws: Aws): Promise<readonly string[]> => {
  if (!(await isUnverified(deployment, aws))) return [];
  return [
    ...verification,
    'Once AWS has answered, run npm run deploy again: it says what has to be deleted first.',
    ...withoutCloudFront,
  ];
};

/** The CDK replaces a stack that was never created, unless it is protected. */
const protectedStacks = ['Data', 'Files', 'Network'] as const;

/** Says how to delete protected stacks that were never created, with which a deployment would fail at its end. */
export const rolledBackProblem = async (deployment: string, aws: Aws): Promise<readonly string[]> => {
  const names = protectedStacks.map((stack) => `${deployment}-${stack}`);
  const told = await Promise.all(names.map((stack) => askOf(stack, 'DescribeStacks', aws)));
  const left = names.filter((_, index) => told[index]?.includes('<StackStatus>ROLLBACK_COMPLETE</StackStatus>'));
  if (left.length === 0) return [];
  return [
    ...((await isUnverified(deployment, aws)) ? [...verification, ...withoutCloudFront] : []),
    `${left.join(' and ')} could not be created the last time. Delete what is left, with the same profile and region:`,
    ...left.flatMap((stack) => [
      `  aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name ${stack}`,
      `  aws cloudformation delete-stack --stack-name ${stack}`,
    ]),
  ];
};
