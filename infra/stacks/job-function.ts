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

/** Callers of an invoked function wait no longer than this. */
const invokedLimit = Duration.seconds(10);

/** A picture may take 10 s, and is fetched and put besides. */
const sizeLimit = Duration.seconds(25);

/** How long a run of a job may take. */
export const timeoutOf = ({ starts }: Job): Duration => {
  if (starts === 'on deployment') return Duration.minutes(1);
  if (starts === 'invoked') return invokedLimit;
  if (servesRequests(starts)) return sizeLimit;
  return Duration.minutes('everyMinutes' in starts ? Math.min(starts.everyMinutes, maxMinutes) : starts.minutes);
};

/** What is always free for it: mails go out however many requests there are, and a flood of pictures is bounded. */
const reservedFor = (name: JobName, job: Job, { concurrency }: FunctionDefaults): number | undefined => {
  if (name === 'make-size' || name === 'serve-file') return concurrency.ownUrl;
  const start = queueStartOf(job);
  return start && concurrency.forQueue(start.concurrency);
};

interface JobFunctionProps {
  readonly stores: Stores;
  readonly defaults: FunctionDefaults;
  /** Besides what tells it where the things are that it uses. */
  readonly environment: Readonly<Record<string, string>>;
  /** Besides what the code of its bundle needs of the stores. */
  readonly statements?: readonly PolicyStatement[];
}

/** Makes the function of a job, which may do what the code of its bundle needs. */
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
