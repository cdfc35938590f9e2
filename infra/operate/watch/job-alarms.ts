import { MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Duration, type Stack } from 'aws-cdk-lib/core';
import { type Job, jobs, minutesOf, servesRequests } from '../../../functions/jobs/jobs.ts';
import type { EndpointFunction } from '../../stacks/endpoint-function.ts';
import { timeoutOf } from '../../stacks/job-function.ts';
import type { AlarmDefinition } from './alarm-definition.ts';

/** Job → what users lose while it fails. A failing deployment job fails the deployment instead. */
const lost: Readonly<Record<Exclude<keyof typeof jobs, 'prepare-control'>, string>> = {
  'remove-projects': 'Deleted projects keep their data',
  'remove-developers': 'Deleted developer accounts keep their data',
  'sweep-uploads': 'Abandoned uploads still count against storage quotas',
  'deliver-mail': 'Emails are late',
  'purge-trash': 'Deleted documents stay in the trash too long',
  'run-task': 'Exports, imports and purges are late',
  'verify-database-a': 'Databases of customers cannot be connected',
  'verify-database-b': 'Databases of customers cannot be connected',
  'make-size': 'Images do not appear in new sizes',
  'serve-file': 'Files are not shown',
  'serve-page': 'The console does not open',
  'authorize-channel': 'Pages do not update live',
  'maintain-transfers': 'Lost exports and imports do not restart',
  'rotate-link-keys': 'The key that signs file links gets old',
  'deliver-webhooks': 'Webhooks are late',
  'requeue-webhooks': 'Webhooks that the queue lost are late',
  'run-effects': 'Effects do not run at their time, and emails of effects are not sent if the queue lost them',
  'requeue-mail': 'Emails that the queue lost are not sent',
};

/** Jobs that log the age of their oldest overdue work, and the number of hours after which that is late. */
const lateHours: Partial<Readonly<Record<keyof typeof lost, number>>> = { 'remove-projects': 1, 'sweep-uploads': 3 };

/** A run that uses this share of its time may be cut off the next time. */
const nearShare = 0.8;

const hour = Duration.hours(1);
const fiveMinutes = Duration.minutes(5);

/** Periods as long as the job's schedule; three failures in a row are not random. */
const runsOf = (job: Job): { readonly period: Duration; readonly periods: number } =>
  (minutesOf(job) ?? 0) > 5 ? { period: hour, periods: 2 } : { period: fiveMinutes, periods: 3 };

/** Error lines in a log. A job continues after an error, so its run does not fail. */
const loggedErrors = (scope: Stack, name: string, logGroup: LogGroup, period: Duration): Metric =>
  new MetricFilter(scope, `${name}-logged-errors`, {
    logGroup,
    filterPattern: FilterPattern.stringValue('$.level', '=', 'error'),
    metricNamespace: scope.stackName,
    metricName: `${name}-errors`,
    metricValue: '1',
  }).metric({ statistic: 'Sum', period });

/** Minutes for which work is overdue; a job logs it at the end of each run. */
const behind = (scope: Stack, name: string, logGroup: LogGroup, period: Duration): Metric =>
  new MetricFilter(scope, `${name}-logged-behind`, {
    logGroup,
    filterPattern: FilterPattern.exists('$.behindMinutes'),
    metricNamespace: scope.stackName,
    metricName: `${name}-behind`,
    metricValue: '$.behindMinutes',
  }).metric({ statistic: 'Maximum', period });

const behindAlarm = (scope: Stack, name: keyof typeof lost, logGroup: LogGroup): readonly AlarmDefinition[] => {
  const hours = lateHours[name];
  if (hours === undefined) return [];
  const { period, periods } = runsOf(jobs[name]);
  return [
    {
      id: `${name}-behind`,
      title: `${lost[name]}: ${name} falls behind`,
      when: `Work of ${name} has been overdue for ${hours} h ("behindMinutes" in its log).`,
      fix: 'Check the load of MongoDB and DynamoDB, and which project causes the work.',
      metric: behind(scope, name, logGroup, period),
      atLeast: hours * 60,
      periods,
    },
  ];
};

const alarmsOf = (
  scope: Stack,
  name: keyof typeof lost,
  { lambda, log }: EndpointFunction,
): readonly AlarmDefinition[] => {
  const job: Job = jobs[name];
  const { period, periods } = runsOf(job);
  const limitMs = timeoutOf(job).toMilliseconds();
  const failures = new MathExpression({
    expression: 'FILL(failed, 0) + FILL(logged, 0)',
    usingMetrics: {
      failed: lambda.metricErrors({ statistic: 'Sum', period }),
      logged: loggedErrors(scope, name, log, period),
    },
    period,
    label: `Errors of ${name}`,
  });
  const failing: AlarmDefinition = {
    id: `${name}-failing`,
    title: `${lost[name]}: ${name} fails`,
    when: `Runs of ${name} failed or logged an error.`,
    fix: 'Run the log query "Errors". The job continues automatically when the cause is fixed.',
    metric: failures,
    atLeast: 1,
    periods,
  };
  const slow: AlarmDefinition = {
    id: `${name}-slow`,
    title: `${lost[name]}: ${name} takes too long`,
    when: `A run of ${name} took ${(limitMs * nearShare) / 1000} s of its ${limitMs / 1000} s.`,
    fix: 'Once is harmless: the next run continues. If it happens every time, the job falls behind.',
    metric: lambda.metricDuration({ statistic: 'Maximum', period }),
    atLeast: limitMs * nearShare,
    periods,
  };
  const isAsked = job.starts === 'invoked' || servesRequests(job.starts);
  return isAsked ? [failing] : [failing, slow, ...behindAlarm(scope, name, log)];
};

/** Alarms for jobs that fail or almost reach their time limit; `scope` is for their log metrics. */
export const jobAlarms = (scope: Stack, functions: ReadonlyMap<string, EndpointFunction>): readonly AlarmDefinition[] =>
  (Object.keys(lost) as (keyof typeof lost)[]).flatMap((name) => {
    const job = functions.get(name);
    if (job) return alarmsOf(scope, name, job);
    // Only some of these jobs exist, depending on CloudFront.
    if (servesRequests(jobs[name].starts)) return [];
    throw new Error(`There is no job ${name}`);
  });
