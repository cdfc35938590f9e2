import { areaStackName } from '../../stacks/area-stack.ts';

/** What the CDK writes of a deployment: stack → output → value. */
export type Outputs = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What is needed of all outputs: what it is called here, in which stack, and there. */
const wanted = [
  ['console', 'Console', 'Url'],
  ['public API', 'PublicApi', 'Url'],
  ['dashboard API', 'DashboardApi', 'Url'],
  ['mail webhook', areaStackName('mail/webhook'), 'receivewebhookurl'],
  ['public files', 'Files', 'FilesUrl'],
  ['topic of the alarms', 'Watch', 'AlarmTopicArn'],
] as const;

/** What the limit of one source address means for people who share one. */
const perAddress = (rateLimit: number): readonly string[] =>
  rateLimit === 0
    ? []
    : [
        `One address may send ${rateLimit} requests in 15 minutes: three people in one office who send` +
          ` ${Math.floor(rateLimit / 3) + 1} each are refused. To raise it: npm run deploy -- -c rateLimit=<requests>`,
      ];

interface Ending {
  readonly rateLimit: number;
  /** Name the deployment to the doctor where it must be. */
  readonly options: readonly string[];
}

/** The last lines of a deployment: where it is, what it lets through, and what to do next. */
export const farewell = (deployment: string, outputs: Outputs, { rateLimit, options }: Ending): readonly string[] => {
  const found = wanted.flatMap(([name, stack, output]) => {
    const value = outputs[`${deployment}-${stack}`]?.[output];
    return value === undefined ? [] : [`  ${name.padEnd(20)} ${value}`];
  });
  const doctor = ['npm run doctor', ...(options.length > 0 ? ['--', ...options] : [])].join(' ');
  return ['', `${deployment} is deployed:`, ...found, ...perAddress(rateLimit), `next: ${doctor}`];
};
