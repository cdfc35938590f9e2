import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Duration, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { type Job, jobs, queueStartOf, servesRequests } from '../../functions/jobs/jobs.ts';
import { functionName } from '../build/function-files.ts';
import { gatewaysForJob } from './egress.ts';
import { EndpointFunction } from './endpoint-function.ts';
import type { FunctionDefaults } from './function-defaults.ts';
import { permissionsOfJob, statementsFor, variablesFor } from './grants.ts';
import type { Stores } from './statements.ts';

export type JobName = keyof typeof jobs;

/** Lambda's maximum timeout. */
const maxMinutes = 15;

/** Callers wait no longer than this. */
const invokedLimit = Duration.seconds(10);

/** Drawing may take 10 s; fetching and storing need more. */
const sizeLimit = Duration.seconds(25);

/** The time limit of a job. */
export const timeoutOf = ({ starts }: Job): Duration => {
  if (starts === 'on deployment') return Duration.minutes(1);
  if (starts === 'invoked') return invokedLimit;
  if (servesRequests(starts)) return sizeLimit;
  return Duration.minutes('everyMinutes' in starts ? Math.min(starts.everyMinutes, maxMinutes) : starts.minutes);
};

/** Reserved concurrency: emails are sent under any load of requests, and a flood of images is bounded. */
const reservedFor = (name: JobName, job: Job, { concurrency }: FunctionDefaults): number | undefined => {
  if (name === 'make-size' || name === 'serve-file') return concurrency.ownUrl;
  const start = queueStartOf(job);
  return start && concurrency.forQueue(start.concurrency);
};

interface JobFunctionProps {
  readonly stores: Stores;
  readonly defaults: FunctionDefaults;
  /** Variables other than those that name resources. */
  readonly environment: Readonly<Record<string, string>>;
  /** Permissions in addition to those of its code. */
  readonly statements?: readonly PolicyStatement[];
}

/** Creates the function of a job. */
export const jobFunction = (
  scope: Construct,
  name: JobName,
  { stores, defaults, environment, statements = [] }: JobFunctionProps,
): EndpointFunction => {
  const job: Job = jobs[name];
  const functionId = functionName('jobs', name);
  const permissions = permissionsOfJob(defaults.reached(functionId), job);
  const fixed = new Map(Object.entries(stores.verifiers)).get(name);
  const made = new EndpointFunction(scope, name, {
    defaults,
    packaged: defaults.packages(functionId),
    description: job.summary,
    statements: [...statementsFor(permissions, stores), ...statements],
    environment: { ...environment, ...variablesFor(permissions, stores) },
    timeout: timeoutOf(job),
    ways: gatewaysForJob(name, job, permissions),
    reservedConcurrency: reservedFor(name, job, defaults),
    ...(fixed && { functionName: fixed.functionName }),
  });
  if (permissions.includes('key-group') && stores.files.keyGroup !== undefined) {
    Validations.of(made).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'CloudFront has no names of public keys and key groups that a permission could be confined to.',
    });
  }
  return made;
};
