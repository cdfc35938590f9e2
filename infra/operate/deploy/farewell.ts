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

/** The last lines of a deployment: where it is, and what to do next. `options` name the deployment where it must be. */
export const farewell = (deployment: string, outputs: Outputs, options: readonly string[]): readonly string[] => {
  const found = wanted.flatMap(([name, stack, output]) => {
    const value = outputs[`${deployment}-${stack}`]?.[output];
    return value === undefined ? [] : [`  ${name.padEnd(20)} ${value}`];
  });
  const doctor = ['npm run doctor', ...(options.length > 0 ? ['--', ...options] : [])].join(' ');
  return ['', `${deployment} is deployed:`, ...found, `next: ${doctor}`];
};
