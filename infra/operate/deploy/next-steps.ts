import { areaStackName } from '../../stacks/area-stack.ts';

/** CDK outputs: stack → output → value. */
export type Outputs = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The addresses to print: label, stack, output. */
const addresses = [
  ['console', 'Console', 'Url'],
  ['public API', 'PublicApi', 'Url'],
  ['dashboard API', 'DashboardApi', 'Url'],
  ['mail webhook', areaStackName('mail/webhook'), 'receivewebhookurl'],
  ['public files', 'Files', 'FilesUrl'],
  ['alarm topic', 'Watch', 'AlarmTopicArn'],
] as const;

const rateLimitNotice = (rateLimit: number): readonly string[] =>
  rateLimit === 0
    ? []
    : [
        `Rate limit: ${rateLimit} requests per 15 minutes from one IP address, which the people in one office share.` +
          ' To raise it: npm run deploy -- -c rateLimit=<requests>',
      ];

interface NextStepsOptions {
  readonly rateLimit: number;
  /** Arguments that the doctor needs to find this deployment. */
  readonly doctorOptions: readonly string[];
}

/** The last lines of a deployment: its addresses, its rate limit and the next command. */
export const nextSteps = (
  deployment: string,
  outputs: Outputs,
  { rateLimit, doctorOptions }: NextStepsOptions,
): readonly string[] => {
  const found = addresses.flatMap(([name, stack, output]) => {
    const value = outputs[`${deployment}-${stack}`]?.[output];
    return value === undefined ? [] : [`  ${name.padEnd(14)} ${value}`];
  });
  const doctor = ['npm run doctor', ...(doctorOptions.length > 0 ? ['--', ...doctorOptions] : [])].join(' ');
  return ['', `${deployment} is deployed:`, ...found, ...rateLimitNotice(rateLimit), `Next: ${doctor}`];
};
